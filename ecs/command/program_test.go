package command

import (
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestTerminology: a check makes the tree, the subjects and the links that program.go draws.
func TestTerminology(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer w.Close()
	body, wound, slowed := ecs.Register[position](w), ecs.Register[health](w), ecs.Register[slow](w)
	plain, slowBody := ecs.NewArchetype(w, body), ecs.NewArchetype(w, body, slowed)
	first, second, third := plain.Create(), slowBody.Create(), plain.Create()
	cb := NewBuffer(w)
	defer cb.Close()
	Add(cb, first, wound, health{3})
	Add(cb, second, wound, health{5})
	cb.Remove(second, slowed)
	Add(cb, third, wound, health{9})

	p := &cb.player
	p.begin(w, cb.streams, 0)
	require.NoError(t, p.check(place{}))
	hit := ecs.NewArchetype(w, body, wound)
	archetypes := []*ecs.Archetype{plain, hit, slowBody, ecs.NewArchetype(w, body, slowed, wound), hit}
	require.Len(t, p.nodes, len(archetypes))
	for n, parent := range []int32{-1, 0, -1, 2, 3} {
		require.Equal(t, archetypes[n], p.nodes[n].at, "node %d", n)
		require.Equal(t, parent, p.nodes[n].parent, "node %d", n)
	}
	add, remove := p.nodes[1].op, p.nodes[4].op
	require.Equal(t, []string{"Add", "Remove"}, []string{kindNames[p.ops[add].kind], kindNames[p.ops[remove].kind]})
	require.Equal(t, map[edge]int32{{0, add}: 1, {2, add}: 3, {3, remove}: 4}, p.edges)
	require.Equal(t, map[rootKey]int32{{at: plain}: 0, {at: slowBody}: 2}, p.roots)
	require.Equal(t, []int32{3, 4}, p.path(4), "from the child of the root on")

	s := &p.subjects
	require.Equal(t, []ecs.Entity{ecs.Null, first, second, third}, s.e)
	require.Equal(t, []int32{-1, 1, 4, 1}, s.node)
	require.Equal(t, []int32{-1, 0, 1, 3}, s.first)
	require.Equal(t, []int32{-1, 0, 2, 3}, s.last)
	next := []int32{-1, 2, -1, -1}
	require.Len(t, s.links, len(next))
	for l, entity := range []ecs.Entity{first, second, second, third} {
		require.Equal(t, next[l], s.links[l].next)
		require.Equal(t, entity, p.recordOf(int32(l)).e)
	}
	require.Equal(t, []int32{1, 2, 3}, []int32{p.last(first), p.last(second), p.last(third)})
	p.end()
	require.NoError(t, cb.Play())
}
