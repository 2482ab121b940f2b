package ecs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// twin is one of two worlds that get the same operations: one in batches, the other
// entity by entity.
type twin struct {
	w        *ecs.World
	position ecs.Component[Position]
	health   ecs.Component[Health]
	stun     ecs.Component[Stun] // Enableable
	tag      ecs.Component[Tag]
	flag     ecs.Component[flagged] // Enableable, without storage
	hits     ecs.Buffer[Hit]
	queries  []*ecs.Query
	changes  []*ecs.Change
	sets     []*ecs.Archetype
}

type flagged struct{}

func newTwin(t *testing.T, growth alloc.Growth) *twin {
	w := newWorld(t, ecs.ChunkGrowth(growth))
	x := &twin{w: w, position: ecs.Register[Position](w), health: ecs.Register[Health](w),
		stun: ecs.Register[Stun](w, ecs.Enableable), tag: ecs.Register[Tag](w),
		flag: ecs.Register[flagged](w, ecs.Enableable), hits: ecs.RegisterBuffer[Hit](w, ecs.Inline(1))}
	x.queries = []*ecs.Query{
		ecs.NewQuery(w), ecs.NewQuery(w, ecs.With(x.position)), ecs.NewQuery(w, ecs.With(x.stun)),
		ecs.NewQuery(w, ecs.Disabled(x.stun)), ecs.NewQuery(w, ecs.Present(x.flag), ecs.Without(x.tag)),
		ecs.NewQuery(w, ecs.With(x.hits)), ecs.NewQuery(w, ecs.Any(x.flag, x.stun)), ecs.NewQuery(w, ecs.With(x.tag), ecs.Absent(x.health)),
	}
	x.changes = []*ecs.Change{
		ecs.NewChange(w, ecs.Add(x.tag)), ecs.NewChange(w, ecs.Remove(x.tag)), ecs.NewChange(w, ecs.Add(x.flag), ecs.Remove(x.tag)),
		ecs.NewChange(w, ecs.Remove(x.flag)), ecs.NewChange(w, ecs.Add(x.health, x.stun)), ecs.NewChange(w, ecs.Remove(x.health, x.hits)),
		ecs.NewChange(w, ecs.Add(x.hits), ecs.Remove(x.position, x.stun)), ecs.NewChange(w, ecs.Add(x.position)), ecs.NewChange(w),
	}
	x.sets = []*ecs.Archetype{ecs.NewArchetype(w), ecs.NewArchetype(w, x.position, x.stun), ecs.NewArchetype(w, x.tag, x.flag),
		ecs.NewArchetype(w, x.position, x.stun, x.health, x.hits), ecs.NewArchetype(w, x.position, x.stun, x.flag)}
	return x
}

// create makes n entities with values that follow from their ids.
func (x *twin) create(t *testing.T, set, n int) {
	b, err := x.sets[set].CreateN(n)
	require.NoError(t, err)
	for _, e := range b.Entities(nil) {
		i := float64(e.Index())
		x.position.Set(e, Position{i, float64(e.Version())})
		x.health.Set(e, Health{HP: int32(e.Index()), Max: 7})
		if e.Index()%3 == 0 {
			x.stun.Disable(e)
		}
		if e.Index()%5 == 0 {
			x.flag.Disable(e)
		}
		for range e.Index() % 4 {
			x.hits.Append(e, Hit{By: ecs.Null, Damage: int32(e.Index())})
		}
	}
}

// show tells all of an entity.
func (x *twin) show(e ecs.Entity) string {
	text := fmt.Sprint(e, x.tag.Has(e), x.flag.Has(e), x.flag.Enabled(e), x.stun.Has(e), x.stun.Enabled(e))
	if p := x.position.Get(e); p != nil {
		text += fmt.Sprint(" position ", *p)
	}
	if h := x.health.Get(e); h != nil {
		text += fmt.Sprint(" health ", *h)
	}
	if b, ok := x.hits.Get(e); ok {
		text += fmt.Sprint(" hits ", b.Slice())
	}
	return text
}

// TestBatchIsALoopOfSingles is behaviour 21, with 19, 20 and 22: whatever is done by
// query or by list ends as when it is done entity by entity, and values, enable bits
// and buffers survive.
func TestBatchIsALoopOfSingles(t *testing.T) {
	steps := long.N(200, 1500) // of 14 operations, on up to 4,000 entities
	for _, growth := range []alloc.Growth{alloc.Fixed(1), alloc.Doubling().Capped(64)} {
		rng := rand.New(rand.NewPCG(5, 6))
		batch, single := newTwin(t, growth), newTwin(t, growth)
		for step := range steps {
			batch.step(t, single, rng)
			require.NoError(t, batch.w.Verify(), "step %d", step)
			if step%16 == 0 {
				require.NoError(t, single.w.Verify(), "step %d", step)
				batch.compare(t, single)
			}
		}
	}
}

func (x *twin) compare(t *testing.T, y *twin) {
	require.Equal(t, y.w.Stats().Alive, x.w.Stats().Alive)
	mine := x.queries[0].Entities(nil)
	seen := map[string]bool{}
	for _, e := range y.queries[0].Entities(nil) {
		seen[y.show(e)] = true
	}
	for _, e := range mine {
		require.True(t, seen[x.show(e)], "%s", x.show(e))
	}
	require.Len(t, mine, len(seen))
}

// step does one operation on both.
func (x *twin) step(t *testing.T, y *twin, rng *rand.Rand) {
	q, c, set := rng.IntN(len(x.queries)), rng.IntN(len(x.changes)), rng.IntN(len(x.sets))
	switch alive := x.w.Stats().Alive; rng.IntN(14) {
	case 0, 1, 2:
		if n := rng.IntN(700); alive < 4000 {
			x.create(t, set, n)
			y.create(t, set, n)
		}
	case 3, 4:
		b, err := x.changes[c].ApplyQuery(x.queries[q])
		require.NoError(t, err)
		require.Equal(t, b.Len(), y.each(t, y.queries[q].Entities(nil), y.changes[c].Apply))
		require.Len(t, b.Entities(nil), b.Len())
	case 5, 6, 7:
		mine, theirs := x.some(y, rng)
		b, err := x.changes[c].ApplyList(mine)
		require.NoError(t, err)
		require.Equal(t, b.Len(), y.each(t, theirs, y.changes[c].Apply))
	case 8:
		b, err := ecs.Into(x.sets[set]).ApplyQuery(x.queries[q])
		require.NoError(t, err)
		require.Equal(t, b.Len(), y.each(t, y.queries[q].Entities(nil), ecs.Into(y.sets[set]).Apply))
	case 9:
		mine, theirs := x.some(y, rng)
		b, err := ecs.Into(x.sets[set]).ApplyList(mine)
		require.NoError(t, err)
		require.Equal(t, b.Len(), y.each(t, theirs, ecs.Into(y.sets[set]).Apply))
	case 10:
		mine, theirs := x.some(y, rng)
		mine = append(mine, ecs.Null)
		n := 0
		for _, e := range theirs {
			if y.w.Destroy(e) {
				n++
			}
		}
		require.Equal(t, n, x.w.DestroyList(mine))
	case 11:
		if alive > 2500 || rng.IntN(4) == 0 {
			list := y.queries[q].Entities(nil)
			require.Equal(t, len(list), x.w.DestroyQuery(x.queries[q]))
			for _, e := range list {
				require.True(t, y.w.Destroy(e))
			}
		}
	case 12:
		x.toggle(t, y, q, rng)
	case 13:
		mine, theirs := x.some(y, rng)
		require.Equal(t, x.stun.DisableList(mine), y.each(t, unique(theirs), func(e ecs.Entity) (bool, error) { return y.stun.Disable(e), nil }))
		require.Equal(t, x.flag.EnableList(mine), y.each(t, unique(theirs), func(e ecs.Entity) (bool, error) { return y.flag.Enable(e), nil }))
	}
}

func (x *twin) toggle(t *testing.T, y *twin, q int, rng *rand.Rand) {
	list := y.queries[q].Entities(nil)
	switch rng.IntN(4) {
	case 0:
		require.Equal(t, x.stun.EnableQuery(x.queries[q]), y.each(t, list, func(e ecs.Entity) (bool, error) { return y.stun.Enable(e), nil }))
	case 1:
		require.Equal(t, x.stun.DisableQuery(x.queries[q]), y.each(t, list, func(e ecs.Entity) (bool, error) { return y.stun.Disable(e), nil }))
	case 2:
		require.Equal(t, x.flag.EnableQuery(x.queries[q]), y.each(t, list, func(e ecs.Entity) (bool, error) { return y.flag.Enable(e), nil }))
	case 3:
		require.Equal(t, x.flag.DisableQuery(x.queries[q]), y.each(t, list, func(e ecs.Entity) (bool, error) { return y.flag.Disable(e), nil }))
	}
}

// some picks entities of both worlds, some of them twice; sometimes very few.
func (x *twin) some(y *twin, rng *rand.Rand) (mine, theirs []ecs.Entity) {
	of := map[string]ecs.Entity{}
	for _, e := range y.queries[0].Entities(nil) {
		of[e.String()] = e
	}
	part := 1 + rng.IntN(10)
	if rng.IntN(3) == 0 {
		part = 1000
	}
	for _, e := range x.queries[0].Entities(nil) {
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

func (x *twin) each(t *testing.T, list []ecs.Entity, f func(ecs.Entity) (bool, error)) (n int) {
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
	w := newWorld(t)
	small, big, more := ecs.Register[Position](w), ecs.Register[[9000]byte](w), ecs.Register[[9001]byte](w)
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
	require.Equal(t, 10, w.Stats().Chunks-before.Chunks, "a row of it fills a unit, and nothing is left of the failed ones")
	require.NoError(t, w.Verify())
}

// TestBatchOverSeveralArchetypes asks a batch's rows what they have.
func TestBatchOverSeveralArchetypes(t *testing.T) {
	x := newTwin(t, alloc.Fixed(1))
	x.create(t, 1, 5) // position, stun
	x.create(t, 2, 7) // tag, flag
	b, err := ecs.NewChange(x.w, ecs.Add(x.health)).ApplyQuery(x.queries[0])
	require.NoError(t, err)
	require.Equal(t, 12, b.Len())
	with, without := 0, 0
	for rows := range b.Rows() {
		require.True(t, x.health.In(rows))
		require.Len(t, x.health.Slice(rows), rows.Len())
		require.False(t, x.hits.In(rows))
		if x.position.In(rows) {
			with += rows.Len()
		} else {
			without += rows.Len()
		}
	}
	require.Equal(t, []int{5, 7}, []int{with, without})
}
