package edit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Behaviours 4 to 16 of the list of what entity systems agree on, where not in
// identity_test.go of package world: creating, destroying, adding and removing.

// TestBehaviour04DestroyNothing: destroying null, or what is dead, is ignored. Peers
// disagree (ark panics): it returns false, and the lists pass such entities by.
func TestBehaviour04DestroyNothing(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	e, other := a.Create(), a.Create()
	require.True(t, w.Destroy(e))
	before, hash := w.Stats(), w.Hash()
	require.False(t, w.Destroy(e))
	require.False(t, w.Destroy(ecs.Null))
	require.False(t, w.Destroy(ecs.Entity{}))
	require.Zero(t, w.DestroyList([]ecs.Entity{ecs.Null, e, e, ecs.Null}))
	require.Zero(t, w.DestroyList(nil))
	require.Equal(t, before, w.Stats())
	require.Equal(t, hash, w.Hash())
	require.Equal(t, 1, w.DestroyList([]ecs.Entity{ecs.Null, e, other, other}))
	require.NoError(t, w.Verify())
}

// TestBehaviour05CreateNone: a batch of none is in order and changes nothing; a
// negative number is a broken contract.
func TestBehaviour05CreateNone(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	a.Create()
	live, before, hash := w.Universe().Stats(), w.Stats(), w.Hash()
	b, err := a.CreateN(0)
	require.NoError(t, err)
	require.Zero(t, b.Len())
	require.Empty(t, b.Entities(nil))
	for range b.Rows() {
		t.Fatal("a batch of none has no rows")
	}
	for _, n := range []int{-1, -1 << 63} {
		require.PanicsWithValue(t, fmt.Sprintf("ecs: Archetype.CreateN: n=%d is negative", n),
			func() { _, _ = a.CreateN(n) })
	}
	require.Equal(t, before, w.Stats())
	require.Equal(t, hash, w.Hash())
	require.Equal(t, live, w.Universe().Stats())
}

// TestBehaviour07SwapBack: whichever of N goes, by any call, the others keep their
// values, and look-ups find them.
func TestBehaviour07SwapBack(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		for _, n := range []int{1, 2, 3, 64, 65, 700, 1500} {
			for _, victim := range []int{0, 1, n / 2, n - 2, n - 1} {
				if victim < 0 || victim >= n {
					continue
				}
				for name, destroy := range destroyers {
					t.Run(fmt.Sprintf("%s of row %d of %d, chunks grow %v", name, victim, n, growth),
						func(t *testing.T) {
							x := ecstest.NewFullTwin(t, growth)
							ids := x.Fill(t, n)
							want := x.Shows(ids)
							destroy(x, ids[victim])
							require.NoError(t, x.World.Verify())
							require.False(t, x.World.Alive(ids[victim]))
							ids, want = slices.Delete(ids, victim, victim+1), slices.Delete(want, victim, victim+1)
							require.Equal(t, want, x.Shows(ids))
							require.Equal(t, n-1, x.Queries[0].Count())
						})
				}
			}
		}
	}
}

var destroyers = map[string]func(x *ecstest.Twin, e ecs.Entity){
	"Destroy":     func(x *ecstest.Twin, e ecs.Entity) { x.World.Destroy(e) },
	"DestroyList": func(x *ecstest.Twin, e ecs.Entity) { x.World.DestroyList([]ecs.Entity{e}) },
	"DestroyQuery": func(x *ecstest.Twin, e ecs.Entity) {
		mark := ecs.Register[marked](x.World, ecs.Enableable)
		x.World.DestroyQuery(ecs.NewQuery(x.World, ecs.With(mark)))
		mark.Add(e, marked{})
		x.World.DestroyQuery(ecs.NewQuery(x.World, ecs.With(mark)))
	},
}

type marked struct{}

// TestBehaviour12Shuffle: creating, destroying and changing in a random order, in
// ones and in batches, against a map.
func TestBehaviour12Shuffle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	w := ecstest.NewWorld(t)
	position, tag := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Tag](w)
	sets := []*ecs.Archetype{ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, tag)}
	all := ecs.NewQuery(w, ecs.Read(position))
	model := map[ecs.Entity]ecstest.Position{}
	for step := range ecstest.StepsOf(300) {
		b, err := sets[step%2].CreateN(rng.IntN(400))
		require.NoError(t, err)
		for rows := range b.Rows() {
			p := position.Slice(rows)
			for i, e := range rows.Entities() {
				require.Equal(t, ecstest.Position{}, p[i])
				_, twice := model[e]
				require.False(t, twice, "%v is given twice", e)
				p[i] = ecstest.Position{X: rng.Float64(), Y: float64(step)}
				model[e] = p[i]
			}
		}
		ids := all.Entities(nil)
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		gone := ids[:rng.IntN(len(ids)+1)*2/3]
		for i, e := range gone[:len(gone)/2] {
			if i%3 == 0 {
				require.Equal(t, !tag.Has(e), tag.Add(e, ecstest.Tag{}))
			}
			require.True(t, w.Destroy(e))
		}
		require.Equal(t, len(gone)-len(gone)/2, w.DestroyList(gone))
		for _, e := range gone {
			delete(model, e)
		}
		require.NoError(t, w.Verify())
		require.Equal(t, len(model), all.Count())
		for e, want := range model {
			require.Equal(t, want, *position.Get(e), "%v at step %d", e, step)
		}
	}
}

// TestBehaviour13NoOps: adding a component that is there keeps its value, and removing one that is
// not there does nothing; both return false. Peers disagree on removing (hecs: an error; ark
// panics). Changes and lists count only those that changed.
func TestBehaviour13NoOps(t *testing.T) {
	x := ecstest.NewFullTwin(t, alloc.Fixed(1))
	ids := x.Fill(t, 700)
	want, hash, epoch := x.Shows(ids), x.World.Hash(), x.World.Stats()
	extra := ecs.Register[extraData](x.World)
	more := ecs.RegisterBuffer[extraData](x.World)
	e := ids[1]
	require.False(t, x.Position.Add(e, ecstest.Position{X: -1, Y: -1}))
	require.False(t, x.Stun.Add(e, ecstest.Stun{Left: -1}))
	require.False(t, x.Flag.Add(e, ecstest.Flag{}))
	require.False(t, x.Hits.Add(e))
	require.False(t, extra.Remove(e))
	require.False(t, more.Remove(e))
	for _, c := range []*ecs.Change{
		ecs.NewChange(x.World, ecs.Add(x.Position, x.Stun, x.Flag, x.Tag, x.Hits)),
		ecs.NewChange(x.World, ecs.Remove(extra, more)),
		ecs.NewChange(x.World, ecs.Add(x.Hits), ecs.Remove(extra)), ecs.NewChange(x.World),
	} {
		changed, err := c.Apply(e)
		require.NoError(t, err)
		require.False(t, changed, "%v", c)
		for name, apply := range map[string]func() (ecs.Batch, error){
			"list":  func() (ecs.Batch, error) { return c.ApplyList(ids) },
			"query": func() (ecs.Batch, error) { return c.ApplyQuery(x.Queries[0]) },
		} {
			b, err := apply()
			require.NoError(t, err)
			require.Zero(t, b.Len(), "%v by %s", c, name)
		}
	}
	full := x.Sets[len(x.Sets)-1]
	changed, err := ecs.Into(full).Apply(e)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, want, x.Shows(ids))
	require.Equal(t, hash, x.World.Hash())
	require.Equal(t, epoch, x.World.Stats())
	gone := ecs.NewChange(x.World, ecs.Remove(x.Tag))
	x.World.Destroy(e)
	for _, e := range []ecs.Entity{e, ecs.Null} {
		changed, err := gone.Apply(e)
		require.NoError(t, err)
		require.False(t, changed, "removing from %v", e)
		require.False(t, x.Tag.Remove(e))
	}
	team := ecs.RegisterShared[string](x.World)
	red := ecs.NewArchetype(x.World, team.Of("red")).Create()
	require.False(t, team.Add(red, "blue"))
	changed, err = ecs.NewChange(x.World, ecs.Add(team.Of("blue"))).Apply(red)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, 1, team.Len("red"))
}

type extraData struct{ A, B, C int64 }

// TestBehaviour14AddAndRemove: a type that is added and removed by one change is
// refused when the change is made.
func TestBehaviour14AddAndRemove(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	tag := ecs.Register[ecstest.Tag](w)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	before := w.Stats()
	require.PanicsWithValue(t, "ecs: NewChange: Position is added and removed",
		func() { ecs.NewChange(w, ecs.Add(position), ecs.Remove(position)) })
	require.PanicsWithValue(t, "ecs: NewChange: Tag is added and removed",
		func() { ecs.NewChange(w, ecs.Remove(position, tag), ecs.Add(tag)) })
	require.Equal(t, before, w.Stats())
	hit := ecs.Register[ecstest.Hit](w) // the buffer of Hit and the component Hit are two types
	require.NotPanics(t, func() { ecs.NewChange(w, ecs.Add(hits), ecs.Remove(hit)) })
}

// TestBehaviour16GivenTwice: a type that is given twice is refused, by changes,
// archetypes and queries. Some peers take duplicates as one: a list of types is code, so
// a duplicate in it is a mistake.
func TestBehaviour16GivenTwice(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	tag := ecs.Register[ecstest.Tag](w)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	before := w.Stats()
	for text, f := range map[string]func(){
		"ecs: NewChange: Position is given twice": func() { ecs.NewChange(w, ecs.Add(position), ecs.Add(position)) },
		"ecs: NewChange: Tag is given twice":      func() { ecs.NewChange(w, ecs.Remove(tag, position, tag)) },
		"ecs: NewArchetype: []Hit is given twice": func() { ecs.NewArchetype(w, hits, position, hits) },
		"ecs: NewQuery: With names Tag twice":     func() { ecs.NewQuery(w, ecs.With(tag, tag)) },
		"ecs: NewQuery: Position is in two terms": func() { ecs.NewQuery(w, ecs.Read(position), ecs.With(position)) },
	} {
		require.PanicsWithValue(t, text, f)
	}
	require.Equal(t, before, w.Stats())
}

// TestBehaviour15ReadsZero: what is added reads zero, in memory that held other values.
func TestBehaviour15ReadsZero(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		x := ecstest.NewFullTwin(t, growth)
		add := ecs.NewChange(x.World, ecs.Add(x.Position, x.Health, x.Stun, x.Flag, x.Hits))
		strip := ecs.NewArchetype(x.World)
		fresh := func(how string) {
			t.Helper()
			require.Equal(t, x.Queries[0].Count(), x.Queries[1].Count())
			for _, e := range x.Queries[1].Entities(nil) {
				hits, ok := x.Hits.Get(e)
				require.True(t, ok && hits.Len() == 0, how)
				require.Equal(t, []any{ecstest.Position{}, ecstest.Health{}, ecstest.Stun{}},
					[]any{*x.Position.Get(e), *x.Health.Get(e), *x.Stun.Get(e)}, how)
				require.True(t, x.Stun.Enabled(e) && x.Flag.Enabled(e), "%s: new ones are enabled", how)
			}
			require.NoError(t, x.World.Verify())
			soil(t, x)
		}
		ids := x.Fill(t, 1500)
		for name, readd := range map[string]func() (ecs.Batch, error){
			"ApplyQuery": func() (ecs.Batch, error) { return add.ApplyQuery(x.Queries[0]) },
			"ApplyList":  func() (ecs.Batch, error) { return add.ApplyList(ids) },
			"AdoptList":  func() (ecs.Batch, error) { return ecs.Into(x.Sets[len(x.Sets)-1]).ApplyList(ids) },
			"Apply": func() (b ecs.Batch, err error) {
				for _, e := range ids {
					_, one := add.Apply(e)
					err = errors.Join(err, one)
				}
				return b, err
			},
		} {
			_, err := ecs.Into(strip).ApplyQuery(x.Queries[0])
			require.NoError(t, err)
			_, err = readd()
			require.NoError(t, err)
			fresh(name)
		}
		x.World.DestroyQuery(x.Queries[0])
		_, err := x.Sets[len(x.Sets)-1].CreateN(1500)
		require.NoError(t, err)
		fresh("CreateN")
		x.World.Clear()
		for range 700 {
			x.Sets[len(x.Sets)-1].Create()
		}
		fresh("Create")
	}
}

// soil writes all that entities have.
func soil(t *testing.T, x *ecstest.Twin) {
	for _, e := range x.Queries[1].Entities(nil) {
		x.Position.Set(e, ecstest.Position{X: -1, Y: -2})
		x.Health.Set(e, ecstest.Health{HP: -1, Max: -2})
		x.Stun.Set(e, ecstest.Stun{Left: -3})
		x.Stun.Disable(e)
		x.Flag.Disable(e)
		require.True(t, x.Hits.Append(e, make([]ecstest.Hit, e.Index()%3)...))
	}
}
