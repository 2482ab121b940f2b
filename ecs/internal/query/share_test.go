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

// TestBehaviour39ParallelReaders: goroutines that loop over the same query in a share each see all
// rows once.
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
		p := w.Share()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				seen := map[ecs.Entity]bool{}
				for rows := range p.Rows(q) {
					x := position.Slice(rows)
					for i := range rows.Each() {
						e := rows.Entities()[i]
						if seen[e] || !want[e] || x[i].X != float64(e.Index()) ||
							position.Get(e) != &x[i] || !w.Alive(e) {
							t.Errorf("%v: seen %v, wanted %v, %v", e, seen[e], want[e], x[i])
						}
						seen[e] = true
					}
					for range p.Rows(q) { // nested in the same goroutine
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

// TestShareRefuses: in a share nothing is written, and nothing changes that goroutines read; each
// call says what to do, and changes nothing.
func TestShareRefuses(t *testing.T) {
	m := ecstest.NewMisuse(t)
	batch, err := m.Archetype.CreateN(3)
	require.NoError(t, err)
	view, _ := m.Hits.Mut(m.Entity)
	view.Append(ecstest.Hit{Damage: 1})
	reads := ecs.NewQuery(m.World, ecs.Read(m.Position), ecs.Changed(m.Position))
	p := m.World.Share()
	shared := ": the world is shared; call Borrow.End first"
	readOnly := ": the world is shared: until Borrow.End components are only read"
	hash, version := m.World.Hash(), m.World.Version()
	for text, f := range map[string]func(){
		"ecs: World.Share" + shared:       func() { m.World.Share() },
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

// TestShareLoopsRefuse: what loops of a share refuse, and a share that has ended.
func TestShareLoopsRefuse(t *testing.T) {
	m := ecstest.NewMisuse(t)
	reads := ecs.NewQuery(m.World, ecs.Read(m.Position), ecs.Changed(m.Position))
	strange, closed := ecs.NewQuery(m.Other), ecs.NewQuery(m.World)
	closed.Close()
	p := m.World.Share()
	each := func(q *ecs.Query) func() { return func() { p.Rows(q)(func(ecs.Rows) bool { return true }) } }
	hash, version := m.World.Hash(), m.World.Version()
	for text, f := range map[string]func(){
		"ecs: Borrow.Rows: query(Write Position, Read []Hit, With Stun) declares Write; goroutines that share a world may only read it": each(m.Query),
		"ecs: Borrow.Rows: query() is of another world": each(strange),
		"ecs: Borrow.Rows: query() is closed":           each(closed),
		"ecs: Component.Slice: query(Read Position, Changed Position) does not declare Velocity: add ecs.Read or ecs.Write": func() {
			for rows := range p.Rows(reads) {
				m.Velocity.Slice(rows)
			}
		},
		"ecs: Component.Mark: query(Read Position, Changed Position) declares Position to read: use ecs.Write": func() {
			for rows := range p.Rows(reads) {
				m.Position.Mark(rows)
			}
		},
		"ecs: Borrow.End: loops under way: 2; wait for their goroutines first": func() {
			for range p.Rows(reads) {
				for range p.Rows(reads) {
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
	ended := func() {
		for range p.Rows(reads) {
			t.Error("the share is not out: it has not begun, or has ended")
		}
	}
	require.PanicsWithValue(t, "ecs: Borrow.Rows: the share is not out: it has not begun, or has ended", ended)
	require.PanicsWithValue(t, "ecs: Borrow.End: the share is not out: it has not begun, or has ended", p.End)
	again := m.World.Share()
	require.PanicsWithValue(t, "ecs: Borrow.Rows: the share is not out: it has not begun, or has ended", ended)
	require.PanicsWithValue(t, "ecs: Borrow.End: the share is not out: it has not begun, or has ended", p.End)
	again.End()
	for range m.Query.Rows() {
		require.PanicsWithValue(t,
			"ecs: World.Share: the share: inside a loop over query(Write Position, Read []Hit, With Stun); begin it outside of loops",
			func() { m.World.Share() })
	}
	m.Archetype.Create()
}

// TestShareRowsAreStale: rows kept from a share's loop are caught, in the share and after it.
func TestShareRowsAreStale(t *testing.T) {
	w, position, _, _ := ecstest.Movers(t, 10)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Read(position))
	p := w.Share()
	var kept ecs.Rows
	for rows := range p.Rows(q) {
		kept = rows
	}
	text := "ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended"
	require.PanicsWithValue(t, text, func() { position.Slice(kept) })
	for range p.Rows(q) {
		require.PanicsWithValue(t, text, func() { position.Slice(kept) })
	}
	p.End()
	require.PanicsWithValue(t, text, func() { position.Slice(kept) })
}

// TestShareOfClosedWorld: Share says that the world is closed.
func TestShareOfClosedWorld(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.PanicsWithValue(t, "ecs: World.Share: the world is closed", func() { w.Share() })
}

// TestChangedInAShare: Changed and Ordered compare with Since, which stays, so every goroutine sees
// the same; toggles in a share count as written since.
func TestChangedInAShare(t *testing.T) {
	s := newSmall(t)
	q := ecs.NewQuery(s.w, ecs.Changed(s.position), ecs.Ordered())
	s.run(q)
	s.position.Mut(s.inA[0])
	s.w.Destroy(s.inB[len(s.inB)-1])
	since, version := q.Since(), s.w.Version()
	p := s.w.Share()
	for range 3 {
		var seen []ecs.Entity
		for rows := range p.Rows(q) {
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
	p := w.Share()
	require.Panics(t, func() {
		for range p.Rows(q) {
			panic("in the user's loop")
		}
	})
	for range p.Rows(q) {
		break
	}
	func() {
		for range p.Rows(q) {
			return
		}
	}()
	p.End()
	a.Create()
}

// TestShareAgain: what Share returned may begin again, and lends the types that there are then;
// Access says which.
func TestShareAgain(t *testing.T) {
	w, position, _, _ := ecstest.Movers(t, 10)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Read(position))
	b := w.Share()
	require.True(t, b.Active())
	require.PanicsWithValue(t, "ecs: Borrow.Begin: the world is shared; call Borrow.End first", b.Begin)
	b.End()
	require.False(t, b.Active())
	health := ecs.Register[ecstest.Health](w)
	e := ecs.NewArchetype(w, health).Create()
	access := func(term ecs.Term) ecs.Access { return ecs.NewQuery(w, term).Access() }
	require.Empty(t, w.Conflicts(b.Access(), access(ecs.Write(health))))
	write, read := access(ecs.Write(health)), access(ecs.Read(health))
	b.Begin()
	require.True(t, w.Shared())
	require.PanicsWithValue(t, "ecs: Component.Mut: the world is shared: until Borrow.End components are only read",
		func() { health.Mut(e) })
	require.Equal(t, []string{"Health"}, w.Conflicts(b.Access(), write))
	require.Empty(t, w.Conflicts(b.Access(), read))
	seen := 0
	for rows := range b.Rows(q) {
		seen += rows.Len()
	}
	require.Equal(t, 10, seen)
	require.NoError(t, w.Verify())
	b.End()
	require.NotNil(t, health.Mut(e))
	require.NoError(t, w.Close())
	require.PanicsWithValue(t, "ecs: Borrow.Begin: the world is closed", b.Begin)
}

// TestShareEndsBorrows: Share ends the borrows of queries that are out, but inside a loop it waits
// for nobody.
func TestShareEndsBorrows(t *testing.T) {
	m := ecstest.NewMisuse(t)
	reads := ecs.NewQuery(m.World, ecs.Read(m.Velocity))
	l := ecstest.Lend(m.Query, "job move")
	l.Borrow.Begin()
	for range reads.Rows() {
		require.Panics(t, func() { m.World.Share() })
		require.True(t, l.Borrow.Active())
	}
	b := m.World.Share()
	require.False(t, l.Borrow.Active())
	require.Equal(t, []string{"World.Share"}, l.Ops)
	b.End()
}

// TestBorrowOfTheOtherForm: a borrow of everything has no parts and no accessors, one of a query
// has its accessors only.
func TestBorrowOfTheOtherForm(t *testing.T) {
	m := ecstest.NewMisuse(t)
	reads := ecs.NewQuery(m.World, ecs.Read(m.Position))
	l := ecstest.Lend(reads, "job look")
	l.Borrow.Begin()
	for text, f := range map[string]func(){
		"ecs: Borrow.Rows: job look lends the rows of query(Read Position) alone: use Borrow.Accessor": func() {
			for range l.Borrow.Rows(reads) {
				t.Error("a loop over everything")
			}
		},
		"ecs: Borrow.RowsOf: job look lends the rows of query(Read Position) alone: use Borrow.Accessor": func() {
			for range l.Borrow.RowsOf(reads, ecs.SharedValue{}) {
				t.Error("a loop over everything")
			}
		},
	} {
		require.PanicsWithValue(t, text, f)
	}
	b := m.World.Share()
	everything := ": everything is lent, and no query: use Borrow.Rows, and the world's own look-ups"
	require.PanicsWithValue(t, "ecs: Borrow.Accessor"+everything, func() { ecstest.AccessorOf(b) })
	require.PanicsWithValue(t, "ecs: Borrow.Split"+everything, func() { ecstest.Split(b, nil, 64) })
	b.End()
}
