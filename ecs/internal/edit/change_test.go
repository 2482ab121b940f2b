package edit_test

import (
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// TestBatchIsALoopOfSingles is behaviour 21, with 19, 20 and 22: whatever is done by
// query or by list ends as when it is done entity by entity, and values, enable bits
// and buffers survive.
func TestBatchIsALoopOfSingles(t *testing.T) {
	steps := long.N(200, 1500) // of 14 operations, on up to 4,000 entities
	for _, growth := range []alloc.Growth{alloc.Fixed(1), alloc.Doubling().Capped(64)} {
		rng := rand.New(rand.NewPCG(5, 6))
		batch, single := ecstest.NewTwin(t, growth), ecstest.NewTwin(t, growth)
		for step := range steps {
			stepTwins(t, batch, single, rng)
			require.NoError(t, batch.World.Verify(), "step %d", step)
			if step%16 == 0 {
				require.NoError(t, single.World.Verify(), "step %d", step)
				compareTwins(t, batch, single)
			}
		}
	}
}

func compareTwins(t *testing.T, x *ecstest.Twin, y *ecstest.Twin) {
	require.Equal(t, y.World.Stats().Alive, x.World.Stats().Alive)
	mine := x.Queries[0].Entities(nil)
	seen := map[string]bool{}
	for _, e := range y.Queries[0].Entities(nil) {
		seen[y.Show(e)] = true
	}
	for _, e := range mine {
		require.True(t, seen[x.Show(e)], "%s", x.Show(e))
	}
	require.Len(t, mine, len(seen))
}

// stepTwins does one operation on both.
func stepTwins(t *testing.T, x *ecstest.Twin, y *ecstest.Twin, rng *rand.Rand) {
	q, c, set := rng.IntN(len(x.Queries)), rng.IntN(len(x.Changes)), rng.IntN(len(x.Sets))
	switch alive := x.World.Stats().Alive; rng.IntN(14) {
	case 0, 1, 2:
		if n := rng.IntN(700); alive < 4000 {
			x.Create(t, set, n)
			y.Create(t, set, n)
		}
	case 3, 4:
		b, err := x.Changes[c].ApplyQuery(x.Queries[q])
		require.NoError(t, err)
		require.Equal(t, b.Len(), applyEach(t, y, y.Queries[q].Entities(nil), y.Changes[c].Apply))
		require.Len(t, b.Entities(nil), b.Len())
	case 5, 6, 7:
		mine, theirs := someOfTwins(x, y, rng)
		b, err := x.Changes[c].ApplyList(mine)
		require.NoError(t, err)
		require.Equal(t, b.Len(), applyEach(t, y, theirs, y.Changes[c].Apply))
	case 8:
		b, err := ecs.Into(x.Sets[set]).ApplyQuery(x.Queries[q])
		require.NoError(t, err)
		require.Equal(t, b.Len(), applyEach(t, y, y.Queries[q].Entities(nil), ecs.Into(y.Sets[set]).Apply))
	case 9:
		mine, theirs := someOfTwins(x, y, rng)
		b, err := ecs.Into(x.Sets[set]).ApplyList(mine)
		require.NoError(t, err)
		require.Equal(t, b.Len(), applyEach(t, y, theirs, ecs.Into(y.Sets[set]).Apply))
	case 10:
		mine, theirs := someOfTwins(x, y, rng)
		mine = append(mine, ecs.Null)
		n := 0
		for _, e := range theirs {
			if y.World.Destroy(e) {
				n++
			}
		}
		require.Equal(t, n, x.World.DestroyList(mine))
	case 11:
		if alive > 2500 || rng.IntN(4) == 0 {
			list := y.Queries[q].Entities(nil)
			require.Equal(t, len(list), x.World.DestroyQuery(x.Queries[q]))
			for _, e := range list {
				require.True(t, y.World.Destroy(e))
			}
		}
	case 12:
		toggleTwins(t, x, y, q, rng)
	case 13:
		mine, theirs := someOfTwins(x, y, rng)
		require.Equal(t, x.Stun.DisableList(mine),
			applyEach(t, y, unique(theirs), func(e ecs.Entity) (bool, error) { return y.Stun.Disable(e), nil }))
		require.Equal(t, x.Flag.EnableList(mine),
			applyEach(t, y, unique(theirs), func(e ecs.Entity) (bool, error) { return y.Flag.Enable(e), nil }))
	}
}

func toggleTwins(t *testing.T, x *ecstest.Twin, y *ecstest.Twin, q int, rng *rand.Rand) {
	list := y.Queries[q].Entities(nil)
	switch rng.IntN(4) {
	case 0:
		require.Equal(t, x.Stun.EnableQuery(x.Queries[q]),
			applyEach(t, y, list, func(e ecs.Entity) (bool, error) { return y.Stun.Enable(e), nil }))
	case 1:
		require.Equal(t, x.Stun.DisableQuery(x.Queries[q]),
			applyEach(t, y, list, func(e ecs.Entity) (bool, error) { return y.Stun.Disable(e), nil }))
	case 2:
		require.Equal(t, x.Flag.EnableQuery(x.Queries[q]),
			applyEach(t, y, list, func(e ecs.Entity) (bool, error) { return y.Flag.Enable(e), nil }))
	case 3:
		require.Equal(t, x.Flag.DisableQuery(x.Queries[q]),
			applyEach(t, y, list, func(e ecs.Entity) (bool, error) { return y.Flag.Disable(e), nil }))
	}
}

// someOfTwins picks entities of both worlds, some of them twice; sometimes very few.
func someOfTwins(x *ecstest.Twin, y *ecstest.Twin, rng *rand.Rand) (mine, theirs []ecs.Entity) {
	of := map[string]ecs.Entity{}
	for _, e := range y.Queries[0].Entities(nil) {
		of[e.String()] = e
	}
	part := 1 + rng.IntN(10)
	if rng.IntN(3) == 0 {
		part = 1000
	}
	for _, e := range x.Queries[0].Entities(nil) {
		if rng.IntN(part) == 0 {
			mine = append(mine, e)
			if rng.IntN(9) == 0 {
				mine = append(mine, e)
			}
		}
	}
	if rng.IntN(2) == 0 {
		rng.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
	}
	for _, e := range mine {
		theirs = append(theirs, of[e.String()])
	}
	return mine, theirs
}

func unique(list []ecs.Entity) (out []ecs.Entity) {
	seen := map[ecs.Entity]bool{}
	for _, e := range list {
		if !seen[e] {
			out = append(out, e)
		}
		seen[e] = true
	}
	return out
}

func applyEach(t *testing.T, x *ecstest.Twin, list []ecs.Entity, f func(ecs.Entity) (bool, error)) (n int) {
	for _, e := range list {
		changed, err := f(e)
		require.NoError(t, err)
		if changed {
			n++
		}
	}
	return n
}

// TestChangeThatCannotBe adds a type to entities of several archetypes, in one of
// which a row would be too big: nothing is changed, and what was planned for the
// others is forgotten.
func TestChangeThatCannotBe(t *testing.T) {
	w := ecstest.NewWorld(t)
	small, big, more := ecs.Register[ecstest.Position](w), ecs.Register[[9000]byte](w), ecs.Register[[9001]byte](w)
	_, err := ecs.NewArchetype(w, small).CreateN(10)
	require.NoError(t, err)
	_, err = ecs.NewArchetype(w, big).CreateN(3)
	require.NoError(t, err)
	before, hash := w.Stats(), w.Hash()
	add, all := ecs.NewChange(w, ecs.Add(more)), ecs.NewQuery(w)
	for range 3 {
		_, err = add.ApplyQuery(all)
		require.ErrorIs(t, err, ecs.ErrLimit)
		require.ErrorContains(t, err, "ecs: Change.ApplyQuery: ")
		require.Equal(t, before, w.Stats())
		require.Equal(t, hash, w.Hash())
		require.NoError(t, w.Verify())
	}
	b, err := add.ApplyQuery(ecs.NewQuery(w, ecs.With(small)))
	require.NoError(t, err)
	require.Equal(t, 10, b.Len())
	require.Equal(t, 10, w.Stats().Chunks-before.Chunks,
		"a row of it fills a unit, and nothing is left of the failed ones")
	require.NoError(t, w.Verify())
}

// TestBatchOverSeveralArchetypes asks a batch's rows what they have.
func TestBatchOverSeveralArchetypes(t *testing.T) {
	x := ecstest.NewTwin(t, alloc.Fixed(1))
	x.Create(t, 1, 5) // position, stun
	x.Create(t, 2, 7) // tag, flag
	b, err := ecs.NewChange(x.World, ecs.Add(x.Health)).ApplyQuery(x.Queries[0])
	require.NoError(t, err)
	require.Equal(t, 12, b.Len())
	with, without := 0, 0
	for rows := range b.Rows() {
		require.True(t, x.Health.In(rows))
		require.Len(t, x.Health.Slice(rows), rows.Len())
		require.False(t, x.Hits.In(rows))
		if x.Position.In(rows) {
			with += rows.Len()
		} else {
			without += rows.Len()
		}
	}
	require.Equal(t, []int{5, 7}, []int{with, without})
}
