package edit_test

import (
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestSwapComponents trades the components of random pairs beside a model: each has what the other
// had, of every kind, and names, ids and the number of rows stay.
func TestSwapComponents(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, hits := ecs.Register[ecstest.Position](w), ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
	stun, text := ecs.Register[ecstest.Stun](w, ecs.Enableable), ecs.RegisterManaged[string](w)
	a := ecs.NewArchetype(w, position, hits, stun, text)
	type values struct {
		x    float64
		hits int
		on   bool
		text string
	}
	model := map[ecs.Entity]values{}
	random := rand.New(rand.NewPCG(29, 8))
	batch, err := a.CreateN(1500)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	for i, e := range ids {
		v := values{float64(i), random.IntN(5), random.IntN(2) == 0, string(rune('a' + i%26))}
		position.Set(e, ecstest.Position{X: v.x})
		hits.Append(e, make([]ecstest.Hit, v.hits)...)
		if !v.on {
			stun.Disable(e)
		}
		text.Set(e, v.text)
		model[e] = v
	}
	w.SetName(ids[3], "third")
	for round := range 600 {
		e, f := ids[random.IntN(len(ids))], ids[random.IntN(len(ids))]
		require.True(t, w.SwapComponents(e, f))
		model[e], model[f] = model[f], model[e]
		if round%100 == 0 {
			require.NoError(t, w.Verify())
		}
	}
	for e, v := range model {
		b, ok := hits.Get(e)
		require.True(t, ok)
		got := values{position.Get(e).X, b.Len(), stun.Enabled(e), *text.Get(e)}
		require.Equal(t, v, got, "%v", e)
	}
	require.Equal(t, "third", w.Name(ids[3]))
	require.Equal(t, len(ids), a.Len())
}

// TestSwapComponentsIsAChange: both chunks count as written and reordered, others do not; batches
// and views of before are stale.
func TestSwapComponentsIsAChange(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	batch, err := a.CreateN(5 * a.Plan().Rows)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	changed, ordered := ecs.NewQuery(w, ecs.Changed(position)), ecs.NewQuery(w, ecs.Ordered())
	chunks := func(q *ecs.Query) (list []int) {
		for rows := range q.Rows() {
			list = append(list, rows.Chunk())
		}
		return list
	}
	first, last := chunks(changed), len(ids)-1
	require.Equal(t, first, chunks(ordered))
	require.Greater(t, len(first), 4)
	require.True(t, w.SwapComponents(ids[0], ids[0]))
	require.Empty(t, chunks(changed), "nothing is done for one entity")
	require.True(t, w.SwapComponents(ids[0], ids[last]))
	require.Equal(t, []int{0, len(first) - 1}, chunks(changed))
	require.Equal(t, []int{0, len(first) - 1}, chunks(ordered))
	at, _ := w.Locate(ids[0])
	require.Equal(t, len(first)-1, at.Chunk)
	ecstest.RequirePanic(t, "the batch of", func() { batch.Entities(nil) })
}

// TestSwapComponentsRefuses: what cannot be swapped is refused by name, and nothing changes.
func TestSwapComponentsRefuses(t *testing.T) {
	m := ecstest.NewMisuse(t)
	other := m.Archetype.Create()
	dead := m.Archetype.Create()
	m.World.Destroy(dead)
	loner := ecs.NewArchetype(m.World, m.Position).Create()
	hash := m.World.Hash()
	require.False(t, m.World.SwapComponents(m.Entity, dead))
	require.False(t, m.World.SwapComponents(dead, m.Entity))
	require.False(t, m.World.SwapComponents(dead, dead))
	require.False(t, m.World.SwapComponents(ecs.Null, m.Entity))
	ecstest.RequirePanic(t, "are not of one archetype", func() { m.World.SwapComponents(m.Entity, loner) })
	ecstest.RequirePanic(t, "belongs to another world", func() { m.World.SwapComponents(m.Entity, m.Stranger) })
	ecstest.RequirePanic(t, "ecs: World.SwapComponents: structural change inside a loop",
		m.InLoop(func(ecs.Rows) { m.World.SwapComponents(m.Entity, other) }))
	p := m.World.Lend()
	ecstest.RequirePanic(t, "ecs: World.SwapComponents: the world is lent",
		func() { m.World.SwapComponents(m.Entity, other) })
	p.End()
	require.Equal(t, hash, m.World.Hash())
}
