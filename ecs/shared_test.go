package ecs_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"weak"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type Team struct {
	Name  string
	Order float64
}

// TestBehaviour55SharedValues: what is == is one value, kept once, and NaN is the same as
// NaN; it is counted, and goes with its last entity.
func TestBehaviour55SharedValues(t *testing.T) {
	w := ecstest.NewWorld(t)
	team, boxed := ecs.RegisterShared[Team](w), ecs.RegisterShared[[1]any](w)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	nan := math.Float64frombits(0x7ff8_0000_0000_0123)
	ids := make([]ecs.Entity, 8)
	for i, v := range []Team{{"red", 1}, {strings.Clone("red"), 1}, {"red", 2}, {"red", math.NaN()}, {"red", nan},
		{"blue", nan}, {"red", 0}, {"red", math.Copysign(0, -1)}} {
		ids[i] = a.Create()
		require.True(t, team.Add(ids[i], v))
		require.False(t, team.Add(ids[i], Team{"other", 0}), "it has one")
		require.NoError(t, w.Verify())
	}
	require.Equal(t, 2, team.Len(Team{"red", 1}))
	require.Equal(t, 2, team.Len(Team{"red", nan}), "NaN is the same as NaN")
	require.Equal(t, 1, team.Len(Team{"blue", math.NaN()}))
	require.Equal(t, 2, team.Len(Team{"red", 0}), "-0 == 0")
	require.Len(t, team.Values(nil), 5)
	kept, _ := team.Get(ids[7])
	require.False(t, math.Signbit(kept.Order), "the first of the same stays")

	require.True(t, boxed.Add(ids[0], [1]any{math.NaN()}))
	require.True(t, boxed.Add(ids[1], [1]any{math.NaN()}))
	require.True(t, boxed.Add(ids[2], [1]any{float32(1)}))
	require.Equal(t, 2, boxed.Len([1]any{math.NaN()}))
	require.Zero(t, boxed.Len([1]any{1.0}), "another type in the interface is another value")
	require.PanicsWithValue(t,
		"ecs: Shared.Add: the [1]interface {} [[1]] holds what Go cannot compare, as a slice, map or function",
		func() { boxed.Add(ids[3], [1]any{[]int{1}}) })

	loose := ecs.RegisterShared[any](w)
	for i, v := range []any{math.NaN(), float32(nan), [2]float64{0, nan}, math.NaN()} {
		require.True(t, loose.Add(ids[i], v))
	}
	require.Equal(t, 2, loose.Len(nan))
	require.Equal(t, 1, loose.Len(float32(nan)), "NaN of another type is another value")
	for _, e := range ids[:4] {
		require.True(t, loose.Remove(e))
	}
	ecstest.Sweep(w)

	require.True(t, team.Remove(ids[0]))
	require.False(t, team.Remove(ids[0]))
	require.Equal(t, 1, team.Len(Team{"red", 1}))
	require.True(t, w.Destroy(ids[1]))
	require.Zero(t, team.Len(Team{"red", 1}))
	require.NotContains(t, team.Values(nil), Team{"red", 1})
	require.Equal(t, 7, sharedValues(w), "what entities had is kept for those that come soon")
	ecstest.Sweep(w)
	require.Equal(t, 6, sharedValues(w))
	require.NoError(t, w.Verify())
}

// TestSharedNil: nil is a value as others are where the type is an interface.
func TestSharedNil(t *testing.T) {
	w := ecstest.NewWorld(t)
	loose := ecs.RegisterShared[any](w)
	e := ecs.NewArchetype(w, loose).Create()
	none, ok := loose.Get(e)
	require.True(t, ok)
	require.Nil(t, none)
	require.Equal(t, []any{nil}, loose.Values(nil))
	require.NoError(t, w.Verify())
	clone, err := w.Clone()
	require.NoError(t, err)
	require.Equal(t, 1, ecs.RegisterShared[any](clone).Len(nil))
	require.Equal(t, w.Hash(), clone.Hash())
	require.NoError(t, clone.Close())
	require.True(t, w.Destroy(e))
	require.Zero(t, loose.Len(nil))
	require.NoError(t, w.Verify())
}

// TestSharedValuesAreCollected: what a value leads to is the collector's once no entity
// has the value; archetypes that are given up come again.
func TestSharedValuesAreCollected(t *testing.T) {
	w := ecstest.NewWorld(t)
	shared := ecs.RegisterShared[*[1 << 20]byte](w)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	e := a.Create()
	last := func() weak.Pointer[[1 << 20]byte] {
		p := new([1 << 20]byte)
		shared.Add(e, p)
		return weak.Make(p)
	}()
	runtime.GC()
	require.NotNil(t, last.Value())
	shared.Set(e, nil)
	ecstest.Sweep(w)
	runtime.GC()
	require.Nil(t, last.Value())
	require.NoError(t, w.Verify())
}

// TestBehaviour56SetShared: another value moves the entity to chunks of that value, with
// all else that it has; Where sees only those.
func TestBehaviour56SetShared(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		x := ecstest.NewFullTwin(t, growth)
		cell := ecs.RegisterShared[int](x.World)
		ids := x.Fill(t, 700)
		want := x.Shows(ids)
		for i, e := range ids {
			require.True(t, cell.Add(e, i%3))
		}
		require.NoError(t, x.World.Verify())
		for i, e := range ids {
			v, ok := cell.Get(e)
			require.True(t, ok)
			require.Equal(t, i%3, v)
			if i%5 == 0 {
				require.True(t, cell.Set(e, 7))
			}
		}
		require.NoError(t, x.World.Verify())
		require.Equal(t, want, x.Shows(ids), "all else stays")
		for _, v := range []int{0, 1, 2, 7, 8} {
			q := ecs.NewQuery(x.World, ecs.Where(cell.Of(v)))
			var found, wanted []ecs.Entity
			for rows := range q.Rows() {
				got, ok := cell.At(rows)
				require.True(t, ok)
				require.Equal(t, v, got)
				found = append(found, rows.Entities()...)
			}
			for i, e := range ids {
				if i%5 == 0 && v == 7 || i%5 != 0 && i%3 == v {
					wanted = append(wanted, e)
				}
			}
			ecstest.RequireSame(t, wanted, found)
			require.Equal(t, len(wanted), cell.Len(v))
			q.Close()
		}
		require.Equal(t, []int{0, 1, 2, 7}, cell.Values(nil))
	}
}

// TestSharedManyValues: there may be more values than 16 bits count; those of a moment are
// given up by and by, as their archetypes are.
func TestSharedManyValues(t *testing.T) {
	w := ecstest.NewWorld(t)
	cell := ecs.RegisterShared[int](w)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), cell)
	n := min(70_000, w.Universe().Size()/(8<<10)) // a small chunk each, of 2 KiB, and as much to spare
	if testing.Short() {
		n = 2000
	}
	ids := make([]ecs.Entity, n)
	for i := range ids {
		ids[i] = a.With(cell.Of(i)).Create()
	}
	require.Equal(t, n, len(cell.Values(nil)))
	for i, e := range ids {
		v, _ := cell.Get(e)
		require.Equal(t, i, v)
		require.True(t, cell.Set(e, -1-i%10))
	}
	require.Less(t, w.Stats().Archetypes, 2*64+20+n)
	require.Equal(t, 10, len(cell.Values(nil)))
	ecstest.Sweep(w)
	e := ids[0]
	for i := range 1000 {
		cell.Set(e, n+i)
	}
	require.Less(t, w.Stats().Archetypes, 200, "what one entity went through")
	require.NoError(t, w.Verify())
}

// TestPutMovesChunks: a batch gives whole chunks another value without a copy.
func TestPutMovesChunks(t *testing.T) {
	w := ecstest.NewWorld(t)
	cell, position := ecs.RegisterShared[int](w), ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position, cell.Of(1))
	batch, err := a.CreateN(100_000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	offset, _, _ := a.Chunk(0)
	put := ecs.NewChange(w, ecs.Put(cell.Of(2)))
	batch, err = put.ApplyQuery(ecs.NewQuery(w, ecs.Where(cell.Of(1))))
	require.NoError(t, err)
	require.Equal(t, len(ids), batch.Len())
	to := a.With(cell.Of(2))
	moved, _, _ := to.Chunk(0)
	require.Equal(t, offset, moved)
	require.Zero(t, a.Len())
	require.NoError(t, w.Verify())

	// Add keeps a value that is there, Put does not; lists and single entities are alike.
	half := ids[:len(ids)/2]
	_, err = ecs.NewChange(w, ecs.Put(cell.Of(3))).ApplyList(half)
	require.NoError(t, err)
	_, err = ecs.NewChange(w, ecs.Add(cell.Of(4))).ApplyList(ids)
	require.NoError(t, err)
	require.Equal(t, []int{2, 3}, cell.Values(nil))
	changed, err := put.Apply(half[0])
	require.NoError(t, err)
	require.True(t, changed)
	changed, err = put.Apply(half[0])
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, len(ids)-len(half)+1, cell.Len(2))
	require.NoError(t, w.Verify())
	require.Equal(t, "change Int=2", strings.Replace(put.String(), "int", "Int", 1))
}

// TestPutTakesOverLayout: rows that lie with a hole get another value, and the chunks of the
// new one take over the hole.
func TestPutTakesOverLayout(t *testing.T) {
	w := ecstest.NewWorld(t)
	cell := ecs.RegisterShared[int](w)
	position := ecs.Register[ecstest.Position](w)
	owner := ecs.Register[ecstest.Owner](w)
	batch, err := ecs.NewArchetype(w, position, owner, cell).CreateN(5000)
	require.NoError(t, err)
	for i, e := range batch.Entities(nil) {
		position.Set(e, ecstest.Position{X: float64(i)})
	}
	all := ecs.NewQuery(w, ecs.Read(position))
	ids := all.Entities(nil)
	_, err = ecs.NewChange(w, ecs.Remove(owner)).ApplyQuery(all)
	require.NoError(t, err)
	at, _ := w.Locate(ids[0])
	rows := at.Archetype.Plan().Rows
	offset, _, _ := at.Archetype.Chunk(0)
	require.Less(t, rows, ecs.NewArchetype(w, position).Plan().Rows, "there is no hole")

	for v := range 5 {
		batch, err = ecs.NewChange(w, ecs.Put(cell.Of(v+1))).ApplyQuery(all)
		require.NoError(t, err)
		require.Equal(t, 5000, batch.Len())
		at, _ = w.Locate(ids[0])
		moved, _, _ := at.Archetype.Chunk(0)
		require.Equal(t, []int{rows, offset}, []int{at.Archetype.Plan().Rows, moved})
		require.Equal(t, 5000, cell.Len(v+1))
		require.NoError(t, w.Verify())
		for i, e := range ids {
			require.Equal(t, ecstest.Position{X: float64(i)}, *position.Get(e))
		}
	}

	// One comes back to a value whose archetype lay so and has no rows: now it lies alone.
	require.True(t, cell.Set(ids[7], 4))
	at, _ = w.Locate(ids[7])
	require.Greater(t, at.Archetype.Plan().Rows, rows)
	require.Equal(t, ecstest.Position{X: 7}, *position.Get(ids[7]))
	require.NoError(t, w.Verify())
}

// TestRowsOf: the rows of one value, of those that the query finds.
func TestRowsOf(t *testing.T) {
	w := ecstest.NewWorld(t)
	cell := ecs.RegisterShared[int](w)
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Without(velocity))
	all := map[int][]ecs.Entity{}
	still, moving := ecs.NewArchetype(w, position, cell), ecs.NewArchetype(w, position, velocity, cell)
	for i := range 300 {
		e := still.With(cell.Of(i % 100)).Create()
		all[i%100] = append(all[i%100], e)
		moving.With(cell.Of(i % 50)).Create()
	}
	for v := -1; v <= 100; v++ {
		var found []ecs.Entity
		for rows := range q.Where(cell.Of(v)) {
			require.Len(t, position.Slice(rows), rows.Len())
			found = append(found, rows.Entities()...)
		}
		require.Equal(t, all[v], found)
	}
	require.PanicsWithValue(t, "ecs: Archetype.Create: structural change inside a loop over "+q.String()+
		"; gather the entities and change them after the loop", func() {
		for range q.Where(cell.Of(1)) {
			still.Create()
		}
	})
	still.Create()
	require.NoError(t, w.Verify())
}

// sharing is what a model knows of an entity.
type sharing struct {
	cell, kind any // nil: none
	p          ecstest.Position
}

// TestSharedAgainstModel runs random operations on entities with two shared types and a
// component beside a map.
func TestSharedAgainstModel(t *testing.T) {
	t.Parallel()
	rng, w, names := rand.New(rand.NewPCG(9, 1)), ecstest.NewWorld(t), []string{"", "a", "b", "c"}
	cell, kind, position := ecs.RegisterShared[int](w), ecs.RegisterShared[string](w), ecs.Register[ecstest.Position](w)
	want, ids := map[ecs.Entity]*sharing{}, []ecs.Entity(nil)
	q := ecs.NewQuery(w, ecs.Read(position), ecs.Where(cell.Of(1), cell.Of(2), cell.Of(2)), ecs.Where(kind.Of("a")))
	for step := range ecstest.StepsOf(2500) {
		e := ecs.Null
		if len(ids) > 0 {
			e = ids[rng.IntN(len(ids))]
		}
		c, k := rng.IntN(6), names[rng.IntN(4)]
		switch op := rng.IntN(11); {
		case op == 0 && len(ids) < 300 || e == ecs.Null:
			a := ecs.NewArchetype(w, cell.Of(c), position, kind)
			b, err := a.CreateN(1+rng.IntN(40), ecs.Uninitialized(position))
			require.NoError(t, err)
			for rows := range b.Rows() {
				p := position.Slice(rows)
				for i, e := range rows.Entities() {
					p[i] = ecstest.Position{X: float64(step), Y: float64(i)}
					want[e] = &sharing{c, "", p[i]}
					ids = append(ids, e)
				}
			}
		case op == 1:
			require.True(t, w.Destroy(e))
			delete(want, e)
			ids = slices.DeleteFunc(ids, func(f ecs.Entity) bool { return f == e })
		case op == 2:
			require.Equal(t, want[e].cell == nil, cell.Add(e, c))
			if want[e].cell == nil {
				want[e].cell = c
			}
		case op == 3:
			require.Equal(t, want[e].cell != nil, cell.Set(e, c))
			if want[e].cell != nil {
				want[e].cell = c
			}
		case op == 4:
			require.Equal(t, want[e].kind != nil, kind.Remove(e))
			want[e].kind = nil
		case op <= 7:
			list := ecstest.SomeOf(rng, ids, 30)
			_, err := ecs.NewChange(w, ecs.Put(kind.Of(k)), ecs.Add(cell.Of(c))).ApplyList(list)
			require.NoError(t, err)
			for _, e := range list {
				want[e].kind = k
				if want[e].cell == nil {
					want[e].cell = c
				}
			}
		case op == 8:
			next := ecs.NewChange(w, ecs.Put(cell.Of(c+1)), ecs.Remove(kind))
			_, err := next.ApplyQuery(ecs.NewQuery(w, ecs.Where(cell.Of(c))))
			require.NoError(t, err)
			for _, m := range want {
				if m.cell == c {
					m.cell, m.kind = c+1, nil
				}
			}
		case op == 9 && step%7 == 0:
			require.Equal(t, q.Count(), w.DestroyQuery(q))
			for e, m := range want {
				if (m.cell == 1 || m.cell == 2) && m.kind == "a" {
					delete(want, e)
				}
			}
			ids = slices.DeleteFunc(ids, func(e ecs.Entity) bool { return want[e] == nil })
		}
		require.NoError(t, w.Verify())
		for e, m := range want {
			c, okC := cell.Get(e)
			k, okK := kind.Get(e)
			require.True(t, okC == (m.cell != nil) && (!okC || m.cell == c), "cell of %v", e)
			require.True(t, okK == (m.kind != nil) && (!okK || m.kind == k), "kind of %v", e)
			require.Equal(t, m.p, *position.Get(e))
		}
	}
}

// TestSharedMisuse: misuse is refused with what to do.
func TestSharedMisuse(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	cell, position := ecs.RegisterShared[int](w), ecs.Register[ecstest.Position](w)
	strange := ecs.RegisterShared[int](other)
	a := ecs.NewArchetype(w, position)
	e := a.Create()
	for want, f := range map[string]func(){
		"ecs: RegisterShared[int]: the options of shared types are Cleanup and Codec":      func() { ecs.RegisterShared[int](w, ecs.Enableable) },
		"ecs: Write: int is shared: entities get another value by Set or Put":              func() { ecs.Write(cell) },
		"ecs: With: int=3 is a value; ask for it with Where":                               func() { ecs.With(cell.Of(3)) },
		"ecs: Any: int=3 is a value; ask for it with Where":                                func() { ecs.Any(cell.Of(3)) },
		"ecs: Where: a value is the zero value of SharedValue; values come from Shared.Of": func() { ecs.Where(cell.Of(1), ecs.SharedValue{}) },
		"ecs: NewBundle[struct { Cell int }]: field .Cell: int is a shared type, and a field is a component or a buffer; see Shared.Add and Shared.At": func() {
			ecs.NewBundle[struct{ Cell int }](w)
		},
		"ecs: Where: the values are not all of one shared type; take a Where for each": func() { ecs.Where(cell.Of(1), ecs.RegisterShared[string](w).Of("")) },
		"ecs: NewQuery: Where names no type":                                           func() { ecs.NewQuery(w, ecs.Where()) },
		"ecs: NewQuery: int was registered in another world":                           func() { ecs.NewQuery(w, ecs.Where(strange.Of(1))) },
		"ecs: NewQuery: int is in two terms":                                           func() { ecs.NewQuery(w, ecs.With(cell), ecs.Where(cell.Of(1))) },
		"ecs: NewChange: Remove(int=1): name the type, entities lose any value of it":  func() { ecs.NewChange(w, ecs.Remove(cell.Of(1))) },
		"ecs: NewArchetype: int is given twice":                                        func() { ecs.NewArchetype(w, cell, cell.Of(1)) },
		"ecs: Shared.Add: entity " + e.String() + " belongs to another world":          func() { strange.Add(e, 1) },
		"ecs: Shared.Of: " + "the handle is the zero value; handles come from RegisterShared": func() {
			ecs.Shared[int]{}.Of(1)
		},
		"ecs: NewArchetype: " + "the handle is the zero value; handles come from Register and RegisterBuffer": func() {
			ecs.NewArchetype(w, ecs.SharedValue{})
		},
		"ecs: Archetype.With: int=1: [Position] has no int; name the value in NewArchetype": func() {
			a.With(cell.Of(1))
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
	require.False(t, cell.Set(e, 1))
	require.False(t, cell.Remove(ecs.Null))
	_, ok := cell.Get(ecs.Null)
	require.False(t, ok)
	require.NoError(t, w.Verify())
	require.NoError(t, w.Close())
	require.PanicsWithValue(t, "ecs: Shared.Of: the world is closed", func() { cell.Of(1) })
	require.PanicsWithValue(t, "ecs: Shared.Add: the world is closed", func() { cell.Add(e, 1) })
	require.PanicsWithValue(t, "ecs: Shared.Values: the world is closed", func() { cell.Values(nil) })
}

// TestSharedInAShare: goroutines of a lent world loop over the rows of values, known ones and
// others.
func TestSharedInAShare(t *testing.T) {
	w := ecstest.NewWorld(t)
	cell, position := ecs.RegisterShared[int](w), ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position, cell)
	for i := range 200 {
		a.With(cell.Of(i % 20)).Create()
	}
	q := ecs.NewQuery(w, ecs.Read(position))
	share := w.Lend()
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 100 {
				n := 0
				for rows := range q.Where(cell.Of((g + i) % 25)) {
					v, _ := cell.At(rows)
					assert.Equal(t, (g+i)%25, v)
					n += rows.Len()
				}
				assert.Equal(t, cell.Len((g+i)%25), n)
			}
		})
	}
	group.Wait()
	share.End()
}

// TestArchetypesComeAgain: who holds an archetype that was given up does not notice.
func TestArchetypesComeAgain(t *testing.T) {
	w := ecstest.NewWorld(t)
	cell := ecs.RegisterShared[int](w)
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	a := ecs.NewArchetype(w, position, cell)
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Where(cell.Of(7)))
	old := a.With(cell.Of(7))
	ecstest.Sweep(w)
	require.Equal(t, 1, w.Stats().Archetypes, "the one of value 7 is gone")
	for _, create := range []func(a *ecs.Archetype) ecs.Entity{
		func(a *ecs.Archetype) ecs.Entity { return a.Create() },
		func(a *ecs.Archetype) ecs.Entity {
			b, err := a.CreateN(1)
			require.NoError(t, err)
			return b.Entities(nil)[0]
		},
		func(a *ecs.Archetype) ecs.Entity {
			ids := make([]ecs.Entity, 1)
			require.NoError(t, w.Reserve(ids))
			_, err := a.CreateReserved(ids)
			require.NoError(t, err)
			return ids[0]
		},
		func(a *ecs.Archetype) ecs.Entity {
			e := ecs.NewArchetype(w, velocity).Create()
			changed, err := ecs.Into(a).Apply(e)
			require.True(t, changed)
			require.NoError(t, err)
			return e
		},
	} {
		ecstest.Sweep(w)
		require.Zero(t, old.Len())
		require.Zero(t, old.Chunks())
		e := create(old)
		require.NoError(t, w.Verify())
		v, ok := cell.Get(e)
		require.True(t, ok)
		require.Equal(t, 7, v)
		require.Equal(t, 1, old.Len(), "the world has another in its place")
		_, _, rows := old.Chunk(0)
		require.Equal(t, 1, rows)
		require.Equal(t, 1, old.With(cell.Of(7)).Len())
		require.Equal(t, 1, q.Count())
		other := old.Create()
		require.Equal(t, 2, a.With(cell.Of(7)).Len())
		w.DestroyList([]ecs.Entity{e, other})
	}
	for i := range 1000 { // cells that come and go without any other change
		w.Destroy(a.With(cell.Of(i)).Create())
	}
	require.Less(t, w.Stats().Archetypes, 150)
}

// TestWithKeepsOthers: With changes the values given and keeps those of other types.
func TestWithKeepsOthers(t *testing.T) {
	w := ecstest.NewWorld(t)
	cell, team := ecs.RegisterShared[int](w), ecs.RegisterShared[string](w)
	a := ecs.NewArchetype(w, cell.Of(3), team.Of("red"))
	e := a.With(cell.Of(4)).Create()
	v, _ := cell.Get(e)
	k, _ := team.Get(e)
	require.Equal(t, 4, v)
	require.Equal(t, "red", k)
	require.Same(t, a, a.With())
	require.Same(t, a, a.With(cell.Of(4)).With(cell.Of(3)))
}

// TestBuiltInKinds: the built-in types are of one kind each.
func TestBuiltInKinds(t *testing.T) {
	w := ecstest.NewWorld(t)
	const text = " is built in as another kind: RegisterBuffer has LinkedEntity, Register the others"
	require.PanicsWithValue(t, "ecs: RegisterShared[CleanupEntity]: CleanupEntity"+text,
		func() { ecs.RegisterShared[ecs.CleanupEntity](w) })
	require.PanicsWithValue(t, "ecs: RegisterManaged[Prefab]: managed Prefab"+text,
		func() { ecs.RegisterManaged[ecs.Prefab](w) })
	require.PanicsWithValue(t, "ecs: Register[LinkedEntity]: LinkedEntity"+text,
		func() { ecs.Register[ecs.LinkedEntity](w) })
	require.Equal(t, ecs.RegisterBuffer[ecs.LinkedEntity](w), ecs.RegisterBuffer[ecs.LinkedEntity](w))
}

// sharedValues returns the number of values that the stores know.
func sharedValues(w *ecs.World) (n int) {
	for range door.World(w).SharedValues() {
		n++
	}
	return n
}
