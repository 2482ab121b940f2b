package ecs_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// placed is a view of all kinds of fields that a cursor keeps ready.
type placed struct {
	E []ecs.Entity
	P ecs.W[ecstest.Position]
	S ecs.R[ecstest.Stun] `ecs:"optional"`
}

// hit is one with a field that it does not.
type hit struct {
	P ecs.R[ecstest.Position]
	H ecs.BufferW[ecstest.Hit]
}

// span is what a loop shows of a chunk.
type span struct {
	entities []ecs.Entity
	mask     []uint64
	dense    bool
	position *ecstest.Position
	stun     []ecstest.Stun
}

func spanOf(rows ecs.Rows, m placed) span {
	return span{append([]ecs.Entity(nil), rows.Entities()...), append([]uint64(nil), rows.Mask()...), rows.Dense(),
		&m.P[0], m.S}
}

func spansByRows(v *ecs.View[placed]) (list []span) {
	for rows, m := range v.Rows() {
		list = append(list, spanOf(rows, m))
	}
	return list
}

func spansByCursor(v *ecs.View[placed]) (list []span) {
	for c := v.Cursor(); c.Next(); {
		list = append(list, spanOf(c.Rows(), *c.At()))
	}
	return list
}

// TestCursorIsRows compares cursors with loops by Rows, over views of each kind of term.
func TestCursorIsRows(t *testing.T) {
	v := newViewed(t)
	mark := ecs.RegisterSparse[ecstest.Owner](v.w)
	for i := 0; i < len(v.list); i += 700 {
		mark.Add(v.list[i], ecstest.Owner{})
	}
	ecs.NewArchetype(v.w, v.position, v.owner) // without rows
	x := func(p *ecstest.Position) *float64 { return &p.X }
	for _, terms := range [][]ecs.Term{
		nil,
		{ecs.Without(v.hits)},
		{ecs.Read(v.velocity)},
		{ecs.Disabled(v.velocity)},
		{ecs.Optional(ecs.Read(v.velocity))},
		{ecs.With(mark)},
		{ecs.Without(mark)},
		{ecs.Between(v.position, x, 1000, 4000)},
		{ecs.Changed(v.position)},
		{ecs.Read(v.owner)},
	} {
		m := ecs.NewView[placed](v.w, terms...)
		q := m.Query()
		for turn := range 3 {
			since := q.Since()
			want := spansByRows(m)
			after := q.Since() // since advances with the world's version, which the second loop moves too
			q.SetSince(since)
			require.Equal(t, want, spansByCursor(m), "%v", q)
			require.Equal(t, after != since, q.Since() != since, "%v", q)
			require.False(t, door.Locked(v.w), "%v", q)
			v.position.Set(v.list[turn*4000], ecstest.Position{X: 2000})
		}
		c := m.Cursor()
		c.Close()
		require.False(t, c.Next())
		require.Nil(t, c.At())
		require.False(t, door.Locked(v.w), "%v", q)
		q.Close()
		require.Contains(t, ecstest.PanicText(func() { m.Cursor() }), "ecs: View.Cursor: ")
	}
	hits := ecs.NewView[hit](v.w)
	n := 0
	for c := hits.Cursor(); c.Next(); {
		c.At().H.At(0).Append(ecstest.Hit{Damage: 3})
		n += c.Rows().Len()
	}
	require.Equal(t, 6000, n)
	require.NoError(t, v.w.Verify())
}

// TestCursorFollows changes a world at random between loops, whose chunks come, go, grow and move,
// and compares what a cursor shows and marks with a loop by Rows.
func TestCursorFollows(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, stun := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Stun](w)
	types := append([]ecs.Type{stun}, ecstest.LabelsOf(w, 4)...)
	m, r := ecs.NewView[placed](w), rand.New(rand.NewPCG(5, 6))
	var list []ecs.Entity
	var past *ecs.Snapshot
	for turn := range 400 {
		switch r.IntN(8) {
		case 0, 1, 2:
			of := []ecs.Type{position}
			for _, label := range types {
				if r.IntN(2) == 0 {
					of = append(of, label)
				}
			}
			a := ecs.NewArchetype(w, of...)
			list = append(list, a.Create())
			if r.IntN(3) == 0 {
				batch, err := a.CreateN(r.IntN(2000))
				require.NoError(t, err)
				for rows := range batch.Rows() {
					list = append(list, rows.Entities()...)
				}
			}
		case 3, 4:
			for range min(len(list), 1+r.IntN(300)) {
				i := r.IntN(len(list))
				w.Destroy(list[i])
				list[i] = list[len(list)-1]
				list = list[:len(list)-1]
			}
		case 5:
			if len(list) > 0 {
				e := list[r.IntN(len(list))]
				if !stun.Remove(e) {
					stun.Add(e, ecstest.Stun{Left: 1})
				}
			}
		case 6:
			w.Shrink(time.Second)
		case 7:
			if past == nil {
				past = w.Snapshot()
			} else {
				past.Close()
				past = nil
			}
		}
		since := w.Version()
		w.Advance()
		seen, most := map[ecs.Entity]bool{}, r.IntN(20)
		for c := m.Cursor(); c.Next(); {
			for _, e := range c.At().E {
				seen[e] = true
			}
			if most--; most == 0 {
				c.Close()
				break
			}
		}
		for _, e := range list {
			require.Equal(t, seen[e], position.ChangedSince(e, since), "turn %d", turn)
		}
		require.Equal(t, spansByRows(m), spansByCursor(m), "turn %d", turn)
	}
	if past != nil {
		past.Close()
	}
}

func TestCursorLocks(t *testing.T) {
	v := newViewed(t)
	m := ecs.NewView[placed](v.w)
	q := m.Query()
	c := m.Cursor()
	require.True(t, door.Locked(v.w), "from Cursor on")
	require.True(t, c.Next())
	rows := c.Rows()
	message := ecstest.PanicText(func() { v.w.Destroy(v.list[0]) })
	require.Contains(t, message, "inside a loop over "+q.String())
	require.Equal(t, debug.On, strings.Contains(message, "cursor_test.go:"), message)

	inner := m.Cursor()
	require.True(t, inner.Next())
	ecs.NewArchetype(v.w, v.position, v.owner) // which matches, without rows
	again := m.Cursor()
	require.True(t, again.Next())
	again.Close()
	inner.Close()
	inner.Close()
	require.Equal(t, ecs.Rows{}, inner.Rows())
	require.Nil(t, inner.At())
	require.Equal(t, rows, c.Rows(), "a loop inside does not end the one outside")
	require.True(t, c.Next())
	ecstest.PanicText(func() { v.position.Slice(rows) })
	for c.Next() {
	}
	require.Equal(t, ecs.Rows{}, c.Rows())

	late := m.Cursor() // by the same scan
	require.Nil(t, late.At(), "before Next")
	require.False(t, c.Next(), "the loop has ended, another one goes on")
	c.Close()
	require.True(t, door.Locked(v.w))
	require.True(t, late.Next())
	late.Close()
	require.NoError(t, v.w.Verify())
	v.w.Destroy(v.list[0])
}

// TestCursorLeftInside: debug builds name the inner loop where it was left without Close.
func TestCursorLeftInside(t *testing.T) {
	if !debug.On {
		t.Skip("release builds do not look")
	}
	v := newViewed(t)
	m := ecs.NewView[placed](v.w)
	c := m.Cursor()
	require.True(t, c.Next())
	inner := m.Cursor()
	message := ecstest.PanicText(func() {
		for c.Next() {
		}
	})
	require.Contains(t, message, "ecs: a loop goes on or ends before one that began in it has ended: it is inside ")
	require.Contains(t, message, "cursor_test.go:")
	inner.Close()
}

// TestCursorOfLent loops while the world is lent, by a scan of the borrow.
func TestCursorOfLent(t *testing.T) {
	v := newViewed(t)
	type readers struct{ P ecs.R[ecstest.Position] }
	m := ecs.NewView[readers](v.w)
	var want []int
	for rows := range m.Rows() {
		want = append(want, rows.Len())
	}
	b := v.w.Lend()
	got := make(chan []int)
	for range 2 {
		go func() {
			c := m.Cursor()
			c.Next()
			c.Close()
			var list []int
			for c := m.Cursor(); c.Next(); {
				list = append(list, len(c.At().P))
			}
			got <- list
		}()
	}
	require.Equal(t, want, <-got)
	require.Equal(t, want, <-got)
	b.End()
	require.False(t, door.Locked(v.w))
}

func TestZeroCursor(t *testing.T) {
	var c ecs.Cursor[placed]
	require.Nil(t, c.At())
	for _, call := range []func(){func() { c.Next() }, func() { c.Rows() }, c.Close} {
		require.Contains(t, ecstest.PanicText(call), "ecs: Cursor: the cursor is the zero value")
	}
	var m *ecs.View[placed]
	require.Contains(t, ecstest.PanicText(func() { m.Cursor() }), "ecs: View.Cursor: the view is nil")
}
