package edit_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"

	"github.com/stretchr/testify/require"
)

// Structural changes inside others. No program's code runs while a change reserves and commits; a
// store of a managed type that calls a test does.

// inner is two worlds in one universe, whose rows have a type that calls back in the middle of
// changes.
type inner struct {
	u        *alloc.Universe
	w, from  *ecs.World
	position ecs.Component[ecstest.Position]
	health   ecs.Component[ecstest.Health]
	linked   ecs.Buffer[ecs.LinkedEntity]
	socket   ecs.Component[ecstest.Socket]
	team     ecs.Shared[string]
	hooked   ecs.Type
	a, b     *ecs.Archetype // with the hooked type, and with Health
	q, all   *ecs.Query
	fromQ    *ecs.Query
	list     []ecs.Entity // of a
	plain    ecs.Entity
	dying    ecs.Entity
	tx       edit.Tx
	inside   func(call string) // nil: nothing is done
	hog      []alloc.ChunkIndex
}

func newInner(t *testing.T) *inner {
	x := &inner{u: ecstest.NewUniverse(t, 8<<20)}
	x.w, x.from = ecstest.NewWorld(t, ecs.WithUniverse(x.u)), ecstest.NewWorld(t, ecs.WithUniverse(x.u))
	t.Cleanup(x.release)
	for _, w := range []*ecs.World{x.from, x.w} {
		x.hooked = registerHooked(w, func(call string) {
			if x.inside != nil {
				x.inside(call)
			}
		})
		x.position = ecs.Register[ecstest.Position](w)
		a := ecs.NewArchetype(w, x.hooked, x.position)
		b, err := a.CreateN(300)
		require.NoError(t, err)
		x.a, x.list = a, b.Entities(nil)
	}
	w := x.w
	x.health, x.linked = ecs.Register[ecstest.Health](w), ecs.RegisterBuffer[ecs.LinkedEntity](w)
	x.socket, x.team = ecs.Register[ecstest.Socket](w, ecs.Cleanup), ecs.RegisterShared[string](w)
	x.b = ecs.NewArchetype(w, x.health, x.team.Of("red"))
	x.plain = x.b.Create()
	x.dying = ecs.NewArchetype(w, x.hooked, x.socket).Create()
	x.q, x.all, x.fromQ = ecs.NewQuery(w, ecs.With(x.hooked)), ecs.NewQuery(w), ecs.NewQuery(x.from)
	leader := x.b.Create()
	x.linked.Add(leader)
	for _, e := range x.list[10:12] {
		x.linked.Append(leader, ecs.LinkedEntity{Entity: e})
	}
	return x
}

// starve lets others hold all chunks of the universe.
func (x *inner) starve() {
	for c, err := x.u.AllocExact(1); err == nil; c, err = x.u.AllocExact(1) {
		x.hog = append(x.hog, c)
	}
}

func (x *inner) release() {
	for _, c := range x.hog {
		x.u.Free(c, 1)
	}
	x.hog = nil
}

// outer are the changes of many rows, by the name that a refusal has for them. Each returns the
// error of its call.
var outer = map[string]func(x *inner) error{
	"Change.ApplyQuery": func(x *inner) error {
		_, err := ecs.NewChange(x.w, ecs.Remove(x.hooked), ecs.Add(x.health)).ApplyQuery(x.q)
		return err
	},
	"Change.ApplyList": func(x *inner) error {
		_, err := ecs.NewChange(x.w, ecs.Remove(x.hooked), ecs.Add(x.health)).ApplyList(x.list)
		return err
	},
	"Change.ApplyList(into)": func(x *inner) error { _, err := ecs.Into(x.b).ApplyList(x.list[:250]); return err },
	"World.DestroyQuery":     func(x *inner) error { return ecstest.ErrorOf(func() error { x.w.DestroyQuery(x.q); return nil }) },
	"World.DestroyList":      func(x *inner) error { return ecstest.ErrorOf(func() error { x.w.DestroyList(x.list); return nil }) },
	"World.Destroy":          func(x *inner) error { err := ecs.Try(func() { x.w.Destroy(x.dying) }); return err },
	"World.Clear":            func(x *inner) error { x.w.Clear(); return nil },
	"World.Instantiate":      func(x *inner) error { err := ecs.Try(func() { x.w.Instantiate(x.list[0]) }); return err },
	"World.InstantiateN":     func(x *inner) error { _, err := x.w.InstantiateN(x.list[0], 20_000); return err },
	"World.InstantiateGroup": func(x *inner) error { _, err := x.w.InstantiateGroup(x.list[:3], 2_000); return err },
	"World.MoveAll":          func(x *inner) error { _, err := x.w.MoveAll(x.from); return err },
	"World.MoveQuery":        func(x *inner) error { _, err := x.w.MoveQuery(x.fromQ); return err },
	"Buffer.Play":            (*inner).transact,
}

// transact makes a Tx that creates, copies, moves and ends.
func (x *inner) transact() error {
	outs := []edit.Outcome{edit.OutcomeOf(door.Archetype(x.a)), edit.OutcomeOf(door.Archetype(x.a)),
		edit.OutcomeOf(door.Archetype(x.a))}
	copies, err := edit.OutcomeOfCopies(door.Archetype(x.a))
	for i, c := range []*ecs.Change{ecs.NewChange(x.w, ecs.Add(x.health)), ecs.NewChange(x.w, ecs.Remove(x.hooked)),
		door.Destruction(x.w)} {
		outs[i], err = outs[i].After(door.Change(c))
	}
	if err != nil {
		return err
	}
	x.tx.Begin(door.World(x.w), "Buffer.Play")
	x.tx.Copy(entity.ID(x.list[0]), &copies, 2_000)
	x.tx.Create(&outs[0], 2_000)
	for i := range outs {
		x.tx.Move(door.IDs(x.list[i*50:i*50+50]), &outs[i])
	}
	if err := x.tx.Reserve(); err != nil {
		return err
	}
	for i := range 5 {
		door.Batch(x.tx.Run(i))
	}
	x.tx.Finish()
	return nil
}

// changes are all structural calls of the world under change, which are to be refused, by the name
// in the refusal.
func (x *inner) changes() map[string]func() {
	add := ecs.NewChange(x.w, ecs.Add(x.health))
	calls := map[string]func(){
		"Archetype.Create":         func() { x.b.Create() },
		"Archetype.Create(none)":   func() { ecs.NewArchetype(x.w, x.health).Create() },
		"Archetype.Create(try)":    func() { _ = ecs.Try(func() { x.b.Create() }) },
		"Archetype.CreateN":        func() { _, _ = x.b.CreateN(5) },
		"Archetype.CreateReserved": func() { _, _ = x.b.CreateReserved(nil) },
		"World.Destroy":            func() { x.w.Destroy(x.plain) },
		"World.Destroy(try)":       func() { _ = ecs.Try(func() { x.w.Destroy(x.list[9]) }) },
		"Component.Add":            func() { x.health.Add(x.list[0], ecstest.Health{}) },
		"Component.Add(try)":       func() { _ = ecs.Try(func() { x.health.Add(x.list[0], ecstest.Health{}) }) },
		"Component.Remove":         func() { x.health.Remove(x.plain) },
		"Component.Remove(try)":    func() { _ = ecs.Try(func() { x.health.Remove(x.plain) }) },
		"Shared.Add":               func() { x.team.Add(x.list[0], "blue") },
		"Shared.Set":               func() { x.team.Set(x.plain, "blue") },
		"Change.Apply":             func() { _, _ = add.Apply(x.list[0]) },
		"World.Shrink":             func() { x.w.Shrink(0) },
		"World.Close":              func() { _ = x.w.Close() },
		"World.Clone":              func() { _, _ = x.w.Clone() },
		"World.MoveAll(from)":      func() { _, _ = x.from.MoveAll(x.w) },
		"World.MoveQuery(from)":    func() { _, _ = x.from.MoveQuery(x.all) },
		"edit.After":               func() { _, _ = edit.OutcomeOf(door.Archetype(x.a)).After(door.Change(add)) },
		"edit.OutcomeOfCopies":     func() { _, _ = edit.OutcomeOfCopies(door.Archetype(x.a)) },
		"played":                   func() { door.CheckChange(x.w, "played") },
		"begun":                    func() { new(edit.Tx).Begin(door.World(x.w), "begun") },
	}
	for name, call := range outer {
		calls[name] = func() { _ = call(x) }
	}
	delete(calls, "Buffer.Play") // it asks door.OutcomeOfCopies first
	return calls
}

// nest runs an outer change, and in each of its calls of the hooked type every other change. It
// returns at what calls that was.
func (x *inner) nest(t *testing.T, name string, call func(x *inner) error) (seen map[string]bool, err error) {
	t.Helper()
	op := nameOf(name)
	changes := x.changes()
	seen = map[string]bool{}
	x.inside = func(at string) {
		if seen[at] || !door.Locked(x.w) {
			return
		}
		seen[at] = true
		require.True(t, door.Locked(x.w))
		for inside, change := range changes {
			want := fmt.Sprintf(
				"ecs: %s: structural change inside another one, %s, which is not done yet; make it after that call",
				nameOf(inside), op)
			require.Equal(t, want, ecstest.PanicText(change), "%s in %s of %s", inside, at, name)
		}
	}
	err = call(x)
	x.inside = nil
	require.False(t, door.Locked(x.w), name)
	require.NoError(t, x.w.Verify(), name)
	require.NoError(t, x.from.Verify(), name)
	return seen, err
}

// nameOf returns a name without the suffix that distinguishes calls of one name.
func nameOf(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return name
}

// TestReentrance: a structural change that is asked for while another one commits is refused by the
// names of both, and the other one does its work, as it does alone.
func TestReentrance(t *testing.T) {
	for name, call := range outer {
		x, y := newInner(t), newInner(t)
		require.NoError(t, call(y), name)
		seen, err := x.nest(t, name, call)
		require.NoError(t, err, name)
		require.NotEmpty(t, seen, name)
		for _, w := range []*ecs.World{x.w, y.w} {
			require.True(t, w.Destroy(ecs.NewArchetype(w, ecs.Register[ecstest.Health](w)).Create()),
				"%s: the world takes changes", name)
		}
		require.Equal(t, y.w.Stats().Alive, x.w.Stats().Alive, name)
		require.Equal(t, y.w.Hash(), x.w.Hash(), name)
	}
}

// TestReentranceReserving: the same while a change reserves and memory runs out: the other one is
// refused for that, and the world is as it was, and takes the change when there is memory.
func TestReentranceReserving(t *testing.T) {
	refused := 0
	for name, call := range outer {
		x := newInner(t)
		x.w.Trim()
		x.from.Trim()
		x.starve()
		before := x.w.Hash()
		seen, err := x.nest(t, name, call)
		if err == nil {
			continue // it needs no memory
		}
		refused++
		var limit *ecs.LimitError
		require.ErrorAs(t, err, &limit, name)
		require.Equal(t, nameOf(name), limit.Op)
		require.True(t, seen["Trim"], name)
		require.Equal(t, before, x.w.Hash(), name)
		x.release()
		require.NoError(t, call(x), name)
		require.NoError(t, x.w.Verify(), name)
	}
	require.GreaterOrEqual(t, refused, 8)
}
