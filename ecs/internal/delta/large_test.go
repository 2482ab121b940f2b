package delta_test

import (
	"bytes"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestLargeDelta: a delta of more than columnsAlone bytes, whose columns go to two goroutines, does
// what a small one does, and is refused whole where one value is not that of its base.
func TestLargeDelta(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	of := []ecs.Type{position, velocity, ecs.Register[int64](w), ecs.Register[[3]uint8](w)}
	_, err := ecs.NewArchetype(w, of...).CreateN(250_000)
	require.NoError(t, err)
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Write(velocity))
	for rows := range q.Rows() {
		p, v := position.Slice(rows), velocity.Slice(rows)
		for i := range p {
			p[i].X++
			v[i].X += float64(i)
		}
	}
	b := encoded(t, fork, w)
	require.Greater(t, len(b), 2<<20)

	var some ecs.Entity
	there, in := ecs.Register[ecstest.Velocity](fork), ecs.NewQuery(fork)
	for rows := range in.Rows() {
		some = rows.Entities()[rows.Len()/2]
	}
	was := *there.Get(some)
	there.Set(some, ecstest.Velocity{X: -7})
	before := fork.Hash()
	require.ErrorContains(t, fork.ApplyDelta(bytes.NewReader(b)), "Velocity are not those of its base")
	require.Equal(t, before, fork.Hash())

	there.Set(some, was)
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(b)))
	require.Equal(t, w.Hash(), fork.Hash())
}

// TestColumnTwice: a delta that has a column twice is refused, as two goroutines would write it.
func TestColumnTwice(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	_, err := ecs.NewArchetype(w, position).CreateN(150_000)
	require.NoError(t, err)
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	for rows := range ecs.NewQuery(w, ecs.Write(position)).Rows() {
		p := position.Slice(rows)
		for i := range p {
			p[i].X, p[i].Y = float64(i)+.123, float64(i)*7.7
		}
	}
	d, err := delta.ReadDelta("World.ApplyDelta", bytes.NewReader(encoded(t, fork, w)), 1<<30)
	require.NoError(t, err)
	require.True(t, delta.Repeat(d))
	before := fork.Hash()
	err = delta.Apply(door.World(fork), "World.ApplyDelta", d)
	require.ErrorContains(t, err, "values of Position come twice")
	require.Equal(t, before, fork.Hash())
}
