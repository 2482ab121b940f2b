package edit_test

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/edit"

	"github.com/stretchr/testify/require"
)

// Layouts that archetypes take over: chunks change hands, and what was removed is a hole.

type cargo struct{ V [12]int64 }

// ship is a world of types that may come and go while Position and cargo stay.
type ship struct {
	w        *ecs.World
	position ecs.Component[ecstest.Position]
	cargo    ecs.Component[cargo]
	velocity ecs.Component[ecstest.Velocity]
	stun     ecs.Component[ecstest.Stun] // Enableable
	tag      ecs.Component[ecstest.Tag]
	hits     ecs.Buffer[ecstest.Hit]
	all      *ecs.Query
	keeps    bool // all have hits, which stay
}

func newShip(t *testing.T, growth alloc.Growth, options ...ecs.Option) *ship {
	w := ecstest.NewWorld(t, append(options, ecs.ChunkGrowth(growth))...)
	// The types that come and go are first, so that columns behind the holes are read too.
	return &ship{
		w: w, velocity: ecs.Register[ecstest.Velocity](w), hits: ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1)),
		position: ecs.Register[ecstest.Position](w), stun: ecs.Register[ecstest.Stun](w, ecs.Enableable),
		cargo: ecs.Register[cargo](w), tag: ecs.Register[ecstest.Tag](w), all: ecs.NewQuery(w),
	}
}

// holes are types that may be a hole in rows of Position and cargo.
var holes = map[string]func(x *ship) []ecs.Type{
	"component":          func(x *ship) []ecs.Type { return []ecs.Type{x.velocity} },
	"enableable":         func(x *ship) []ecs.Type { return []ecs.Type{x.stun} },
	"buffer":             func(x *ship) []ecs.Type { return []ecs.Type{x.hits} },
	"component and tag":  func(x *ship) []ecs.Type { return []ecs.Type{x.velocity, x.tag} },
	"two components":     func(x *ship) []ecs.Type { return []ecs.Type{x.velocity, x.stun} },
	"buffer, enableable": func(x *ship) []ecs.Type { return []ecs.Type{x.stun, x.hits} },
	"before a buffer": func(x *ship) []ecs.Type {
		x.keeps = true
		return []ecs.Type{x.velocity}
	},
}

// fill gives the entities of a batch values that follow from their ids, in all columns that are
// there. Most buffers spill.
func (x *ship) fill(b ecs.Batch) {
	for rows := range b.Rows() {
		p, c := x.position.Slice(rows), x.cargo.Slice(rows)
		for i, e := range rows.Entities() {
			n := e.Index()
			p[i], c[i] = ecstest.Position{X: float64(n), Y: 5}, cargo{[12]int64{0: int64(n), 11: -int64(n)}}
			x.velocity.Set(e, ecstest.Velocity{X: float64(n), Y: -1})
			x.stun.Set(e, ecstest.Stun{Left: float32(n)})
			x.stun.Disable(e)
			for range n % 4 {
				x.hits.Append(e, ecstest.Hit{Damage: int32(n)})
			}
		}
	}
}

// check looks at every entity: by slices of a query that was made before anything moved, and by
// look-ups.
func (x *ship) check(t *testing.T, q *ecs.Query, n int, text string) {
	t.Helper()
	require.NoError(t, x.w.Verify(), text)
	seen := 0
	for rows := range q.Rows() {
		p, c, v, s := x.position.Slice(rows), x.cargo.Slice(rows), x.velocity.Slice(rows), x.stun.Slice(rows)
		for i, e := range rows.Entities() {
			id := int64(e.Index())
			if p[i] != (ecstest.Position{X: float64(id), Y: 5}) || c[i].V[0] != id || c[i].V[11] != -id ||
				*x.position.Get(e) != p[i] || *x.cargo.Get(e) != c[i] {
				t.Fatalf("%s: %v has %v and %v", text, e, p[i], c[i])
			}
			if v != nil && (v[i] != ecstest.Velocity{} || x.velocity.Get(e) != &v[i]) ||
				s != nil && (s[i] != ecstest.Stun{} || !x.stun.Enabled(e)) {
				t.Fatalf("%s: %v is not new: %v %v", text, e, v, s)
			}
			want := 0
			if x.keeps {
				want = int(id % 4)
			}
			if b, ok := x.hits.Get(e); ok &&
				(b.Len() != want || want > 0 && b.Slice()[want-1] != ecstest.Hit{Damage: int32(id)}) {
				t.Fatalf("%s: %v has a buffer of %v, want %d", text, e, b.Slice(), want)
			}
			seen++
		}
	}
	require.Equal(t, n, seen, text)
}

// TestHoleThereAndBack takes types from all rows and gives them back, over and over: the chunks
// stay, a part-full one too, what stays keeps its values, and what comes is zero, though the memory
// is full of what was there. Queries, ways and look-ups are older than the layout.
func TestHoleThereAndBack(t *testing.T) {
	for name, types := range holes {
		for _, growth := range ecstest.ChunkSizes {
			for _, s := range []string{"one full", "one full, part", "large, part", "all orders"} {
				x := newShip(t, growth)
				parts := types(x)
				stay := []ecs.Type{x.position, x.cargo}
				if x.keeps {
					stay = append(stay, x.hits)
				}
				full, less := ecs.NewArchetype(x.w, append(stay, parts...)...), ecs.NewArchetype(x.w, stay...)
				q := ecs.NewQuery(x.w, ecs.Write(x.position), ecs.Write(x.cargo), ecs.Optional(ecs.Read(x.velocity)),
					ecs.Optional(ecs.Read(x.stun)))
				add, remove := ecs.NewChange(x.w, ecs.Add(parts...)), ecs.NewChange(x.w, ecs.Remove(parts...))
				x.warm(t, full, less, q, add, remove)
				text := fmt.Sprintf("%s, %s, chunks grow %v", name, s, growth)
				for _, units := range shapes[s].units {
					x.fill(createBatch(t, full, fits(full, units)))
				}
				x.fill(createBatch(t, full, shapes[s].more))
				x.thereAndBack(t, full, less, q, add, remove, text)
				require.NoError(t, x.w.Close())
			}
		}
	}
}

func createBatch(t *testing.T, a *ecs.Archetype, n int) ecs.Batch {
	b, err := a.CreateN(n)
	require.NoError(t, err)
	return b
}

// warm makes transitions, bindings and directories in the archetypes' own layouts.
func (x *ship) warm(t *testing.T, full, less *ecs.Archetype, q *ecs.Query, changes ...*ecs.Change) {
	x.fill(createBatch(t, full, 1))
	e := x.all.Entities(nil)[0]
	for _, c := range append(changes, changes...) {
		_, err := c.Apply(e)
		require.NoError(t, err)
	}
	require.NotNil(t, x.position.Get(e))
	x.velocity.Get(e)
	for rows := range q.Rows() {
		require.Equal(t, 1, rows.Len())
	}
	x.velocity.Remove(e)
	x.stun.Remove(e)
	x.hits.Remove(e)
	x.velocity.Add(e, ecstest.Velocity{})
	x.w.Clear()
	require.Zero(t, full.Len()+less.Len())
}

func (x *ship) thereAndBack(t *testing.T, full, less *ecs.Archetype, q *ecs.Query, add, remove *ecs.Change,
	text string) {
	n, chunks, own := full.Len(), placesOf(full), less.Plan().Rows
	require.Greater(t, own, full.Plan().Rows)
	live := x.w.Universe().Stats().LiveChunks
	for round := range 3 {
		since := x.w.Version()
		x.w.Advance()
		b, err := remove.ApplyQuery(x.all)
		require.NoError(t, err)
		require.Equal(t, []int{n, n}, []int{b.Len(), less.Len()}, text)
		require.Equal(t, chunks, placesOf(less), text)
		require.Equal(t, full.Plan().Rows, less.Plan().Rows, text)
		require.Contains(t, less.Plan().String(), "hole")
		require.True(t, x.keeps || x.w.Stats().Buffers == 0, text)
		x.check(t, q, n, text)
		x.oneByOne(t, full, less, text)
		require.Equal(t, chunks, placesOf(less), text)

		b, err = add.ApplyQuery(x.all)
		require.NoError(t, err)
		require.Equal(t, []int{n, n}, []int{b.Len(), full.Len()}, text)
		require.Equal(t, chunks, placesOf(full), text)
		for rows := range q.Rows() {
			require.True(t, x.position.Changed(rows, since) && rows.Ordered(since), text)
			if full.Has(x.velocity) {
				require.True(t, x.velocity.Changed(rows, since), text)
			}
		}
		x.check(t, q, n, text)
		if round == 0 {
			live = x.w.Universe().Stats().LiveChunks
		}
		require.LessOrEqual(t, x.w.Universe().Stats().LiveChunks, live, text)
		x.refill()
	}
}

// oneByOne sends one entity by ways that are older than the layout; the last row fills its gap.
func (x *ship) oneByOne(t *testing.T, full, less *ecs.Archetype, text string) {
	e := x.all.Entities(nil)[0]
	id := float64(e.Index())
	for _, there := range []*ecs.Archetype{full, less} {
		_, err := ecs.Into(there).Apply(e)
		require.NoError(t, err)
		require.Equal(t, ecstest.Position{X: id, Y: 5}, *x.position.Get(e), text)
		require.Equal(t, int64(-id), x.cargo.Get(e).V[11], text)
	}
	require.True(t, x.velocity.Add(e, ecstest.Velocity{X: 1, Y: 2}))
	require.Equal(t, []any{ecstest.Velocity{X: 1, Y: 2}, ecstest.Position{X: id, Y: 5}},
		[]any{*x.velocity.Get(e), *x.position.Get(e)}, text)
	require.True(t, x.velocity.Remove(e))
	require.Equal(t, []any{ecstest.Position{X: id, Y: 5}, int64(id)}, []any{*x.position.Get(e), x.cargo.Get(e).V[0]},
		text)
	require.NoError(t, x.w.Verify(), text)
}

// refill makes the columns that may go dirty again.
func (x *ship) refill() {
	for _, e := range x.all.Entities(nil) {
		x.velocity.Set(e, ecstest.Velocity{X: 7, Y: 7})
		x.stun.Set(e, ecstest.Stun{Left: 7})
		x.stun.Disable(e)
		if !x.keeps {
			x.hits.Append(e, ecstest.Hit{Damage: 1}, ecstest.Hit{Damage: 2})
		}
	}
}

// placesOf lists the chunks of an archetype: first unit and rows.
func placesOf(a *ecs.Archetype) (list [][2]int) {
	for i := range a.Chunks() {
		first, _, rows := a.Chunk(i)
		list = append(list, [2]int{int(first), rows})
	}
	return list
}

// TestHoleNeedsNoMemory removes a type while the universe is full.
func TestHoleNeedsNoMemory(t *testing.T) {
	u := ecstest.NewUniverse(t, 4<<20)
	x := newShip(t, alloc.Fixed(1), ecs.WithUniverse(u))
	full := ecs.NewArchetype(x.w, x.position, x.cargo, x.velocity)
	x.fill(createBatch(t, full, 20*full.Plan().Rows+3))
	hog, n, err := u.Alloc(1)
	for err == nil {
		defer u.Free(hog, n)
		hog, n, err = u.Alloc(1)
	}
	require.ErrorIs(t, err, alloc.ErrFull)
	b, err := ecs.NewChange(x.w, ecs.Remove(x.velocity)).ApplyList(x.all.Entities(nil))
	require.NoError(t, err)
	require.Equal(t, 20*full.Plan().Rows+3, b.Len())
	require.NoError(t, x.w.Verify())
}

// TestHoleIsBounded: no layout is taken over whose hole takes more than a quarter of the rows, by
// less than a chunk of rows, where rows come from two archetypes, or where there are rows.
func TestHoleIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		make func(x *ship) (from *ecs.Archetype, rows int)
		hole bool
	}{
		"narrow enough": {func(x *ship) (*ecs.Archetype, int) {
			return ecs.NewArchetype(x.w, x.position, x.cargo, x.velocity, x.stun), 500
		}, true},
		"too wide": {func(x *ship) (*ecs.Archetype, int) {
			return ecs.NewArchetype(x.w, x.position, x.cargo, x.velocity, x.hits), 500
		}, false},
		"less than a chunk": {func(x *ship) (*ecs.Archetype, int) {
			a := ecs.NewArchetype(x.w, x.position, x.cargo, x.velocity)
			return a, a.Plan().Rows - 1
		}, false},
		"two sources": {func(x *ship) (*ecs.Archetype, int) {
			createBatch(t, ecs.NewArchetype(x.w, x.position, x.cargo, x.stun), 500)
			return ecs.NewArchetype(x.w, x.position, x.cargo, x.velocity), 500
		}, false},
		"rows": {func(x *ship) (*ecs.Archetype, int) {
			createBatch(t, ecs.NewArchetype(x.w, x.position, x.cargo), 1)
			return ecs.NewArchetype(x.w, x.position, x.cargo, x.velocity), 500
		}, false},
	} {
		x := newShip(t, alloc.Fixed(1))
		from, n := c.make(x)
		x.fill(createBatch(t, from, n))
		to := ecs.NewArchetype(x.w, x.position, x.cargo)
		own := to.Plan()
		_, err := ecs.NewChange(x.w, ecs.Remove(x.velocity, x.stun, x.hits)).ApplyQuery(x.all)
		require.NoError(t, err)
		require.GreaterOrEqual(t, to.Len(), n, name)
		require.NoError(t, x.w.Verify(), name)
		if !c.hole {
			require.Equal(t, own, to.Plan(), name)
			continue
		}
		require.Equal(t, from.Plan().Rows, to.Plan().Rows, name)
		require.GreaterOrEqual(t, 4*to.Plan().Rows, 3*own.Rows, name)
	}
}

// TestHolesOfHoles takes one type after the other: what is left has holes for both, as long as they
// are not too wide together, and all of it can come back.
func TestHolesOfHoles(t *testing.T) {
	x := newShip(t, alloc.Fixed(1))
	full := ecs.NewArchetype(x.w, x.position, x.cargo, x.velocity, x.stun)
	x.fill(createBatch(t, full, 700))
	q := ecs.NewQuery(x.w, ecs.Write(x.position), ecs.Write(x.cargo), ecs.Optional(ecs.Read(x.velocity)),
		ecs.Optional(ecs.Read(x.stun)))
	chunks := placesOf(full)
	for _, c := range []*ecs.Change{
		ecs.NewChange(x.w, ecs.Remove(x.stun)), ecs.NewChange(x.w, ecs.Remove(x.velocity)),
	} {
		_, err := c.ApplyQuery(x.all)
		require.NoError(t, err)
	}
	less := ecs.NewArchetype(x.w, x.position, x.cargo)
	require.Equal(t, chunks, placesOf(less))
	var names []string
	for _, p := range less.Plan().Places {
		if p.Hole {
			names = append(names, p.Name)
		}
	}
	require.Equal(t, []string{"Velocity", "Stun"}, names)
	x.check(t, q, 700, "without both")
	_, err := ecs.NewChange(x.w, ecs.Add(x.velocity, x.stun)).ApplyQuery(x.all)
	require.NoError(t, err)
	require.Equal(t, chunks, placesOf(full))
	x.check(t, q, 700, "with both")
}

// TestOwnLayoutAgain: the first rows that are made in an archetype without rows, or that come one
// by one, lie in its own layout, for queries and ways from before too.
func TestOwnLayoutAgain(t *testing.T) {
	for name, first := range map[string]func(x *ship, less *ecs.Archetype){
		"Create":  func(x *ship, less *ecs.Archetype) { less.Create() },
		"CreateN": func(x *ship, less *ecs.Archetype) { createBatch(t, less, 300) },
		"Remove": func(x *ship, _ *ecs.Archetype) {
			for _, e := range x.all.Entities(nil) {
				x.velocity.Remove(e)
			}
		},
		"Adopt": func(x *ship, less *ecs.Archetype) {
			for _, e := range x.all.Entities(nil) {
				_, err := ecs.Into(less).Apply(e)
				require.NoError(t, err)
			}
		},
		"CreateReserved": func(x *ship, less *ecs.Archetype) {
			ids := make([]ecs.Entity, 5)
			require.NoError(t, x.w.Reserve(ids))
			_, err := less.CreateReserved(ids)
			require.NoError(t, err)
		},
	} {
		x := newShip(t, alloc.Fixed(1))
		full, less := ecs.NewArchetype(x.w, x.position, x.cargo, x.velocity), ecs.NewArchetype(x.w, x.position, x.cargo)
		own := less.Plan()
		q := ecs.NewQuery(x.w, ecs.Write(x.position), ecs.Write(x.cargo), ecs.Optional(ecs.Read(x.velocity)),
			ecs.Optional(ecs.Read(x.stun)))
		add, remove := ecs.NewChange(x.w, ecs.Add(x.velocity)), ecs.NewChange(x.w, ecs.Remove(x.velocity))
		x.warm(t, full, less, q, add, remove)
		x.fill(createBatch(t, full, 700))
		_, err := remove.ApplyQuery(x.all)
		require.NoError(t, err)
		require.NotEqual(t, own, less.Plan(), name)
		x.check(t, q, 700, name)
		_, err = add.ApplyQuery(x.all)
		require.NoError(t, err)
		first(x, less)
		require.Equal(t, own, less.Plan(), name)
		for rows := range q.Rows() {
			p, c := x.position.Slice(rows), x.cargo.Slice(rows)
			for i, e := range rows.Entities() {
				p[i], c[i] = ecstest.Position{X: float64(e.Index()), Y: 5},
					cargo{[12]int64{0: int64(e.Index()), 11: -int64(e.Index())}}
			}
		}
		x.check(t, q, x.w.Stats().Alive, name)
		_, err = add.ApplyQuery(x.all)
		require.NoError(t, err)
		x.check(t, q, x.w.Stats().Alive, name)
	}
}

// TestRefusedChangesLeaveNoWays makes a change again and again that fails: what it made on the way
// is forgotten each time.
func TestRefusedChangesLeaveNoWays(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	x := newShip(t, alloc.Fixed(1), ecs.WithUniverse(u))
	a := ecs.NewArchetype(x.w, x.position)
	createBatch(t, a, 70*a.Plan().Rows)
	add := ecs.NewChange(x.w, ecs.Add(x.cargo))
	for range 5 {
		_, err := add.ApplyQuery(x.all)
		require.ErrorIs(t, err, ecs.ErrLimit)
		require.Zero(t, ways(a))
	}
}

// TestOneWayForEachPair makes change after change between the same archetypes: they share the ways,
// which a new layout would have to walk.
func TestOneWayForEachPair(t *testing.T) {
	x := newShip(t, alloc.Fixed(1))
	a := ecs.NewArchetype(x.w, x.position)
	e := a.Create()
	for range 5 {
		_, err := ecs.NewChange(x.w, ecs.Add(x.cargo)).Apply(e)
		require.NoError(t, err)
		require.True(t, x.cargo.Remove(e))
		require.True(t, x.cargo.Add(e, cargo{}))
		_, err = ecs.NewChange(x.w, ecs.Remove(x.cargo)).ApplyQuery(x.all)
		require.NoError(t, err)
		require.Equal(t, 2, ways(a), "one there and one back")
	}
}

// TestTransactionFindsTheLayoutAnew: a group may be on its way to an archetype without rows in
// another's layout when a later group of the transaction gives that archetype its own layout again.
func TestTransactionFindsTheLayoutAnew(t *testing.T) {
	w := ecstest.NewWorld(t)
	type wide [6]uint64
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	extra := ecs.Register[wide](w)
	less, more := ecs.NewArchetype(w, position, extra), ecs.NewArchetype(w, velocity, position, extra)
	createBatch(t, more, 700)
	_, err := ecs.NewChange(w, ecs.Remove(velocity)).ApplyQuery(ecs.NewQuery(w, ecs.With(velocity)))
	require.NoError(t, err)
	w.DestroyQuery(ecs.NewQuery(w, ecs.With(position))) // less keeps the layout with a hole
	e := ecs.NewArchetype(w, position, velocity, extra).Create()
	position.Set(e, ecstest.Position{X: 1, Y: 2})
	extra.Set(e, wide{3, 4, 5, 6, 7, 8})

	out := edit.OutcomeOf(door.Archetype(ecs.NewArchetype(w, position, velocity, extra)))
	for _, c := range []*ecs.Change{
		ecs.NewChange(w, ecs.Remove(velocity, position)), ecs.NewChange(w, ecs.Add(position)),
	} {
		out, err = out.After(door.Change(c))
		require.NoError(t, err)
	}
	require.Same(t, less, door.At(&out))
	created := edit.OutcomeOf(door.Archetype(less))
	var tx edit.Tx
	tx.Begin(door.World(w), "test")
	tx.Move(door.IDs([]ecs.Entity{e}), &out)
	tx.Create(&created, 3)
	require.NoError(t, tx.Reserve())
	door.Batch(tx.Run(1))
	door.Batch(tx.Run(0))
	tx.Finish()
	require.Equal(t, ecstest.Position{}, *position.Get(e), "it was lost and given again")
	require.Equal(t, wide{3, 4, 5, 6, 7, 8}, *extra.Get(e))
	require.NoError(t, w.Verify())
}

// ways returns the number of ways that an archetype knows, from it and to it.
func ways(a *ecs.Archetype) int { return door.Archetype(a).Table.Transitions() }
