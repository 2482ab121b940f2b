package hierarchy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
)

// checkLevels compares levels with the links: each entity of the query once, in the place where its
// row is, one level behind its parent, and children adjacent, in order.
func checkLevels(t *testing.T, w *ecs.World, h *hierarchy.Hierarchy, l *hierarchy.Levels) {
	entities, nodes, parents := l.Entities(), l.Nodes(), l.Parents()
	rows := map[hierarchy.Place]ecs.Entity{}
	chunk := int32(0)
	for r := range l.Query().Rows() {
		for i := range r.Each() {
			rows[hierarchy.Place{Chunk: chunk, Row: int32(i)}] = r.Entities()[i]
		}
		chunk++
	}
	require.Len(t, entities, len(rows))
	require.Len(t, nodes, len(rows))
	level := make([]int, len(nodes))
	for n, end := 0, 0; n < l.Len(); n++ {
		lo, hi := l.Level(n)
		require.Equal(t, end, lo)
		require.Less(t, lo, hi)
		for p := lo; p < hi; p++ {
			level[p] = n
		}
		end = hi
	}
	in := map[ecs.Entity]bool{}
	for _, e := range entities {
		in[e] = true
	}
	require.Len(t, in, len(entities))
	for p, e := range entities {
		require.Equal(t, e, rows[nodes[p]])
		require.Equal(t, p, l.Position(e))
		up := h.Parent(e)
		if !in[up] {
			require.Equal(t, int32(-1), parents[p])
			require.Zero(t, level[p])
		} else {
			require.Equal(t, up, entities[parents[p]])
			require.Equal(t, level[parents[p]]+1, level[p])
		}
		var want []ecs.Entity
		for c := range h.Children(e) {
			if in[c] {
				want = append(want, c)
			}
		}
		lo, hi := l.Children(p)
		require.Equal(t, len(want), hi-lo)
		for i, c := range want {
			require.Equal(t, c, entities[lo+i])
		}
	}
	require.Equal(t, -1, l.Position(ecs.Null))
	checkRuns(t, l)
}

// checkRuns compares the runs with nodes and parents: they are all nodes, and none could be longer.
func checkRuns(t *testing.T, l *hierarchy.Levels) {
	nodes, p := l.Nodes(), 0
	upOf := func(p int) hierarchy.Place {
		if up := l.Parents()[p]; up >= 0 {
			return nodes[up]
		}
		return hierarchy.Place{Chunk: -1}
	}
	next := func(p int) hierarchy.Place { return hierarchy.Place{Chunk: nodes[p].Chunk, Row: nodes[p].Row + 1} }
	for _, r := range l.Runs() {
		require.Equal(t, p, int(r.Position))
		require.Equal(t, nodes[p], r.At)
		require.Positive(t, r.Len)
		require.False(t, p > 0 && upOf(p-1) == r.Up && next(p-1) == r.At)
		for i := range int(r.Len) {
			require.Equal(t, r.Up, upOf(p+i))
			require.Equal(t, hierarchy.Place{Chunk: r.At.Chunk, Row: r.At.Row + int32(i)}, nodes[p+i])
		}
		p += int(r.Len)
	}
	require.Equal(t, len(nodes), p)
}

// TestLevelsOfBrokenLinks: a child that is in a list twice, or in that of another, is one node.
func TestLevelsOfBrokenLinks(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	h := hierarchy.New(w)
	names := ecs.Register[struct{ N int32 }](w)
	var e [4]ecs.Entity
	for i := range e {
		e[i] = ecs.NewArchetype(w, names, h.ChildType()).Create()
	}
	require.NoError(t, h.SetParent(e[1], e[0]))
	require.NoError(t, h.SetParent(e[2], e[0]))
	for _, parent := range []ecs.Entity{e[0], e[3]} {
		list, ok := h.ChildType().Mut(parent)
		require.True(t, ok)
		list.Append(hierarchy.Child{Entity: e[1]})
	}
	l := h.NewLevels(ecs.Read(names))
	defer l.Close()
	l.Refresh()
	require.Equal(t, []ecs.Entity{e[0], e[3], e[1], e[2]}, l.Entities())
	require.Equal(t, []int32{-1, -1, 0, 0}, l.Parents())
	checkRuns(t, l)
}

// TestLevels: levels are right after links, births, deaths and moves of rows, and are made anew
// only then.
func TestLevels(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	h := hierarchy.New(w)
	type name struct{ N int32 }
	names, tags := ecs.Register[name](w), ecs.Register[struct{ A, B int64 }](w)
	l := h.NewLevels(ecs.Read(names))
	defer l.Close()
	require.True(t, l.Refresh())
	require.Zero(t, l.Len())
	require.False(t, l.Refresh())
	r := rand.New(rand.NewPCG(5, 6))
	var all []ecs.Entity
	kept, anew := 0, 0
	for step := range 2000 {
		pick := func() ecs.Entity {
			if len(all) == 0 {
				return ecs.Null
			}
			return all[r.IntN(len(all))]
		}
		rowsMove := true
		switch e := pick(); r.IntN(8) {
		case 0, 1:
			types := []ecs.Type{names}
			if r.IntN(3) == 0 {
				types = []ecs.Type{tags}
			}
			e = ecs.NewArchetype(w, types...).Create()
			if p := pick(); w.Alive(p) {
				require.NoError(t, h.SetParent(e, p))
			}
			all = append(all, e)
		case 2:
			_ = h.SetParent(e, pick())
		case 3:
			if w.Alive(e) && !tags.Remove(e) {
				tags.Add(e, struct{ A, B int64 }{1, 2})
			}
		case 4:
			if r.IntN(3) == 0 {
				w.Destroy(e)
			}
		case 5:
			if w.Alive(e) {
				_ = h.SetParent(e, ecs.Null)
			}
		default:
			names.Set(e, name{int32(step)})
			rowsMove = false
		}
		made := l.Refresh()
		if made {
			anew++
		} else {
			kept++
		}
		require.False(t, made && !rowsMove)
		require.False(t, l.Refresh())
		if step%7 == 0 {
			checkLevels(t, w, h, l)
			for _, e := range all {
				require.Equal(t, w.Alive(e) && names.Has(e), l.Position(e) >= 0)
			}
		}
	}
	require.Greater(t, kept, 300)
	require.Greater(t, anew, 300)
	checkLevels(t, w, h, l)
	columns := hierarchy.Columns(l, names, nil)
	for p, e := range l.Entities() {
		at := l.Nodes()[p]
		require.Same(t, names.Get(e), &columns[at.Chunk][at.Row])
	}
	borrow := w.Lend()
	require.PanicsWithValue(t, "hierarchy: Levels.Refresh: the world is lent; refresh before World.Lend",
		func() { l.Refresh() })
	borrow.End()
}
