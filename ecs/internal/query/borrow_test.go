package query_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestBorrowRows: goroutines of a borrow see every row once, and what they write is there.
func TestBorrowRows(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	walk := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	plain := ecstest.CreateEach(ecs.NewArchetype(w, position, velocity), 3000)
	stunned := ecstest.CreateEach(ecs.NewArchetype(w, position, velocity, walk), 1000)
	for i, e := range stunned {
		if i%3 == 0 {
			walk.Disable(e)
		}
	}
	for _, e := range append(plain, stunned...) {
		velocity.Set(e, ecstest.Velocity{X: float64(e.Index())})
	}
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity), ecs.Without(walk))
	require.Equal(t, 3334, q.Count())
	l := ecstest.Lend(q, "job move")
	for range 3 {
		before := w.Advance()
		ecstest.Begin(l.Borrow)
		require.True(t, ecstest.Out(l.Borrow))
		l.Each(4, 100, func(_ *ecs.Accessor, rows ecs.Rows) {
			p, v, ids := position.Slice(rows), velocity.Slice(rows), rows.Entities()
			for i := range rows.Each() {
				if v[i].X != float64(ids[i].Index()) {
					t.Errorf("row %d has %v of %v", i, v[i], ids[i])
				}
				p[i].X += v[i].X
			}
		})
		l.End()
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
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	a := ecs.NewArchetype(w, position, velocity)
	e, doomed := a.Create(), ecstest.CreateEach(a, 2)
	reads := ecstest.Lend(ecs.NewQuery(w, ecs.Read(position)), "job read")
	writes := ecstest.Lend(ecs.NewQuery(w, ecs.Write(velocity)), "job write")
	for op, f := range map[string]func(){
		"Archetype.Create": func() { a.Create() },
		"World.Destroy":    func() { w.Destroy(doomed[0]) },
		"Component.Remove": func() { velocity.Remove(doomed[1]) },
	} {
		ecstest.Begin(reads.Borrow)
		ecstest.Begin(writes.Borrow)
		reads.Ops, writes.Ops = nil, nil
		f()
		require.Equal(t, []string{op}, reads.Ops[:1])
		require.False(t, ecstest.Out(reads.Borrow) || ecstest.Out(writes.Borrow))
	}
	require.True(t, w.Alive(e))
	require.NoError(t, w.Verify())
}

// TestBorrowLookups: goroutines of a borrow look up what it uses.
func TestBorrowLookups(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, position, velocity, hits), 2000)
	l := ecstest.Lend(ecs.NewQuery(w, ecs.Read(position)), "job aim", ecs.Write(velocity), ecs.Write(hits))
	ecstest.Begin(l.Borrow)
	l.Each(4, 64, func(r *ecs.Accessor, rows ecs.Rows) {
		v, h := velocity.Lookup(r), hits.Lookup(r)
		for _, e := range rows.Entities() {
			v.Set(e, ecstest.Velocity{X: float64(e.Index())})
			v.Mut(e).Y++
			b, _ := h.Mut(e)
			for i := range 20 {
				b.Append(ecstest.Hit{Damage: int32(i)})
			}
		}
	})
	l.End()
	for _, e := range ids {
		require.Equal(t, ecstest.Velocity{X: float64(e.Index()), Y: 1}, *velocity.Get(e))
		require.Len(t, hits.Slice(e), 20)
	}
	require.NoError(t, w.Verify())
}
