package ecs_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/seam"
)

// TestBehaviour39ParallelReaders: goroutines that loop over the same query in a phase
// each see all rows once.
func TestBehaviour39ParallelReaders(t *testing.T) {
	w := newWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, velocity, stun := ecs.Register[Position](w), ecs.Register[Velocity](w), ecs.Register[Stun](w, ecs.Enableable)
	ids := createEach(ecs.NewArchetype(w, position, stun), 3000)
	ids = append(ids, createEach(ecs.NewArchetype(w, position, velocity), 3000)...)
	want := map[ecs.Entity]bool{}
	for i, e := range ids {
		position.Set(e, Position{X: float64(e.Index())})
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
						if seen[e] || !want[e] || x[i].X != float64(e.Index()) || position.Get(e) != &x[i] || !w.Alive(e) {
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

// TestPhaseRefuses: in a phase nothing is written, and nothing changes that goroutines
// read; each call says what to do, and changes nothing.
func TestPhaseRefuses(t *testing.T) {
	m := newMisuse(t)
	batch, err := m.a.CreateN(3)
	require.NoError(t, err)
	view, _ := m.hits.Mut(m.e)
	view.Append(Hit{Damage: 1})
	reads := ecs.NewQuery(m.w, ecs.Read(m.position), ecs.Changed(m.position))
	p := m.w.Share()
	shared := ": the world is shared; call Phase.End first"
	readOnly := ": the world is shared: until Phase.End components are only read"
	hash, version := m.w.Hash(), m.w.Version()
	for text, f := range map[string]func(){
		"ecs: World.Share" + shared:       func() { m.w.Share() },
		"ecs: World.Close" + shared:       func() { m.w.Close() },
		"ecs: World.Advance" + shared:     func() { m.w.Advance() },
		"ecs: Query.Close" + shared:       reads.Close,
		"ecs: Query.SetSince" + shared:    func() { reads.SetSince(1) },
		"ecs: seam.PinSince" + shared:     func() { seam.PinSince(reads, 1) },
		"ecs: Archetype.Create" + shared:  func() { m.a.Create() },
		"ecs: Archetype.CreateN" + shared: func() { _, _ = m.a.CreateN(1) },
		"ecs: World.Destroy" + shared:     func() { m.w.Destroy(m.e) },
		"ecs: Component.Add" + shared:     func() { m.velocity.Add(m.e, Velocity{}) },
		"ecs: Component.Remove" + shared:  func() { m.velocity.Remove(m.e) },
		"ecs: Buffer.Add" + shared:        func() { m.hits.Add(m.e) },
		"ecs: NewArchetype" + shared:      func() { ecs.NewArchetype(m.w, m.velocity) },
		"ecs: Register[Health]" + shared:  func() { ecs.Register[Health](m.w) },
		"ecs: Component.Mut" + readOnly:   func() { m.position.Mut(m.e) },
		"ecs: Component.Set" + readOnly:   func() { m.position.Set(m.e, Position{}) },
		"ecs: Buffer.Mut" + readOnly:      func() { m.hits.Mut(m.e) },
		"ecs: Buffer.Append" + readOnly:   func() { m.hits.Append(m.e, Hit{}) },
		"ecs: Query.Rows" + readOnly:      m.inLoop(func(ecs.Rows) { t.Error("a loop that may write") }),
		"ecs: Component.SetValues" + readOnly: func() {
			_ = m.position.SetValues(m.q, make([]Position, m.q.Count()))
		},
		"ecs: Batch.Rows" + readOnly: func() {
			for range batch.Rows() {
				t.Error("a batch's rows may be written")
			}
		},
		"ecs: DynamicBuffer.Append" + readOnly: func() { view.Append(Hit{}) },
		"ecs: DynamicBuffer.Clear" + readOnly:  func() { view.Clear() },
	} {
		require.PanicsWithValue(t, text, f)
		require.NoError(t, m.w.Verify(), "after %s", text)
		require.Equal(t, hash, m.w.Hash(), "after %s", text)
		require.Equal(t, version, m.w.Version(), "after %s", text)
	}
	require.Same(t, m.a, ecs.NewArchetype(m.w, m.stun, m.hits, m.position, m.velocity), "one that exists is only looked up")
	require.Equal(t, m.position, ecs.Register[Position](m.w))
	require.Equal(t, []Hit{{Damage: 1}}, view.Slice())
	p.End()
	m.a.Create()
}

// TestPhaseLoopsRefuse: what loops of a phase refuse, and a phase that has ended.
func TestPhaseLoopsRefuse(t *testing.T) {
	m := newMisuse(t)
	reads := ecs.NewQuery(m.w, ecs.Read(m.position), ecs.Changed(m.position))
	strange, closed := ecs.NewQuery(m.other), ecs.NewQuery(m.w)
	closed.Close()
	p := m.w.Share()
	each := func(q *ecs.Query) func() { return func() { p.Rows(q)(func(ecs.Rows) bool { return true }) } }
	hash, version := m.w.Hash(), m.w.Version()
	for text, f := range map[string]func(){
		"ecs: Phase.Rows: query(Write Position, Read []Hit, With Stun) declares Write; goroutines that share a world may only read it": each(m.q),
		"ecs: Phase.Rows: query() is of another world": each(strange),
		"ecs: Phase.Rows: query() is closed":           each(closed),
		"ecs: Component.Slice: query(Read Position, Changed Position) does not declare Velocity: add ecs.Read or ecs.Write": func() {
			for rows := range p.Rows(reads) {
				m.velocity.Slice(rows)
			}
		},
		"ecs: Component.Mark: query(Read Position, Changed Position) declares Position to read: use ecs.Write": func() {
			for rows := range p.Rows(reads) {
				m.position.Mark(rows)
			}
		},
		"ecs: Phase.End: loops under way: 2; wait for their goroutines first": func() {
			for range p.Rows(reads) {
				for range p.Rows(reads) {
					p.End()
				}
			}
		},
		"ecs: Phase.End: loops under way: 1; wait for their goroutines first": func() {
			for range reads.Rows() {
				p.End()
			}
		},
	} {
		require.PanicsWithValue(t, text, f)
		require.NoError(t, m.w.Verify(), "after %s", text)
		require.Equal(t, hash, m.w.Hash(), "after %s", text)
		require.Equal(t, version, m.w.Version(), "after %s", text)
	}
	p.End()
	ended := func() {
		for range p.Rows(reads) {
			t.Error("the phase has ended")
		}
	}
	require.PanicsWithValue(t, "ecs: Phase.Rows: the phase has ended", ended)
	require.PanicsWithValue(t, "ecs: Phase.End: the phase has ended", p.End)
	again := m.w.Share()
	require.PanicsWithValue(t, "ecs: Phase.Rows: the phase has ended", ended)
	require.PanicsWithValue(t, "ecs: Phase.End: the phase has ended", p.End)
	again.End()
	for range m.q.Rows() {
		require.PanicsWithValue(t, "ecs: World.Share: inside a loop over query(Write Position, Read []Hit, With Stun); begin the phase outside of loops",
			func() { m.w.Share() })
	}
	m.a.Create()
}

// TestPhaseRowsAreStale: rows kept from a phase's loop are caught, in the phase and
// after it.
func TestPhaseRowsAreStale(t *testing.T) {
	w, position, _, _ := movers(t, 10)
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

// TestPhaseOfClosedWorld: Share says that the world is closed.
func TestPhaseOfClosedWorld(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.PanicsWithValue(t, "ecs: World.Share: the world is closed", func() { w.Share() })
}

// TestChangedInPhase: Changed and Ordered compare with Since, which stays, so every
// goroutine sees the same; toggles in a phase count as written since.
func TestChangedInPhase(t *testing.T) {
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

// TestPanicInPhaseLoop: a loop that panics or breaks is no longer under way.
func TestPanicInPhaseLoop(t *testing.T) {
	w, position, _, a := movers(t, 10)
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
