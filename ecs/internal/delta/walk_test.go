package delta_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestDeltaWalks: the walks of a delta yield what differs, and nothing else.
func TestDeltaWalks(t *testing.T) {
	w := ecstest.NewWorld(t)
	x := ecstest.RegisterKinds(w)
	a := ecs.NewArchetype(w, x.Position, x.Stun, x.Hits)
	batch, err := a.CreateN(10)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	x.Burning.Add(ids[9], ecstest.Burning{Heat: 1, For: 1})
	w.SetName(ids[8], "old")
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	d, err := diffWorlds(fork, w)
	require.NoError(t, err)
	require.True(t, d.IsEmpty())

	x.Position.Set(ids[1], ecstest.Position{X: 1})
	x.Position.Set(ids[2], ecstest.Position{X: 2})
	x.Stun.Disable(ids[3])
	x.Stun.Set(ids[3], ecstest.Stun{Left: 4}) // comes once
	b, _ := x.Hits.Mut(ids[4])
	b.Append(ecstest.Hit{Damage: 3})
	x.Burning.Set(ids[9], ecstest.Burning{Heat: 2, For: 1})
	x.Tag.Add(ids[5], ecstest.Tag{})
	w.Destroy(ids[0]) // the last row takes the place
	born := a.Create()
	w.SetName(ids[8], "new")
	d, err = diffWorlds(fork, w)
	require.NoError(t, err)
	require.False(t, d.IsEmpty())
	require.Equal(t, []ecs.Entity{born}, slices.Collect(d.Born()))
	require.Equal(t, []ecs.Entity{ids[0]}, slices.Collect(d.Died()))
	var got []string
	for e, from := range d.Moved() {
		got = append(got, fmt.Sprint(e == ids[5], from[0], from[1]))
	}
	require.Equal(t, []string{fmt.Sprint(true, a, ecs.NewArchetype(w, x.Position, x.Stun, x.Hits, x.Tag))}, got)
	changed := map[ecs.Entity]string{}
	for e, of := range d.Changed() {
		changed[e] += ecs.InfoOf(of).Name + " "
	}
	require.Equal(t, map[ecs.Entity]string{
		ids[1]: "Position ", ids[2]: "Position ", ids[3]: "Stun ", ids[4]: "[]Hit ", ids[9]: "sparse Burning ",
	}, changed)
	older, newer := d.Values(ids[9], ecs.InfoOf(x.Burning).Type)
	require.Equal(t, []any{ecstest.Burning{Heat: 1, For: 1}, ecstest.Burning{Heat: 2, For: 1}}, []any{older, newer})
	names := map[ecs.Entity]string{}
	for e, name := range d.Renamed() {
		names[e] = name
	}
	require.Equal(t, map[ecs.Entity]string{ids[8]: "new"}, names)
	for range d.Changed() {
		break // a walk may be left
	}
	require.NoError(t, fork.Close())
	require.PanicsWithValue(t, "ecs: Delta.Born: the delta is the zero value, or one of its snapshots is closed",
		func() { d.Born() })
}

// TestDeltaGainedAndLost: components that an entity gained, with zero values too, and components
// that it lost, sparse ones among them, are distinguished from those that changed, with the values.
func TestDeltaGainedAndLost(t *testing.T) {
	w := ecstest.NewWorld(t)
	x := ecstest.RegisterKinds(w)
	note := ecs.RegisterManaged[string](w, ecs.CopyWith(func(s *string) string { return *s }))
	batch, err := ecs.NewArchetype(w, x.Position, x.Stun).CreateN(6)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	x.Burning.Add(ids[0], ecstest.Burning{Heat: 1, For: 2})
	x.Marked.Add(ids[1], ecstest.Marked{})
	x.Burning.Add(ids[4], ecstest.Burning{Heat: 5, For: 5})
	note.Add(ids[5], "old")
	older := w.Snapshot()
	x.Burning.Remove(ids[0])
	x.Marked.Add(ids[0], ecstest.Marked{})         // gained, with a zero value
	x.Hits.Add(ids[2])                             // without elements
	x.Owner.Add(ids[2], ecstest.Owner{})           // zero
	x.Position.Set(ids[2], ecstest.Position{X: 7}) // and changed
	x.Team.Add(ids[3], ecstest.Squad{Name: "red"})
	x.Stun.Remove(ids[3])
	x.Marked.Disable(ids[1])
	w.Destroy(ids[4])
	born := ecs.NewArchetype(w, x.Position).Create()
	x.Burning.Add(born, ecstest.Burning{Heat: 3, For: 3})
	x.Position.Set(born, ecstest.Position{X: 1})
	newer := w.Snapshot()
	d, err := ecs.Diff(older, newer)
	require.NoError(t, err)
	told := func(walk func(func(ecs.Entity, ecs.Type) bool)) (all []string) {
		for e, of := range walk {
			from, to := d.Values(e, of)
			all = append(all, fmt.Sprint(slices.Index(ids, e), " ", ecs.InfoOf(of).Name, ": ", from, " -> ", to))
		}
		slices.Sort(all)
		return all
	}
	require.Equal(t, []string{"1 sparse Marked: {null} -> {null}", "2 Position: {0 0} -> {7 0}"}, told(d.Changed()))
	require.Equal(t, []string{"0 sparse Marked: <nil> -> {null}", "2 Owner: <nil> -> {null}", "2 []Hit: <nil> -> []",
		"3 Squad: <nil> -> {red 0 null}"}, told(d.Gained()))
	require.Equal(t, []string{"0 sparse Burning: {1 2} -> <nil>", "3 Stun: {0} -> <nil>"}, told(d.Lost()))
	from, to := d.Values(ids[5], ecs.InfoOf(note).Type)
	require.Equal(t, []any{"old", "old"}, []any{from, to})
	from, to = d.Values(born, ecs.InfoOf(x.Burning).Type)
	require.Equal(t, []any{nil, ecstest.Burning{Heat: 3, For: 3}}, []any{from, to})
	from, to = d.Values(ids[4], ecs.InfoOf(x.Burning).Type)
	require.Equal(t, []any{ecstest.Burning{Heat: 5, For: 5}, nil}, []any{from, to})
	later := ecs.Register[ecstest.Velocity](w)
	from, to = d.Values(ids[0], later)
	require.Equal(t, []any{nil, nil}, []any{from, to})
	other := ecstest.NewWorld(t)
	require.PanicsWithValue(t, "ecs: Delta.Values: Position was registered in another world",
		func() { d.Values(ids[0], ecs.Register[ecstest.Position](other)) })
	for range d.Gained() {
		break // walks may be left
	}
	for range d.Lost() {
		break
	}
}

// TestDeltaOrderOfArchetypes: an archetype that was given up and made again comes behind those that
// were made meanwhile, in the world that the delta is applied to too.
func TestDeltaOrderOfArchetypes(t *testing.T) {
	w := ecstest.NewWorld(t)
	x := ecstest.RegisterKinds(w)
	plain := ecs.NewArchetype(w, x.Position)
	ids := []ecs.Entity{plain.Create(), plain.Create(), plain.Create()}
	x.Owner.Add(ids[0], ecstest.Owner{}) // an archetype that nobody holds
	x.Stun.Add(ids[1], ecstest.Stun{Left: 1})
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	y := ecstest.RegisterKinds(fork)
	q := ecs.NewQuery(fork, ecs.Write(y.Position), ecs.Any(ecs.Read(y.Owner), ecs.Read(y.Stun)))
	require.Equal(t, 2, q.Count())
	x.Owner.Remove(ids[0])
	w.Shrink(0)
	x.Tag.Add(ids[2], ecstest.Tag{})
	x.Owner.Add(ids[0], ecstest.Owner{Of: ids[1]})
	before := fork.Archetypes()
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(encoded(t, fork, w))))
	require.NotEqual(t, before, fork.Archetypes()[:len(before)], "another order")
	require.NoError(t, fork.Verify())
	require.Equal(t, x.State(), y.State())
	require.Equal(t, 2, q.Count())
	y.Owner.Set(ids[0], ecstest.Owner{})
	require.NoError(t, fork.Close())
}

// TestDeltaReadsWhatWasWritten: chunks for which written returns false are not read.
func TestDeltaReadsWhatWasWritten(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	batch, err := a.CreateN(50_000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	last := a.Chunks() - 1
	require.Positive(t, last)
	position.Set(ids[0], ecstest.Position{X: 1})
	position.Set(ids[len(ids)-1], ecstest.Position{X: 2})
	var asked []int
	d, err := diffWritten(fork, w, func(pos int) bool {
		asked = append(asked, pos)
		return pos == last
	})
	require.NoError(t, err)
	require.Contains(t, asked, 0)
	var changed []ecs.Entity
	for e := range d.Changed() {
		changed = append(changed, e)
	}
	require.Equal(t, ids[len(ids)-1:], changed, "the first chunk was not looked at")
	require.NoError(t, fork.Close())
}

// TestDeltaIsSmall: if 1 % of the rows differ, in pieces, a delta has at most 2 % of the bytes of
// the state and 1 KiB; marks are set where it writes only.
func TestDeltaIsSmall(t *testing.T) {
	const n, piece = 100_000, 100
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	health := ecs.Register[ecstest.Health](w)
	batch, err := ecs.NewArchetype(w, position, velocity, health).CreateN(n)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for range n / 100 / piece {
		first := rng.IntN(n - piece)
		for _, e := range ids[first : first+piece] {
			position.Set(e, ecstest.Position{X: rng.Float64(), Y: rng.Float64()})
			velocity.Set(e, ecstest.Velocity{X: rng.Float64(), Y: rng.Float64()})
			health.Set(e, ecstest.Health{HP: rng.Int32(), Max: rng.Int32()})
		}
	}
	w.Destroy(ids[7])
	delta := encoded(t, fork, w)
	require.LessOrEqual(t, len(delta), n*(16+16+8+8)*2/100+1<<10)
	version := fork.Advance()
	there := ecs.Register[ecstest.Position](fork)
	changed := ecs.NewQuery(fork, ecs.Changed(there))
	require.Equal(t, n, changed.Count())
	for range changed.Rows() { // all are seen
	}
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(delta)))
	require.Equal(t, w.Hash(), fork.Hash())
	require.NotZero(t, version)
	require.Positive(t, changed.Count())
	require.Less(t, changed.Count(), n-1, "chunks without a difference are not marked")
	require.NoError(t, fork.Close())
}
