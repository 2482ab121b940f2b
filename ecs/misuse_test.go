package ecs_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"quarry/alloc"
	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

type Weapon struct {
	Damage int32
	Name   string
}

// tooManyTypes is what the limit of types says, and why, and what to do.
const tooManyTypes = "the limit is 1024 component types a world: a set of types is 128 B, a bit for each, in every archetype, query and change " +
	"(make one type of those that always come together, variants of a type values of a field or of a shared type, or use a second world)"

type huge struct{ B [20_000]byte }

// misuse is a world with one of everything, and what each wrong call must say.
type misuse struct {
	w, other *ecs.World
	position ecs.Component[Position]
	velocity ecs.Component[Velocity]
	stun     ecs.Component[Stun]
	hits     ecs.Buffer[Hit]
	a        *ecs.Archetype
	e        ecs.Entity
	stranger ecs.Entity // of the other world
	q        *ecs.Query
}

func newMisuse(t *testing.T) *misuse {
	m := &misuse{w: newWorld(t), other: newWorld(t)}
	m.position, m.velocity = ecs.Register[Position](m.w), ecs.Register[Velocity](m.w)
	m.stun = ecs.Register[Stun](m.w, ecs.Enableable)
	m.hits = ecs.RegisterBuffer[Hit](m.w)
	m.a = ecs.NewArchetype(m.w, m.position, m.velocity, m.hits, m.stun)
	m.e = m.a.Create()
	m.stranger = ecs.NewArchetype(m.other).Create()
	m.q = ecs.NewQuery(m.w, ecs.Write(m.position), ecs.Read(m.hits), ecs.With(m.stun))
	return m
}

func (m *misuse) inLoop(f func(rows ecs.Rows)) func() {
	return func() {
		for rows := range m.q.Rows() {
			f(rows)
		}
	}
}

func TestMisuseIsNamed(t *testing.T) {
	m := newMisuse(t)
	var kept ecs.Rows
	m.inLoop(func(rows ecs.Rows) { kept = rows })()
	batch, err := m.a.CreateN(1)
	require.NoError(t, err)
	view, _ := m.hits.Get(m.e)
	stale, _ := m.hits.Mut(m.e)
	dead := m.a.Create()
	m.w.Destroy(dead)
	view, _ = m.hits.Get(m.e)
	inside := " inside a loop over query(Write Position, Read []Hit, With Stun); gather the entities and change them after the loop"
	loop := func(f func()) func() { return m.inLoop(func(ecs.Rows) { f() }) }
	health := ecs.Register[Health](m.w)
	before, hash := m.w.Stats(), m.w.Hash()
	for text, f := range map[string]func(){
		"ecs: Archetype.Create: structural change" + inside:  loop(func() { m.a.Create() }),
		"ecs: Archetype.CreateN: structural change" + inside: loop(func() { _, _ = m.a.CreateN(3) }),
		"ecs: World.Destroy: structural change" + inside:     loop(func() { m.w.Destroy(m.e) }),
		"ecs: Component.Add: structural change" + inside:     loop(func() { m.position.Add(m.e, Position{}) }),
		"ecs: Component.Remove: structural change" + inside:  loop(func() { m.position.Remove(m.e) }),
		"ecs: World.Close: structural change" + inside:       loop(func() { m.w.Close() }),

		"ecs: Component.Slice: query(Write Position, Read []Hit, With Stun) does not declare Velocity: add ecs.Read or ecs.Write": m.inLoop(func(r ecs.Rows) { m.velocity.Slice(r) }),
		"ecs: Component.Slice: query(Write Position, Read []Hit, With Stun) does not declare Stun: add ecs.Read or ecs.Write":     m.inLoop(func(r ecs.Rows) { m.stun.Slice(r) }),
		"ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended":                      func() { m.position.Slice(kept) },
		"ecs: Rows.Entities: the rows are no longer current: the loop that gave them has gone on or ended":                        func() { kept.Entities() },
		"ecs: Rows.Mask: the rows are no longer current: the loop that gave them has gone on or ended":                            func() { kept.Mask() },
		"ecs: Component.Slice: the rows are the zero value; rows come from Query.Rows or Batch.Rows":                              func() { m.position.Slice(ecs.Rows{}) },
		"ecs: Component.Slice: Position and the rows belong to different worlds":                                                  m.inLoop(func(r ecs.Rows) { ecs.Register[Position](m.other).Slice(r) }),
		"ecs: Buffer.At: row 3 is not in [0, 2)":                                                                                  m.inLoop(func(r ecs.Rows) { m.hits.At(r, 3) }),
		"ecs: DynamicBuffer.Append: the []Hit was opened to read: use Buffer.Mut or ecs.Write":                                    m.inLoop(func(r ecs.Rows) { m.hits.At(r, 0).Append(Hit{}) }),
		"ecs: DynamicBuffer.Clear: the []Hit was opened to read: use Buffer.Mut or ecs.Write":                                     func() { view.Clear() },
		"ecs: DynamicBuffer.Append: the view of a []Hit is no longer current: the world has changed since it was taken":           func() { stale.Append(Hit{}) },
		"ecs: DynamicBuffer.Len: the buffer is the zero value; buffers come from Buffer.Get, Mut and At":                          func() { ecs.DynamicBuffer[Hit]{}.Len() },
		"ecs: Batch.Rows: the batch of 1 rows is no longer current: the world has changed since it was made": func() {
			for range batch.Rows() {
				t.Error("a stale batch yields nothing")
			}
		},

		fmt.Sprintf("ecs: Component.Get: entity %v belongs to another world", m.stranger): func() { m.position.Get(m.stranger) },
		fmt.Sprintf("ecs: World.Destroy: entity %v belongs to another world", m.stranger): func() { m.w.Destroy(m.stranger) },
		fmt.Sprintf("ecs: Component.Add: entity %v belongs to another world", m.stranger): func() { m.position.Add(m.stranger, Position{}) },
		fmt.Sprintf("ecs: Component.Add: %v is not alive, cannot add Position", dead):     func() { m.position.Add(dead, Position{}) },
		"ecs: Component.Add: null is not alive, cannot add Position":                      func() { m.position.Add(ecs.Null, Position{}) },
		"ecs: Component.Enable: Position was not registered with ecs.Enableable":          func() { m.position.Enable(m.e) },

		"ecs: Register[Weapon]: Weapon.Name is a string; components must hold no Go pointers, for they lie outside the garbage collector's heap; RegisterManaged takes any type":       func() { ecs.Register[Weapon](m.w) },
		"ecs: RegisterBuffer[Weapon]: Weapon.Name is a string; components must hold no Go pointers, for they lie outside the garbage collector's heap; RegisterManaged takes any type": func() { ecs.RegisterBuffer[Weapon](m.w) },
		"ecs: RegisterBuffer[Tag]: the element has no size":                                                      func() { ecs.RegisterBuffer[Tag](m.w) },
		"ecs: Register[Stun]: registered before with other options":                                              func() { ecs.Register[Stun](m.w) },
		"ecs: RegisterBuffer[Hit]: registered before with other options":                                         func() { ecs.RegisterBuffer[Hit](m.w, ecs.Inline(1)) },
		"ecs: Register[Health]: Inline is an option of RegisterBuffer":                                           func() { ecs.Register[Health](m.w, ecs.Inline(1)) },
		"ecs: Inline: n=-1 is negative":                                                                          func() { ecs.Inline(-1) },
		"ecs: NewArchetype: Position is given twice":                                                             func() { ecs.NewArchetype(m.w, m.position, m.position) },
		"ecs: NewArchetype: Position was registered in another world":                                            func() { ecs.NewArchetype(m.other, m.position) },
		"ecs: NewArchetype: the handle is the zero value; handles come from Register and RegisterBuffer":         func() { ecs.NewArchetype(m.w, ecs.Component[Position]{}) },
		"ecs: NewArchetype: a type is nil":                                                                       func() { ecs.NewArchetype(m.w, nil) },
		"ecs: NewQuery: Position is in two terms":                                                                func() { ecs.NewQuery(m.w, ecs.Read(m.position), ecs.Without(m.position)) },
		"ecs: NewQuery: Position was registered in another world":                                                func() { ecs.NewQuery(m.other, ecs.Read(m.position)) },
		"ecs: Archetype.CreateN: n=-1 is negative":                                                               func() { _, _ = m.a.CreateN(-1) },
		"ecs: Uninitialized: []Hit is a buffer: its header must be zero":                                         func() { ecs.Uninitialized(m.hits) },
		"ecs: Uninitialized: the handle is the zero value; handles come from Register and RegisterBuffer":        func() { ecs.Uninitialized(ecs.Component[Position]{}) },
		"ecs: Archetype.CreateN: Uninitialized names Health, which [Position Velocity Stun []Hit] does not have": func() { _, _ = m.a.CreateN(1, ecs.Uninitialized(health)) },
		"ecs: Archetype.CreateN: Uninitialized names types of another world":                                     func() { _, _ = m.a.CreateN(1, ecs.Uninitialized(ecs.Register[Position](m.other))) },
	} {
		requirePanicText(t, text, f)
		require.NoError(t, m.w.Verify(), "after %s", text)
		require.Equal(t, before.Alive, m.w.Stats().Alive)
		require.Equal(t, hash, m.w.Hash(), "a refused call changes nothing: %s", text)
	}
	require.False(t, m.w.Alive(m.stranger))
	require.Equal(t, "unregistered unregistered", fmt.Sprint(ecs.Component[Health]{}, ecs.Buffer[Hit]{}))
	m.a.Create() // every panic left the world unlocked
}

func TestLimitsAreErrors(t *testing.T) {
	w := newWorld(t)
	require.PanicsWithError(t, "ecs: Register[huge]: the limit is 16384 bytes of columns a chunk: "+
		"layout: New: huge alone is 20000 bytes, a chunk has 16384: row does not fit a chunk", func() { ecs.Register[huge](w) })
	require.Panics(t, func() { ecs.Register[[16384]byte](w) }, "no room for the entity")
	require.Panics(t, func() { ecs.RegisterBuffer[Hit](w, ecs.Inline(3000)) })
	require.PanicsWithError(t, "ecs: RegisterBuffer[[134217728]uint8]: the limit is 1048576 bytes of an element",
		func() { ecs.RegisterBuffer[[1 << 27]byte](w) })
	ecs.NewArchetype(w, ecs.Register[[16000]byte](w)).Create()
	many := ecs.RegisterBuffer[huge](w)
	many.Append(ecs.NewArchetype(w, many).Create(), huge{})
	require.Panics(t, func() { ecs.WithUniverse(nil) })
	u, err := alloc.NewUniverse(alloc.Size(1 << 21))
	require.NoError(t, err)
	require.NoError(t, u.Close())
	require.PanicsWithValue(t, "ecs: NewWorld: the universe of WithUniverse is closed", func() { _, _ = ecs.NewWorld(ecs.WithUniverse(u)) })
	_, err = ecs.NewArchetype(w).CreateN(ecs.MaxEntities)
	require.EqualError(t, err, "ecs: Archetype.CreateN: the limit is 134217726 entities a world")
	_, err = ecs.NewArchetype(w).CreateN(math.MaxInt)
	require.EqualError(t, err, "ecs: Archetype.CreateN: the limit is 134217726 entities a world")
	require.PanicsWithError(t, "ecs: RegisterBuffer[Hit]: the limit is 1048576 bytes of inline elements", func() {
		ecs.RegisterBuffer[Hit](w, ecs.Inline(1<<20))
	})
	require.NoError(t, w.Verify())
}

func TestClosedWorldRefuses(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	position := ecs.Register[Position](w)
	a := ecs.NewArchetype(w, position)
	e := a.Create()
	q := ecs.NewQuery(w, ecs.Read(position))
	require.NoError(t, w.Close())
	for text, f := range map[string]func(){
		"ecs: Archetype.Create: the world is closed":  func() { a.Create() },
		"ecs: Archetype.CreateN: the world is closed": func() { _, _ = a.CreateN(1) },
		"ecs: World.Destroy: the world is closed":     func() { w.Destroy(e) },
		"ecs: Component.Get: the world is closed":     func() { position.Get(e) },
		"ecs: Component.Add: the world is closed":     func() { position.Add(e, Position{}) },
		"ecs: Query.Count: the world is closed":       func() { q.Count() },
		"ecs: Component.Has: the world is closed":     func() { position.Has(e) },
		"ecs: Component.Enabled: the world is closed": func() { position.Enabled(e) },
		"ecs: Query.Rows: the world is closed":        func() { q.Rows()(func(ecs.Rows) bool { return true }) },
		"ecs: Register[Tag]: the world is closed":     func() { ecs.Register[Tag](w) },
		"ecs: NewArchetype: the world is closed":      func() { ecs.NewArchetype(w) },
		"ecs: NewQuery: the world is closed":          func() { ecs.NewQuery(w) },
	} {
		requirePanicText(t, text, f)
	}
	require.False(t, w.Alive(e))
	require.NoError(t, w.Verify())
}

// TestLoopUnlocksWhateverEndsIt leaves loops by break, return and panic.
func TestLoopUnlocksWhateverEndsIt(t *testing.T) {
	w, position, _, a := movers(t, 2000)
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
	before := ecs.OpenWorlds()
	u := newUniverse(t, 16<<20)
	var worlds []*ecs.World
	var ids []ecs.Entity
	for range 12 - min(before, 11) {
		w := newWorld(t, ecs.WithUniverse(u))
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
	w := newWorld(t)
	for n := range ecs.MaxTypes - 4 { // four are built in
		w.RegisterType(reflect.ArrayOf(n+1, reflect.TypeFor[byte]()))
	}
	require.PanicsWithError(t, "ecs: Register[Position]: "+tooManyTypes, func() { ecs.Register[Position](w) })
}

func TestZeroHandleIsNamed(t *testing.T) {
	m := newMisuse(t)
	for text, f := range map[string]func(){
		"ecs: Component.Get: the handle is the zero value; handles come from Register and RegisterBuffer":     func() { ecs.Component[Health]{}.Get(m.e) },
		"ecs: Component.Set: the handle is the zero value; handles come from Register and RegisterBuffer":     func() { ecs.Component[Health]{}.Set(m.e, Health{}) },
		"ecs: Component.Add: the handle is the zero value; handles come from Register and RegisterBuffer":     func() { ecs.Component[Health]{}.Add(m.e, Health{}) },
		"ecs: Component.Enable: the handle is the zero value; handles come from Register and RegisterBuffer":  func() { ecs.Component[Health]{}.Enable(m.e) },
		"ecs: Component.Enabled: the handle is the zero value; handles come from Register and RegisterBuffer": func() { ecs.Component[Health]{}.Enabled(m.e) },
		"ecs: Component.Slice: the handle is the zero value; handles come from Register and RegisterBuffer":   m.inLoop(func(r ecs.Rows) { ecs.Component[Health]{}.Slice(r) }),
		"ecs: Buffer.Append: the handle is the zero value; handles come from Register and RegisterBuffer":     func() { ecs.Buffer[Hit]{}.Append(m.e) },
		"ecs: Archetype.Has: the handle is the zero value; handles come from Register and RegisterBuffer":     func() { m.a.Has(ecs.Component[Health]{}) },

		"ecs: Register[Health]: the world is nil or the zero value; worlds come from NewWorld":      func() { ecs.Register[Health](nil) },
		"ecs: RegisterBuffer[Hit]: the world is nil or the zero value; worlds come from NewWorld":   func() { ecs.RegisterBuffer[Hit](new(ecs.World)) },
		"ecs: NewArchetype: the world is nil or the zero value; worlds come from NewWorld":          func() { ecs.NewArchetype(new(ecs.World)) },
		"ecs: World.Share: the world is nil or the zero value; worlds come from NewWorld":           func() { new(ecs.World).Share() },
		"ecs: Borrow.End: the borrow is nil or the zero value; borrows come from World.Share":       func() { new(ecs.Borrow).End() },
		"ecs: World.Destroy: the world is nil or the zero value; worlds come from NewWorld":         func() { (*ecs.World)(nil).Destroy(m.e) },
		"ecs: Archetype.Create: the archetype is the zero value; archetypes come from NewArchetype": func() { new(ecs.Archetype).Create() },
		"ecs: Change.Apply: the change is the zero value; changes come from NewChange":              func() { _, _ = new(ecs.Change).Apply(m.e) },
	} {
		requirePanicText(t, text, f)
	}
	require.NoError(t, m.w.Verify())
}
