package ecs_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"

	"github.com/stretchr/testify/require"
)

// lender completes borrows: it is the scheduler of these tests.
type lender struct {
	borrow *ecs.Borrow
	wg     sync.WaitGroup
	ops    []string // that waited
}

func lend(q *ecs.Query, name string, uses ...ecs.Term) *lender {
	l := &lender{}
	l.borrow = door.NewBorrow(q, name, func(op string) {
		l.ops = append(l.ops, op)
		l.end()
	}, uses...)
	return l
}

func (l *lender) end() {
	l.wg.Wait()
	l.borrow.End()
}

// each runs f for every part that has rows that match, by some goroutines.
func (l *lender) each(workers, grain int, f func(r *ecs.Accessor, rows ecs.Rows)) {
	parts := l.borrow.Split(nil, grain)
	var next atomic.Int64
	for range workers {
		l.wg.Go(func() {
			r := l.borrow.Accessor()
			defer r.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(parts) {
					return
				}
				if rows, ok := r.Rows(parts[i]); ok {
					f(r, rows)
				}
			}
		})
	}
}

// TestBorrowRows: goroutines of a borrow see every row once, and what they write is there.
func TestBorrowRows(t *testing.T) {
	w := newWorld(t)
	position, velocity, walk := ecs.Register[Position](w), ecs.Register[Velocity](w), ecs.Register[Stun](w, ecs.Enableable)
	plain := createEach(ecs.NewArchetype(w, position, velocity), 3000)
	stunned := createEach(ecs.NewArchetype(w, position, velocity, walk), 1000)
	for i, e := range stunned {
		if i%3 == 0 {
			walk.Disable(e)
		}
	}
	for _, e := range append(plain, stunned...) {
		velocity.Set(e, Velocity{X: float64(e.Index())})
	}
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity), ecs.Without(walk))
	require.Equal(t, 3334, q.Count())
	l := lend(q, "job move")
	for range 3 {
		before := w.Advance()
		l.borrow.Begin()
		require.True(t, l.borrow.Active())
		l.each(4, 100, func(_ *ecs.Accessor, rows ecs.Rows) {
			p, v, ids := position.Slice(rows), velocity.Slice(rows), rows.Entities()
			for i := range rows.Each() {
				if v[i].X != float64(ids[i].Index()) {
					t.Errorf("row %d has %v of %v", i, v[i], ids[i])
				}
				p[i].X += v[i].X
			}
		})
		l.end()
		for rows := range q.Rows() {
			require.True(t, position.Changed(rows, before-1))
			require.False(t, velocity.Changed(rows, before-1))
		}
	}
	for _, e := range plain {
		require.Equal(t, 3*float64(e.Index()), position.Get(e).X)
	}
	for i, e := range stunned {
		want := 0.0
		if i%3 == 0 {
			want = 3 * float64(e.Index())
		}
		require.Equal(t, want, position.Get(e).X, "row %d", i)
	}
	require.NoError(t, w.Verify())
}

// TestBorrowStructuralChangesWait: they complete all borrows first, in the order in which
// those began.
func TestBorrowStructuralChangesWait(t *testing.T) {
	w := newWorld(t)
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	a := ecs.NewArchetype(w, position, velocity)
	e, doomed := a.Create(), createEach(a, 2)
	reads, writes := lend(ecs.NewQuery(w, ecs.Read(position)), "job read"), lend(ecs.NewQuery(w, ecs.Write(velocity)), "job write")
	for op, f := range map[string]func(){
		"Archetype.Create": func() { a.Create() },
		"World.Destroy":    func() { w.Destroy(doomed[0]) },
		"Component.Remove": func() { velocity.Remove(doomed[1]) },
	} {
		reads.borrow.Begin()
		writes.borrow.Begin()
		reads.ops, writes.ops = nil, nil
		f()
		require.Equal(t, []string{op}, reads.ops[:1])
		require.False(t, reads.borrow.Active() || writes.borrow.Active())
	}
	require.True(t, w.Alive(e))
	require.NoError(t, w.Verify())
}

// TestBorrowLookups: goroutines of a borrow look up what it uses.
func TestBorrowLookups(t *testing.T) {
	w := newWorld(t)
	position, velocity, hits := ecs.Register[Position](w), ecs.Register[Velocity](w), ecs.RegisterBuffer[Hit](w)
	ids := createEach(ecs.NewArchetype(w, position, velocity, hits), 2000)
	l := lend(ecs.NewQuery(w, ecs.Read(position)), "job aim", ecs.Write(velocity), ecs.Write(hits))
	l.borrow.Begin()
	l.each(4, 64, func(r *ecs.Accessor, rows ecs.Rows) {
		v, h := velocity.Lookup(r), hits.Lookup(r)
		for _, e := range rows.Entities() {
			v.Set(e, Velocity{X: float64(e.Index())})
			v.Mut(e).Y++
			b, _ := h.Mut(e)
			for i := range 20 {
				b.Append(Hit{Damage: int32(i)})
			}
		}
	})
	l.end()
	for _, e := range ids {
		require.Equal(t, Velocity{X: float64(e.Index()), Y: 1}, *velocity.Get(e))
		require.Len(t, hits.Slice(e), 20)
	}
	require.NoError(t, w.Verify())
}
