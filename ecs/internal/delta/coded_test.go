package delta_test

import (
	"bytes"
	"net/netip"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// pointing is a shared type with a pointer and no methods.
type pointing struct{ at *int }

// TestDeltaOfCodedValues: shared values with pointers go along in deltas if their codec makes equal
// ones; others are refused by name.
func TestDeltaOfCodedValues(t *testing.T) {
	w := ecstest.NewWorld(t)
	host := ecs.RegisterShared[netip.Addr](w) // with a pointer, and MarshalBinary
	at := host.Of(netip.MustParseAddr("fe80::1%eth0"))
	batch, err := ecs.NewArchetype(w, at).CreateN(3)
	require.NoError(t, err)
	list := batch.Entities(nil)
	then := w.Snapshot()
	defer then.Close()
	there, err := then.Fork()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, there.Close()) })
	other := netip.MustParseAddr("10.1.2.3")
	send := func() {
		now := w.Snapshot()
		defer now.Close()
		old := there.Snapshot()
		defer old.Close()
		d, err := ecs.Diff(then, now)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, ecs.EncodeDelta(&b, d))
		require.NoError(t, there.ApplyDelta(&b))
		require.Equal(t, now.Hash(), there.Hash())
		require.NoError(t, there.Restore(old))
	}
	host.Set(list[1], other)
	send()
	host.Set(list[2], other)
	send()

	link := ecs.RegisterShared[pointing](w, ecs.Codec(
		func(b []byte, p *pointing) ([]byte, error) { return b, nil },
		func(b []byte, p *pointing) error { p.at = new(int); return nil }))
	ecs.NewArchetype(w, link.Of(pointing{new(int)})).Create()
	now := w.Snapshot()
	defer now.Close()
	_, err = ecs.Diff(then, now)
	require.ErrorIs(t, err, ecs.ErrDelta)
	require.EqualError(t, err,
		"ecs: Diff: delta refused: a value of the shared type pointing cannot be written: decoded it is another value, by ==")
}
