package ecs_test

import (
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// span is what a loop shows of a chunk.
type span struct {
	entities []ecs.Entity
	mask     []uint64
	dense    bool
}

func spanOf(rows ecs.Rows) span {
	return span{append([]ecs.Entity(nil), rows.Entities()...), append([]uint64(nil), rows.Mask()...), rows.Dense()}
}

func spansByRows(q *ecs.Query) (list []span) {
	for rows := range q.Rows() {
		list = append(list, spanOf(rows))
	}
	return list
}

func spansByCursor(q *ecs.Query) (list []span) {
	for c := q.Cursor(); c.Next(); {
		list = append(list, spanOf(c.Rows()))
	}
	return list
}

// TestCursorIsRows compares cursors with loops by Rows, over queries of each kind.
func TestCursorIsRows(t *testing.T) {
	v := newViewed(t)
	mark := ecs.RegisterSparse[ecstest.Owner](v.w)
	for i := 0; i < len(v.list); i += 700 {
		mark.Add(v.list[i], ecstest.Owner{})
	}
	ecs.NewArchetype(v.w, v.position, v.owner) // without rows
	x := func(p *ecstest.Position) *float64 { return &p.X }
	for _, terms := range [][]ecs.Term{
		{ecs.Write(v.position)},
		{ecs.Read(v.position), ecs.Without(v.stun)},
		{ecs.Read(v.position), ecs.Read(v.velocity)},
		{ecs.Read(v.position), ecs.Disabled(v.velocity)},
		{ecs.Read(v.position), ecs.Optional(ecs.Read(v.velocity))},
		{ecs.Read(v.position), ecs.With(mark)},
		{ecs.Read(v.velocity), ecs.With(mark)},
		{ecs.Read(v.position), ecs.Without(mark)},
		{ecs.Read(v.position), ecs.Between(v.position, x, 1000, 4000)},
		{ecs.Read(v.position), ecs.Changed(v.position)},
		{ecs.Read(v.owner)},
	} {
		q := ecs.NewQuery(v.w, terms...)
		for turn := range 3 {
			since := q.Since()
			want := spansByRows(q)
			after := q.Since() // since advances with the world's version, which the second loop moves too
			q.SetSince(since)
			require.Equal(t, want, spansByCursor(q), "%v", q)
			require.Equal(t, after != since, q.Since() != since, "%v", q)
			require.False(t, door.Locked(v.w), "%v", q)
			v.position.Set(v.list[turn*4000], ecstest.Position{X: 2000})
		}
		c := q.Cursor()
		c.Close()
		require.False(t, c.Next())
		require.False(t, door.Locked(v.w), "%v", q)
		q.Close()
	}
}

func TestCursorLocks(t *testing.T) {
	v := newViewed(t)
	q := ecs.NewQuery(v.w, ecs.Write(v.position))
	c := q.Cursor()
	require.True(t, door.Locked(v.w), "from Cursor on")
	require.True(t, c.Next())
	rows := c.Rows()
	message := ecstest.PanicText(func() { v.w.Destroy(v.list[0]) })
	require.Contains(t, message, "inside a loop over "+q.String())
	require.Equal(t, debug.On, strings.Contains(message, "cursor_test.go:"), message)

	inner := q.Cursor()
	require.True(t, inner.Next())
	inner.Close()
	inner.Close()
	require.Equal(t, ecs.Rows{}, inner.Rows())
	require.Equal(t, rows, c.Rows(), "a loop inside does not end the one outside")
	require.True(t, c.Next())
	ecstest.PanicText(func() { v.position.Slice(rows) })
	for c.Next() {
	}
	require.Equal(t, ecs.Rows{}, c.Rows())

	late := q.Cursor() // by the same scan
	require.False(t, c.Next(), "the loop has ended, another one goes on")
	c.Close()
	require.True(t, door.Locked(v.w))
	require.True(t, late.Next())
	late.Close()
	require.NoError(t, v.w.Verify())
	v.w.Destroy(v.list[0])
}

// TestCursorOfLent loops while the world is lent, by a scan of the borrow.
func TestCursorOfLent(t *testing.T) {
	v := newViewed(t)
	q := ecs.NewQuery(v.w, ecs.Read(v.position))
	want := spansByRows(q)
	b := v.w.Lend()
	got := make(chan []span)
	for range 2 {
		go func() {
			c := q.Cursor()
			c.Next()
			c.Close()
			got <- spansByCursor(q)
		}()
	}
	require.Equal(t, want, <-got)
	require.Equal(t, want, <-got)
	b.End()
	require.False(t, door.Locked(v.w))
}
