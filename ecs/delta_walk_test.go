package ecs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestDeltaWalks: the walks of a delta yield what differs, and nothing else.
func TestDeltaWalks(t *testing.T) {
	w := newWorld(t)
	x := handles(w)
	a := ecs.NewArchetype(w, x.position, x.stun, x.hits)
	batch, err := a.CreateN(10)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	x.burning.Add(ids[9], Burning{1, 1})
	w.SetName(ids[8], "old")
	fork, err := w.Fork()
	require.NoError(t, err)
	d, err := ecs.DiffWorlds(fork, w)
	require.NoError(t, err)
	require.True(t, d.IsEmpty())

	x.position.Set(ids[1], Position{X: 1})
	x.position.Set(ids[2], Position{X: 2})
	x.stun.Disable(ids[3])
	x.stun.Set(ids[3], Stun{4}) // comes once
	b, _ := x.hits.Mut(ids[4])
	b.Append(Hit{Damage: 3})
	x.burning.Set(ids[9], Burning{2, 1})
	x.tag.Add(ids[5], Tag{})
	w.Destroy(ids[0]) // the last row takes the place
	born := a.Create()
	w.SetName(ids[8], "new")
	d, err = ecs.DiffWorlds(fork, w)
	require.NoError(t, err)
	require.False(t, d.IsEmpty())
	require.Equal(t, []ecs.Entity{born}, slices.Collect(d.Born()))
	require.Equal(t, []ecs.Entity{ids[0]}, slices.Collect(d.Died()))
	var got []string
	for e, from := range d.Moved() {
		got = append(got, fmt.Sprint(e == ids[5], from[0], from[1]))
	}
	require.Equal(t, []string{fmt.Sprint(true, a, ecs.NewArchetype(w, x.position, x.stun, x.hits, x.tag))}, got)
	changed := map[ecs.Entity]string{}
	for e, of := range d.Changed() {
		changed[e] += ecs.InfoOf(of).Name + " "
	}
	require.Equal(t, map[ecs.Entity]string{ids[1]: "Position ", ids[2]: "Position ", ids[3]: "Stun ", ids[4]: "[]Hit ", ids[9]: "sparse Burning "}, changed)
	was, is := d.Values(ids[9], ecs.InfoOf(x.burning).Type)
	require.Equal(t, []any{Burning{1, 1}, Burning{2, 1}}, []any{was, is})
	names := map[ecs.Entity]string{}
	for e, name := range d.Renamed() {
		names[e] = name
	}
	require.Equal(t, map[ecs.Entity]string{ids[8]: "new"}, names)
	for range d.Changed() {
		break // a walk may be left
	}
	require.NoError(t, fork.Close())
	require.PanicsWithValue(t, "ecs: Delta.Born: the delta is the zero value, or one of its snapshots is closed", func() { d.Born() })
}

// TestDeltaGainedAndLost: what an entity gained, with zero values too, and what it lost, sparse
// types among them, are told apart from what has changed, with the values.
func TestDeltaGainedAndLost(t *testing.T) {
	w := newWorld(t)
	x := handles(w)
	note := ecs.RegisterManaged[string](w, ecs.CopyWith(func(s *string) string { return *s }))
	batch, err := ecs.NewArchetype(w, x.position, x.stun).CreateN(6)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	x.burning.Add(ids[0], Burning{1, 2})
	x.marked.Add(ids[1], Marked{})
	x.burning.Add(ids[4], Burning{5, 5})
	note.Add(ids[5], "old")
	older := w.Snapshot()
	x.burning.Remove(ids[0])
	x.marked.Add(ids[0], Marked{})         // gained, with a zero value
	x.hits.Add(ids[2])                     // without elements
	x.owner.Add(ids[2], Owner{})           // zero
	x.position.Set(ids[2], Position{X: 7}) // and changed
	x.team.Add(ids[3], squad{Name: "red"})
	x.stun.Remove(ids[3])
	x.marked.Disable(ids[1])
	w.Destroy(ids[4])
	born := ecs.NewArchetype(w, x.position).Create()
	x.burning.Add(born, Burning{3, 3})
	x.position.Set(born, Position{X: 1})
	newer := w.Snapshot()
	d, err := ecs.Diff(older, newer)
	require.NoError(t, err)
	told := func(walk func(func(ecs.Entity, ecs.Type) bool)) (all []string) {
		for e, of := range walk {
			was, is := d.Values(e, of)
			all = append(all, fmt.Sprint(slices.Index(ids, e), " ", ecs.InfoOf(of).Name, ": ", was, " -> ", is))
		}
		slices.Sort(all)
		return all
	}
	require.Equal(t, []string{"1 sparse Marked: {null} -> {null}", "2 Position: {0 0} -> {7 0}"}, told(d.Changed()))
	require.Equal(t, []string{"0 sparse Marked: <nil> -> {null}", "2 Owner: <nil> -> {null}", "2 []Hit: <nil> -> []",
		"3 squad: <nil> -> {red 0 null}"}, told(d.Gained()))
	require.Equal(t, []string{"0 sparse Burning: {1 2} -> <nil>", "3 Stun: {0} -> <nil>"}, told(d.Lost()))
	was, is := d.Values(ids[5], ecs.InfoOf(note).Type)
	require.Equal(t, []any{"old", "old"}, []any{was, is})
	was, is = d.Values(born, ecs.InfoOf(x.burning).Type)
	require.Equal(t, []any{nil, Burning{3, 3}}, []any{was, is})
	was, is = d.Values(ids[4], ecs.InfoOf(x.burning).Type)
	require.Equal(t, []any{Burning{5, 5}, nil}, []any{was, is})
	later := ecs.Register[Velocity](w)
	was, is = d.Values(ids[0], later)
	require.Equal(t, []any{nil, nil}, []any{was, is})
	other := newWorld(t)
	require.PanicsWithValue(t, "ecs: Delta.Values: Position was registered in another world",
		func() { d.Values(ids[0], ecs.Register[Position](other)) })
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
	w := newWorld(t)
	x := handles(w)
	plain := ecs.NewArchetype(w, x.position)
	ids := []ecs.Entity{plain.Create(), plain.Create(), plain.Create()}
	x.owner.Add(ids[0], Owner{}) // an archetype that nobody holds
	x.stun.Add(ids[1], Stun{1})
	fork, err := w.Fork()
	require.NoError(t, err)
	y := handles(fork)
	q := ecs.NewQuery(fork, ecs.Write(y.position), ecs.Any(ecs.Read(y.owner), ecs.Read(y.stun)))
	require.Equal(t, 2, q.Count())
	x.owner.Remove(ids[0])
	w.Shrink(0)
	x.tag.Add(ids[2], Tag{})
	x.owner.Add(ids[0], Owner{ids[1]})
	before := fork.Archetypes()
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(encoded(t, fork, w))))
	require.NotEqual(t, before, fork.Archetypes()[:len(before)], "another order")
	require.NoError(t, fork.Verify())
	require.Equal(t, x.tell(), y.tell())
	require.Equal(t, 2, q.Count())
	y.owner.Set(ids[0], Owner{})
	require.NoError(t, fork.Close())
}

// TestDeltaReadsWhatWasWritten: chunks of which written says no are not looked at.
func TestDeltaReadsWhatWasWritten(t *testing.T) {
	w := newWorld(t)
	position := ecs.Register[Position](w)
	a := ecs.NewArchetype(w, position)
	batch, err := a.CreateN(50_000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	fork, err := w.Fork()
	require.NoError(t, err)
	last := a.Chunks() - 1
	require.Positive(t, last)
	position.Set(ids[0], Position{X: 1})
	position.Set(ids[len(ids)-1], Position{X: 2})
	var asked []int
	d, err := ecs.DiffWritten(fork, w, func(of *ecs.Archetype, pos int) bool {
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
	w := newWorld(t)
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	health := ecs.Register[Health](w)
	batch, err := ecs.NewArchetype(w, position, velocity, health).CreateN(n)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	fork, err := w.Fork()
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for range n / 100 / piece {
		first := rng.IntN(n - piece)
		for _, e := range ids[first : first+piece] {
			position.Set(e, Position{rng.Float64(), rng.Float64()})
			velocity.Set(e, Velocity{rng.Float64(), rng.Float64()})
			health.Set(e, Health{rng.Int32(), rng.Int32()})
		}
	}
	w.Destroy(ids[7])
	delta := encoded(t, fork, w)
	require.LessOrEqual(t, len(delta), n*(16+16+8+8)*2/100+1<<10)
	version := fork.Advance()
	there := ecs.Register[Position](fork)
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
