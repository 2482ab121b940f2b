package ecs_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

type huge struct{ B [20_000]byte }

func TestMisuseIsNamed(t *testing.T) {
	m := ecstest.NewMisuse(t)
	var kept ecs.Rows
	m.InLoop(func(rows ecs.Rows) { kept = rows })()
	batch, err := m.Archetype.CreateN(1)
	require.NoError(t, err)
	view, _ := m.Hits.Get(m.Entity)
	stale, _ := m.Hits.Mut(m.Entity)
	dead := m.Archetype.Create()
	m.World.Destroy(dead)
	view, _ = m.Hits.Get(m.Entity)
	const q = "query(Write Position, Read []Hit, With Stun)"
	const inside = " inside a loop over " + q + "; gather the entities and change them after the loop"
	loop := func(f func()) func() { return m.InLoop(func(ecs.Rows) { f() }) }
	requireMisuse(t, m, map[string]func(){
		"ecs: Archetype.Create: structural change" + inside:                         loop(func() { m.Archetype.Create() }),
		"ecs: Archetype.CreateN: structural change" + inside:                        loop(func() { _, _ = m.Archetype.CreateN(3) }),
		"ecs: World.Destroy: structural change" + inside:                            loop(func() { m.World.Destroy(m.Entity) }),
		"ecs: Component.Add: structural change" + inside:                            loop(func() { m.Position.Add(m.Entity, ecstest.Position{}) }),
		"ecs: Component.Remove: structural change" + inside:                         loop(func() { m.Position.Remove(m.Entity) }),
		"ecs: World.Close: called inside a loop over " + q + "; call it afterwards": loop(func() { m.World.Close() }),
		"ecs: Hasher.Sum: called inside a loop over " + q + "; call it afterwards":  loop(func() { ecs.NewHasher(m.World).Sum() }),

		"ecs: Component.Slice: " + q + " does not declare Velocity: add ecs.Read or ecs.Write": m.InLoop(func(r ecs.Rows) { m.Velocity.Slice(r) }),
		"ecs: Component.Slice: " + q + " does not declare Stun: add ecs.Read or ecs.Write":     m.InLoop(func(r ecs.Rows) { m.Stun.Slice(r) }),
		"ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended": func() {
			m.Position.Slice(kept)
		},
		"ecs: Rows.Entities: the rows are no longer current: the loop that gave them has gone on or ended": func() { kept.Entities() },
		"ecs: Rows.Mask: the rows are no longer current: the loop that gave them has gone on or ended":     func() { kept.Mask() },
		"ecs: Component.Slice: the rows are the zero value; rows come from Query.Rows or Batch.Rows":       func() { m.Position.Slice(ecs.Rows{}) },
		"ecs: Component.Slice: Position and the rows belong to different worlds": m.InLoop(func(r ecs.Rows) {
			ecs.Register[ecstest.Position](m.Other).Slice(r)
		}),
		"ecs: Buffer.At: row 3 is not in [0, 2)": m.InLoop(func(r ecs.Rows) { m.Hits.At(r, 3) }),
		"ecs: DynamicBuffer.Append: the []Hit was opened to read: use Buffer.Mut or ecs.Write": m.InLoop(
			func(r ecs.Rows) {
				m.Hits.At(r, 0).Append(ecstest.Hit{})
			}),
		"ecs: DynamicBuffer.Clear: the []Hit was opened to read: use Buffer.Mut or ecs.Write": func() { view.Clear() },
		"ecs: DynamicBuffer.Append: the view of a []Hit is no longer current: the world has changed since it was taken": func() {
			stale.Append(ecstest.Hit{})
		},
		"ecs: DynamicBuffer.Len: the buffer is the zero value; buffers come from Buffer.Get, Mut and At": func() { ecs.DynamicBuffer[ecstest.Hit]{}.Len() },
		"ecs: Batch.Rows: the batch of 1 rows is no longer current: the world has changed since it was made": func() {
			for range batch.Rows() {
				t.Error("a stale batch yields nothing")
			}
		},

		fmt.Sprintf("ecs: Component.Get: entity %v belongs to another world", m.Stranger): func() { m.Position.Get(m.Stranger) },
		fmt.Sprintf("ecs: World.Destroy: entity %v belongs to another world", m.Stranger): func() { m.World.Destroy(m.Stranger) },
		fmt.Sprintf("ecs: Component.Add: entity %v belongs to another world", m.Stranger): func() { m.Position.Add(m.Stranger, ecstest.Position{}) },
		fmt.Sprintf("ecs: Component.Add: %v is not alive, cannot add Position", dead):     func() { m.Position.Add(dead, ecstest.Position{}) },
		"ecs: Component.Add: null is not alive, cannot add Position":                      func() { m.Position.Add(ecs.Null, ecstest.Position{}) },
		"ecs: Component.Enable: Position was not registered with ecs.Enableable":          func() { m.Position.Enable(m.Entity) },
	})
}

func TestMisuseOfTypesIsNamed(t *testing.T) {
	m := ecstest.NewMisuse(t)
	health := ecs.Register[ecstest.Health](m.World)
	const pointers = "Weapon.Name is a string; components must hold no Go pointers, " +
		"for they lie outside the garbage collector's heap; RegisterManaged takes any type"
	requireMisuse(t, m, map[string]func(){
		"ecs: Register[Weapon]: " + pointers:                             func() { ecs.Register[ecstest.Weapon](m.World) },
		"ecs: RegisterBuffer[Weapon]: " + pointers:                       func() { ecs.RegisterBuffer[ecstest.Weapon](m.World) },
		"ecs: RegisterBuffer[Tag]: the element has no size":              func() { ecs.RegisterBuffer[ecstest.Tag](m.World) },
		"ecs: Register[Stun]: registered before with other options":      func() { ecs.Register[ecstest.Stun](m.World) },
		"ecs: RegisterBuffer[Hit]: registered before with other options": func() { ecs.RegisterBuffer[ecstest.Hit](m.World, ecs.Inline(1)) },
		"ecs: Register[Health]: Inline is an option of RegisterBuffer":   func() { ecs.Register[ecstest.Health](m.World, ecs.Inline(1)) },
		"ecs: Inline: n=-1 is negative":                                  func() { ecs.Inline(-1) },
		"ecs: NewArchetype: Position is given twice":                     func() { ecs.NewArchetype(m.World, m.Position, m.Position) },
		"ecs: NewArchetype: Position was registered in another world":    func() { ecs.NewArchetype(m.Other, m.Position) },
		"ecs: NewArchetype" + zero:                                       func() { ecs.NewArchetype(m.World, ecs.Component[ecstest.Position]{}) },
		"ecs: NewArchetype: a type is nil":                               func() { ecs.NewArchetype(m.World, nil) },
		"ecs: NewQuery: Position is in two terms":                        func() { ecs.NewQuery(m.World, ecs.Read(m.Position), ecs.Without(m.Position)) },
		"ecs: NewQuery: Position was registered in another world":        func() { ecs.NewQuery(m.Other, ecs.Read(m.Position)) },
		"ecs: Archetype.CreateN: n=-1 is negative":                       func() { _, _ = m.Archetype.CreateN(-1) },
		"ecs: Uninitialized: []Hit is a buffer: its header must be zero": func() { ecs.Uninitialized(m.Hits) },
		"ecs: Uninitialized" + zero:                                      func() { ecs.Uninitialized(ecs.Component[ecstest.Position]{}) },
		"ecs: Archetype.CreateN: Uninitialized names Health, which [Position Velocity Stun []Hit] does not have": func() {
			_, _ = m.Archetype.CreateN(1, ecs.Uninitialized(health))
		},
		"ecs: Archetype.CreateN: Uninitialized names types of another world": func() {
			_, _ = m.Archetype.CreateN(1, ecs.Uninitialized(ecs.Register[ecstest.Position](m.Other)))
		},
	})
}

// zero is the end of what a call on a handle that is the zero value panics with.
const zero = ": the handle is the zero value; handles come from Register and RegisterBuffer"

// requireMisuse calls each function: it must panic with its text and change nothing.
func requireMisuse(t *testing.T, m *ecstest.Misuse, calls map[string]func()) {
	t.Helper()
	before, hash := m.World.Stats(), m.World.Hash()
	for text, f := range calls {
		ecstest.RequirePanicText(t, text, f)
		require.NoError(t, m.World.Verify(), "after %s", text)
		require.Equal(t, before.Alive, m.World.Stats().Alive)
		require.Equal(t, hash, m.World.Hash(), "a refused call changes nothing: %s", text)
	}
	require.False(t, m.World.Alive(m.Stranger))
	require.Equal(t, "unregistered unregistered",
		fmt.Sprint(ecs.Component[ecstest.Health]{}, ecs.Buffer[ecstest.Hit]{}))
	m.Archetype.Create() // every panic left the world unlocked
}

func TestLimitsAreErrors(t *testing.T) {
	w := ecstest.NewWorld(t)
	require.PanicsWithError(t, "ecs: Register[huge]: the limit is 16384 bytes of columns a chunk: "+
		"layout: New: huge alone is 20000 bytes, a chunk has 16384: row does not fit a chunk",
		func() { ecs.Register[huge](w) })
	require.Panics(t, func() { ecs.Register[[16384]byte](w) }, "no room for the entity")
	require.Panics(t, func() { ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(3000)) })
	require.PanicsWithError(t, "ecs: RegisterBuffer[[134217728]uint8]: the limit is 1048576 bytes of an element",
		func() { ecs.RegisterBuffer[[1 << 27]byte](w) })
	ecs.NewArchetype(w, ecs.Register[[16000]byte](w)).Create()
	many := ecs.RegisterBuffer[huge](w)
	many.Append(ecs.NewArchetype(w, many).Create(), huge{})
	require.Panics(t, func() { ecs.WithUniverse(nil) })
	u, err := alloc.NewUniverse(alloc.Size(1 << 21))
	require.NoError(t, err)
	require.NoError(t, u.Close())
	require.PanicsWithValue(t, "ecs: NewWorld: the universe of WithUniverse is closed",
		func() { _, _ = ecs.NewWorld(ecs.WithUniverse(u)) })
	_, err = ecs.NewArchetype(w).CreateN(ecs.MaxEntities)
	require.EqualError(t, err, "ecs: Archetype.CreateN: the limit is 134217726 entities a world")
	_, err = ecs.NewArchetype(w).CreateN(math.MaxInt)
	require.EqualError(t, err, "ecs: Archetype.CreateN: the limit is 134217726 entities a world")
	require.PanicsWithError(t, "ecs: RegisterBuffer[Hit]: the limit is 1048576 bytes of inline elements", func() {
		ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1<<20))
	})
	require.NoError(t, w.Verify())
}

func TestClosedWorldRefuses(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	e := a.Create()
	q := ecs.NewQuery(w, ecs.Read(position))
	require.NoError(t, w.Close())
	for text, f := range map[string]func(){
		"ecs: Archetype.Create: the world is closed":  func() { a.Create() },
		"ecs: Archetype.CreateN: the world is closed": func() { _, _ = a.CreateN(1) },
		"ecs: World.Destroy: the world is closed":     func() { w.Destroy(e) },
		"ecs: Component.Get: the world is closed":     func() { position.Get(e) },
		"ecs: Component.Add: the world is closed":     func() { position.Add(e, ecstest.Position{}) },
		"ecs: Query.Count: the world is closed":       func() { q.Count() },
		"ecs: Component.Has: the world is closed":     func() { position.Has(e) },
		"ecs: Component.Enabled: the world is closed": func() { position.Enabled(e) },
		"ecs: Query.Rows: the world is closed":        func() { q.Rows()(func(ecs.Rows) bool { return true }) },
		"ecs: Register[Tag]: the world is closed":     func() { ecs.Register[ecstest.Tag](w) },
		"ecs: NewArchetype: the world is closed":      func() { ecs.NewArchetype(w) },
		"ecs: NewQuery: the world is closed":          func() { ecs.NewQuery(w) },
	} {
		ecstest.RequirePanicText(t, text, f)
	}
	require.False(t, w.Alive(e))
	require.NoError(t, w.Verify())
}

// TestLoopUnlocksWhateverEndsIt leaves loops by break, return and panic.
func TestLoopUnlocksWhateverEndsIt(t *testing.T) {
	w, position, _, a := ecstest.Movers(t, 2000)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Read(position))
	for range q.Rows() {
		break
	}
	a.Create()
	func() {
		for range q.Rows() {
			return
		}
	}()
	a.Create()
	require.Panics(t, func() {
		for range q.Rows() {
			for range q.Rows() {
				panic("in the user's loop")
			}
		}
	})
	a.Create()
	require.NoError(t, w.Verify())
}

func TestTagsOfWorlds(t *testing.T) {
	before := world.Tags.Open()
	u := ecstest.NewUniverse(t, 16<<20)
	var worlds []*ecs.World
	var ids []ecs.Entity
	for range 12 - min(before, 11) {
		w := ecstest.NewWorld(t, ecs.WithUniverse(u))
		worlds = append(worlds, w)
		ids = append(ids, ecs.NewArchetype(w).Create())
	}
	for i, w := range worlds {
		for j, e := range ids {
			require.Equal(t, i == j, w.Alive(e), "world %d entity of world %d", i, j)
		}
	}
}

func TestTypeLimit(t *testing.T) {
	w := ecstest.NewWorld(t)
	for n := range ecs.MaxTypes - 4 { // four are built in
		ecstest.RegisterType(w, reflect.ArrayOf(n+1, reflect.TypeFor[byte]()))
	}
	require.PanicsWithError(t, "ecs: Register[Position]: "+ecstest.TooManyTypes,
		func() { ecs.Register[ecstest.Position](w) })
}

func TestZeroHandleIsNamed(t *testing.T) {
	m := ecstest.NewMisuse(t)
	for text, f := range map[string]func(){
		"ecs: Component.Get" + zero:     func() { ecs.Component[ecstest.Health]{}.Get(m.Entity) },
		"ecs: Component.Set" + zero:     func() { ecs.Component[ecstest.Health]{}.Set(m.Entity, ecstest.Health{}) },
		"ecs: Component.Add" + zero:     func() { ecs.Component[ecstest.Health]{}.Add(m.Entity, ecstest.Health{}) },
		"ecs: Component.Enable" + zero:  func() { ecs.Component[ecstest.Health]{}.Enable(m.Entity) },
		"ecs: Component.Enabled" + zero: func() { ecs.Component[ecstest.Health]{}.Enabled(m.Entity) },
		"ecs: Component.Slice: the handle is the zero value; handles come from Register and RegisterBuffer": m.InLoop(
			func(r ecs.Rows) {
				ecs.Component[ecstest.Health]{}.Slice(r)
			}),
		"ecs: Buffer.Append" + zero: func() { ecs.Buffer[ecstest.Hit]{}.Append(m.Entity) },
		"ecs: Archetype.Has" + zero: func() { m.Archetype.Has(ecs.Component[ecstest.Health]{}) },

		"ecs: Register[Health]: the world is nil or the zero value; worlds come from NewWorld":      func() { ecs.Register[ecstest.Health](nil) },
		"ecs: RegisterBuffer[Hit]: the world is nil or the zero value; worlds come from NewWorld":   func() { ecs.RegisterBuffer[ecstest.Hit](new(ecs.World)) },
		"ecs: NewArchetype: the world is nil or the zero value; worlds come from NewWorld":          func() { ecs.NewArchetype(new(ecs.World)) },
		"ecs: World.Lend: the world is nil or the zero value; worlds come from NewWorld":            func() { new(ecs.World).Lend() },
		"ecs: Borrow.End: the borrow is nil or the zero value; borrows come from World.Lend":        func() { new(ecs.Borrow).End() },
		"ecs: World.Destroy: the world is nil or the zero value; worlds come from NewWorld":         func() { (*ecs.World)(nil).Destroy(m.Entity) },
		"ecs: Archetype.Create: the archetype is the zero value; archetypes come from NewArchetype": func() { new(ecs.Archetype).Create() },
		"ecs: Change.Apply: the change is the zero value; changes come from NewChange":              func() { _, _ = new(ecs.Change).Apply(m.Entity) },
	} {
		ecstest.RequirePanicText(t, text, f)
	}
	require.NoError(t, m.World.Verify())
}
