package command

import (
	"errors"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestLargeBuffersByCommands: elements of more than 1 MiB are one command too large, by the limit's
// name, and several that are not; placeholders among them are named wherever the elements lie.
func TestLargeBuffersByCommands(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	const piece = 60_000 // of 12 B
	made := cb.Create(y.plain)
	var want []hit
	for i := range 6 {
		v := make([]hit, piece)
		for k := range v {
			v[k] = hit{N: int32(i*piece + k)}
		}
		v[piece-1].By = made
		if i == 0 {
			AddBuffer(cb, made, y.hits, v...)
		} else {
			Append(cb, made, y.hits, v...)
		}
		want = append(want, v...)
	}
	n := cb.Len()
	var limit error
	func() {
		defer func() { limit, _ = recover().(error) }()
		SetBuffer(cb, made, y.hits, want...)
	}()
	require.ErrorIs(t, limit, ErrSize)
	require.ErrorContains(t, limit, "one has at most 1048576 B")
	require.Equal(t, n, cb.Len())
	require.NoError(t, cb.Play())
	e := cb.Made(made)
	for i := piece - 1; i < len(want); i += piece {
		want[i].By = e
	}
	require.True(t, slices.Equal(want, y.hits.Slice(e)))

	twins := []ecs.Entity{cb.Instantiate(e), cb.Instantiate(e)}
	Append(cb, twins[1], y.hits, hit{N: -1})
	require.NoError(t, cb.Play())
	for i := piece - 1; i < len(want); i += piece {
		want[i].By = cb.Made(twins[0])
	}
	require.True(t, slices.Equal(want, y.hits.Slice(cb.Made(twins[0]))))
	require.Len(t, y.hits.Slice(cb.Made(twins[1])), len(want)+1)
	require.NoError(t, y.w.Verify())
}

// TestLargeBuffersWithoutRoom: a command whose elements no block of the universe would hold is a
// failure that names the limit, one that finds no block now has that reason; the others are
// applied.
func TestLargeBuffersWithoutRoom(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	defer func() { require.NoError(t, u.Close()) }()
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	b, number := ecs.RegisterBuffer[[1000]byte](w, ecs.Inline(0)), ecs.Register[int64](w)
	e := ecs.NewArchetype(w, b, number).Create()
	d, _ := b.Mut(e)
	d.Resize(2000)
	d.Slice()[1999][0] = 7
	cb := NewBuffer(w)
	defer cb.Close()
	for range 3 {
		Append(cb, e, b, make([][1000]byte, 900)...)
		Set(cb, e, number, 5)
		err := cb.Play()
		var failed *PlayError
		require.ErrorAs(t, err, &failed)
		require.True(t, failed.Applied)
		var limit *ecs.LimitError
		require.True(t, errors.As(err, &limit))
		require.ErrorIs(t, err, alloc.ErrFull)
		require.Equal(t, int64(5), *number.Get(e))
		require.Len(t, b.Slice(e), 2000)
		require.Equal(t, byte(7), b.Slice(e)[1999][0])
		require.NoError(t, w.Verify())
	}
}
