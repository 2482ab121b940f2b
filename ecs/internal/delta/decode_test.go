package delta_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// endless is a stream without end, after some bytes.
type endless struct {
	first []byte
	read  int
}

func (r *endless) Read(p []byte) (int, error) {
	n := copy(p, r.first)
	r.first = r.first[n:]
	clear(p[n:])
	r.read += len(p)
	return len(p), nil
}

// TestDeltaOfAnEndlessStream: a stream without end is refused by the length that it states,
// whatever that is, before more is read; one that states less is read so far.
func TestDeltaOfAnEndlessStream(t *testing.T) {
	x, _, delta := dent(t, 3, 40)
	for _, length := range []uint64{1<<30 - 23, 1 << 40, math.MaxInt64 - 4, math.MaxUint64} {
		frame := bytes.Clone(delta[:20])
		binary.LittleEndian.PutUint64(frame[12:], length)
		r := &endless{first: frame}
		err := x.World.ApplyDelta(r)
		require.ErrorIs(t, err, ecs.ErrDelta)
		require.ErrorContains(t, err, "it may have 1073741824 in all")
		require.Equal(t, 20, r.read)
	}
	frame := bytes.Clone(delta[:20])
	binary.LittleEndian.PutUint64(frame[12:], 1000)
	r := &endless{first: frame}
	_, err := ecs.DecodeDelta(r, 1024)
	require.ErrorIs(t, err, ecs.ErrDelta)
	require.ErrorContains(t, err, "ecs: DecodeDelta: delta refused: it is damaged")
	require.LessOrEqual(t, r.read, 20+1004)
	_, err = ecs.DecodeDelta(&endless{first: frame}, 1023)
	require.ErrorContains(t, err, "its content has 1000 bytes, and it may have 1023 in all")
	_, err = ecs.DecodeDelta(&endless{}, math.MaxInt)
	require.ErrorContains(t, err, "it begins with")
	require.Panics(t, func() { _, _ = ecs.DecodeDelta(r, -1) })
}

// TestDecodeDelta: a delta is read while its world is not at hand, in a loop over its rows here,
// and applied to worlds afterwards, and to others; it is passed on as it came.
func TestDecodeDelta(t *testing.T) {
	x, y, delta := dent(t, 4, 150)
	all := ecs.NewQueryOfAll(y.World)
	var d *ecs.Delta
	for range all.Rows() {
		var err error
		d, err = ecs.DecodeDelta(iotest.OneByteReader(bytes.NewReader(append(bytes.Clone(delta), 1))), len(delta))
		require.NoError(t, err)
		break
	}
	_, err := ecs.DecodeDelta(bytes.NewReader(delta), len(delta)-1)
	require.ErrorIs(t, err, ecs.ErrDelta)
	var again bytes.Buffer
	require.NoError(t, ecs.EncodeDelta(&again, d))
	require.Equal(t, delta, again.Bytes())
	other, err := ecstest.Fork(y.World)
	require.NoError(t, err)
	direct, err := ecstest.Fork(y.World)
	require.NoError(t, err)
	made, err := diffWorlds(y.World, x.World)
	require.NoError(t, err)
	require.NoError(t, made.ApplyTo(direct))
	for _, o := range []*ecstest.Kinds{y, ecstest.RegisterKinds(other), ecstest.RegisterKinds(direct)} {
		if o.World != direct {
			require.NoError(t, d.ApplyTo(o.World))
		}
		require.Equal(t, x.State(), o.State())
		require.NoError(t, o.World.Verify())
		err := d.ApplyTo(o.World)
		require.ErrorIs(t, err, ecs.ErrDelta)
		require.ErrorContains(t, err, "ecs: Delta.ApplyTo: delta refused: it is of a world")
	}
	require.Panics(t, func() { d.Born() }, "it cannot be walked")
	broken := errors.New("the line is cut")
	_, err = ecs.DecodeDelta(io.MultiReader(bytes.NewReader(delta[:50]), iotest.ErrReader(broken)), 1<<30)
	require.ErrorIs(t, err, ecs.ErrDelta)
	require.ErrorIs(t, err, broken)
	require.NoError(t, other.Close())
	require.NoError(t, direct.Close())
}
