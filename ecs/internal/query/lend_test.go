package query_test

import (
	"sync"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestBehaviour39ParallelReaders: goroutines that loop over the same query while the world is lent
// each see all rows once.
func TestBehaviour39ParallelReaders(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, position, stun), 3000)
	ids = append(ids, ecstest.CreateEach(ecs.NewArchetype(w, position, velocity), 3000)...)
	want := map[ecs.Entity]bool{}
	for i, e := range ids {
		position.Set(e, ecstest.Position{X: float64(e.Index())})
		if i < 3000 && i%3 == 0 {
			stun.Disable(e)
		} else {
			want[e] = true
		}
	}
	q := ecs.NewQuery(w, ecs.Read(position), ecs.Any(stun, ecs.Read(velocity)))
	for range 3 {
		p := w.Lend()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				seen := map[ecs.Entity]bool{}
				for rows := range q.Rows() {
					x := position.Slice(rows)
					for i := range rows.Each() {
						e := rows.Entities()[i]
						if seen[e] || !want[e] || x[i].X != float64(e.Index()) ||
							position.Get(e) != &x[i] || !w.Alive(e) {
							t.Errorf("%v: seen %v, wanted %v, %v", e, seen[e], want[e], x[i])
						}
						seen[e] = true
					}
					for range q.Rows() { // nested in the same goroutine
						break
					}
				}
				if len(seen) != len(want) {
					t.Errorf("saw %d of %d", len(seen), len(want))
				}
			})
		}
		require.Equal(t, len(want), q.Count(), "the owner reads meanwhile")
		require.Len(t, q.Entities(nil), len(want))
		wg.Wait()
		p.End()
	}
	ecs.NewArchetype(w, position).Create() // unlocked
}

// TestLendRefuses: while the world is lent nothing is written, and nothing changes that goroutines
// read; each call panics with what to do, and changes nothing.
func TestLendRefuses(t *testing.T) {
	m := ecstest.NewMisuse(t)
	batch, err := m.Archetype.CreateN(3)
	require.NoError(t, err)
	view, _ := m.Hits.Mut(m.Entity)
	view.Append(ecstest.Hit{Damage: 1})
	reads := ecs.NewQuery(m.World, ecs.Read(m.Position), ecs.Changed(m.Position))
	p := m.World.Lend()
	shared := ": the world is lent; call Borrow.End first"
	readOnly := ": the world is lent: until Borrow.End components are only read"
	hash, version := m.World.Hash(), m.World.Version()
	for text, f := range map[string]func(){
		"ecs: World.Lend" + shared:        func() { m.World.Lend() },
		"ecs: World.Close" + shared:       func() { m.World.Close() },
		"ecs: World.Advance" + shared:     func() { m.World.Advance() },
		"ecs: Query.Close" + shared:       reads.Close,
		"ecs: Query.SetSince" + shared:    func() { reads.SetSince(1) },
		"ecs: door.PinSince" + shared:     func() { door.PinSince(reads, 1) },
		"ecs: Archetype.Create" + shared:  func() { m.Archetype.Create() },
		"ecs: Archetype.CreateN" + shared: func() { _, _ = m.Archetype.CreateN(1) },
		"ecs: World.Destroy" + shared:     func() { m.World.Destroy(m.Entity) },
		"ecs: Component.Add" + shared:     func() { m.Velocity.Add(m.Entity, ecstest.Velocity{}) },
		"ecs: Component.Remove" + shared:  func() { m.Velocity.Remove(m.Entity) },
		"ecs: Buffer.Add" + shared:        func() { m.Hits.Add(m.Entity) },
		"ecs: NewArchetype" + shared:      func() { ecs.NewArchetype(m.World, m.Velocity) },
		"ecs: NewQuery" + shared:          func() { ecs.NewQuery(m.World) },
		"ecs: NewQueryOfAll" + shared:     func() { ecs.NewQueryOfAll(m.World) },
		"ecs: World.SetName" + shared:     func() { m.World.SetName(m.Entity, "name") },
		"ecs: Register[Health]" + shared:  func() { ecs.Register[ecstest.Health](m.World) },
		"ecs: Component.Mut" + readOnly:   func() { m.Position.Mut(m.Entity) },
		"ecs: Component.Set" + readOnly:   func() { m.Position.Set(m.Entity, ecstest.Position{}) },
		"ecs: Buffer.Mut" + readOnly:      func() { m.Hits.Mut(m.Entity) },
		"ecs: Buffer.Append" + readOnly:   func() { m.Hits.Append(m.Entity, ecstest.Hit{}) },
		"ecs: Query.Rows" + readOnly:      m.InLoop(func(ecs.Rows) { t.Error("a loop that may write") }),
		"ecs: Component.SetValues" + readOnly: func() {
			_ = m.Position.SetValues(m.Query, make([]ecstest.Position, m.Query.Count()))
		},
		"ecs: Batch.Rows" + readOnly: func() {
			for range batch.Rows() {
				t.Error("a batch's rows may be written")
			}
		},
		"ecs: DynamicBuffer.Append" + readOnly: func() { view.Append(ecstest.Hit{}) },
		"ecs: DynamicBuffer.Clear" + readOnly:  func() { view.Clear() },
	} {
		require.PanicsWithValue(t, text, f)
		require.NoError(t, m.World.Verify(), "after %s", text)
		require.Equal(t, hash, m.World.Hash(), "after %s", text)
		require.Equal(t, version, m.World.Version(), "after %s", text)
	}
	require.Same(t, m.Archetype, ecs.NewArchetype(m.World, m.Stun, m.Hits, m.Position, m.Velocity),
		"one that exists is only looked up")
	require.Equal(t, m.Position, ecs.Register[ecstest.Position](m.World))
	require.Equal(t, []ecstest.Hit{{Damage: 1}}, view.Slice())
	p.End()
	m.Archetype.Create()
}

// TestLendLoopsRefuse: what loops of a share refuse, and a share that has ended.
func TestLendLoopsRefuse(t *testing.T) {
	m := ecstest.NewMisuse(t)
	reads := ecs.NewQuery(m.World, ecs.Read(m.Position), ecs.Changed(m.Position))
	closed := ecs.NewQuery(m.World)
	closed.Close()
	p := m.World.Lend()
	each := func(q *ecs.Query) func() { return func() { q.Rows()(func(ecs.Rows) bool { return true }) } }
	hash, version := m.World.Hash(), m.World.Version()
	for text, f := range map[string]func(){
		"ecs: Query.Rows: the world is lent: until Borrow.End components are only read": each(m.Query),
		"ecs: Query.Rows: query() is closed":                                            each(closed),
		"ecs: Component.Slice: query(Read Position, Changed Position) does not declare Velocity: add ecs.Read or ecs.Write": func() {
			for rows := range reads.Rows() {
				m.Velocity.Slice(rows)
			}
		},
		"ecs: Component.Mark: query(Read Position, Changed Position) declares Position to read: use ecs.Write": func() {
			for rows := range reads.Rows() {
				m.Position.Mark(rows)
			}
		},
		"ecs: Borrow.End: loops under way: 2; wait for their goroutines first": func() {
			for range reads.Rows() {
				for range reads.Rows() {
					p.End()
				}
			}
		},
		"ecs: Borrow.End: loops under way: 1; wait for their goroutines first": func() {
			for range reads.Rows() {
				p.End()
			}
		},
	} {
		require.PanicsWithValue(t, text, f)
		require.NoError(t, m.World.Verify(), "after %s", text)
		require.Equal(t, hash, m.World.Hash(), "after %s", text)
		require.Equal(t, version, m.World.Version(), "after %s", text)
	}
	p.End()
	require.PanicsWithValue(t, "ecs: Borrow.End: the loan is not out: it has not begun, or has ended", p.End)
	again := m.World.Lend()
	require.PanicsWithValue(t, "ecs: Borrow.End: the loan is not out: it has not begun, or has ended", p.End)
	again.End()
	for range m.Query.Rows() {
		require.PanicsWithValue(t,
			"ecs: World.Lend: the loan: inside a loop over query(Write Position, Read []Hit, With Stun); begin it outside of loops",
			func() { m.World.Lend() })
	}
	m.Archetype.Create()
}

// TestLendRowsAreStale: rows kept from a share's loop are caught, in the share and after it.
func TestLendRowsAreStale(t *testing.T) {
	w, position, _, _ := ecstest.Movers(t, 10)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Read(position))
	p := w.Lend()
	var kept ecs.Rows
	for rows := range q.Rows() {
		kept = rows
	}
	text := "ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended"
	require.PanicsWithValue(t, text, func() { position.Slice(kept) })
	for range q.Rows() {
		require.PanicsWithValue(t, text, func() { position.Slice(kept) })
	}
	p.End()
	require.PanicsWithValue(t, text, func() { position.Slice(kept) })
}

// TestLendClosedWorld: Lend reports that the world is closed.
func TestLendClosedWorld(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.PanicsWithValue(t, "ecs: World.Lend: the world is closed", func() { w.Lend() })
}

// TestChangedInAShare: Changed and Ordered compare with Since, which stays, so every goroutine sees
// the same; toggles while the world is lent count as written since.
func TestChangedInAShare(t *testing.T) {
	s := newSmall(t)
	q := ecs.NewQuery(s.w, ecs.Changed(s.position), ecs.Ordered())
	s.run(q)
	s.position.Mut(s.inA[0])
	s.w.Destroy(s.inB[len(s.inB)-1])
	since, version := q.Since(), s.w.Version()
	p := s.w.Lend()
	for range 3 {
		var seen []ecs.Entity
		for rows := range q.Rows() {
			seen = append(seen, rows.Entities()[0])
		}
		require.Len(t, seen, 2)
		require.Equal(t, seen[0], s.inA[0])
		require.Equal(t, []string{"a0", "b2"}, s.run(q), "the owner's own loop")
	}
	require.Equal(t, since, q.Since())
	require.Equal(t, version, s.w.Version())
	p.End()
	require.Equal(t, []string{"a0", "b2"}, s.run(q))
	require.Empty(t, s.run(q))
}

// TestPanicInALoopOfAShare: a loop that panics or breaks is no longer under way.
func TestPanicInALoopOfAShare(t *testing.T) {
	w, position, _, a := ecstest.Movers(t, 10)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Read(position))
	p := w.Lend()
	require.Panics(t, func() {
		for range q.Rows() {
			panic("in the user's loop")
		}
	})
	for range q.Rows() {
		break
	}
	func() {
		for range q.Rows() {
			return
		}
	}()
	p.End()
	a.Create()
}

// TestLendAgain: what Lend returned may begin again, and lends the types that there are then;
// Access has the types.
func TestLendAgain(t *testing.T) {
	w, position, _, _ := ecstest.Movers(t, 10)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Read(position))
	b := w.Lend()
	require.True(t, ecstest.Out(b))
	require.PanicsWithValue(t, "ecs: Borrow.Begin: the world is lent; call Borrow.End first",
		func() { ecstest.Begin(b) })
	b.End()
	require.False(t, ecstest.Out(b))
	health := ecs.Register[ecstest.Health](w)
	e := ecs.NewArchetype(w, health).Create()
	access := func(term ecs.Term) ecs.Access { return ecs.NewQuery(w, term).Access() }
	require.Empty(t, w.Conflicts(door.Access(b), access(ecs.Write(health))))
	write, read := access(ecs.Write(health)), access(ecs.Read(health))
	ecstest.Begin(b)
	require.True(t, w.Lent())
	require.PanicsWithValue(t, "ecs: Component.Mut: the world is lent: until Borrow.End components are only read",
		func() { health.Mut(e) })
	require.Equal(t, []string{"Health"}, w.Conflicts(door.Access(b), write))
	require.Empty(t, w.Conflicts(door.Access(b), read))
	seen := 0
	for rows := range q.Rows() {
		seen += rows.Len()
	}
	require.Equal(t, 10, seen)
	require.NoError(t, w.Verify())
	b.End()
	require.NotNil(t, health.Mut(e))
	require.NoError(t, w.Close())
	require.PanicsWithValue(t, "ecs: Borrow.Begin: the world is closed", func() { ecstest.Begin(b) })
}

// TestLendEndsBorrows: Lend ends the borrows of queries that are out, but inside a loop it waits
// for nobody.
func TestLendEndsBorrows(t *testing.T) {
	m := ecstest.NewMisuse(t)
	reads := ecs.NewQuery(m.World, ecs.Read(m.Velocity))
	l := ecstest.Lend(m.Query, "job move")
	ecstest.Begin(l.Borrow)
	for range reads.Rows() {
		require.Panics(t, func() { m.World.Lend() })
		require.True(t, ecstest.Out(l.Borrow))
	}
	b := m.World.Lend()
	require.False(t, ecstest.Out(l.Borrow))
	require.Equal(t, []string{"World.Lend"}, l.Ops)
	b.End()
}

// TestBorrowOfTheOtherForm: a borrow of everything has no parts and no accessors.
func TestBorrowOfTheOtherForm(t *testing.T) {
	m := ecstest.NewMisuse(t)
	b := m.World.Lend()
	everything := ": everything is lent, and no query: use Query.Rows, and the world's own look-ups"
	require.PanicsWithValue(t, "ecs: Borrow.Accessor"+everything, func() { ecstest.AccessorOf(b) })
	require.PanicsWithValue(t, "ecs: Borrow.Split"+everything, func() { ecstest.Split(b, nil, 64) })
	b.End()
}
