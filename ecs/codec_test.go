package ecs_test

import (
	"bytes"
	"net/netip"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestDeltaOfCodedValues: shared values with pointers go along in deltas if their codec makes equal
// ones; others are refused by name.
func TestDeltaOfCodedValues(t *testing.T) {
	w := newWorld(t)
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

	link := ecs.RegisterShared[flag](w, ecs.Codec(
		func(b []byte, f *flag) ([]byte, error) { return b, nil },
		func(b []byte, f *flag) error { f.of = new(note); return nil }))
	ecs.NewArchetype(w, link.Of(flag{new(note)})).Create()
	now := w.Snapshot()
	defer now.Close()
	_, err = ecs.Diff(then, now)
	require.ErrorIs(t, err, ecs.ErrDelta)
	require.EqualError(t, err, "ecs: Diff: delta refused: a value of the shared type flag cannot be written: decoded it is another value, by ==")
}

// TestCodecMisuse: what does not fit is refused where the type is registered.
func TestCodecMisuse(t *testing.T) {
	w := newWorld(t)
	write, read := func(b []byte, _ *int) ([]byte, error) { return b, nil }, func([]byte, *int) error { return nil }
	for want, call := range map[string]func(){
		"ecs: Codec: a function is nil":                                                func() { ecs.Codec(nil, read) },
		"ecs: Codec: a function is nil ":                                               func() { ecs.Codec(write, nil) },
		"ecs: Register[int]: Codec is an option of RegisterManaged and RegisterShared": func() { ecs.Register[int](w, ecs.Codec(write, read)) },
		"ecs: Register[managed string]: Codec is of int":                               func() { ecs.RegisterManaged[string](w, ecs.Codec(write, read)) },
		"ecs: RegisterManaged[*int]: registered before with other options": func() {
			ecs.RegisterManaged[*int](w)
			ecs.RegisterManaged[*int](w, ecs.Codec(func(b []byte, _ **int) ([]byte, error) { return b, nil }, func([]byte, **int) error { return nil }))
		},
		"ecs: RegisterShared[int]: the options of shared types are Cleanup and Codec": func() { ecs.RegisterShared[int](w, ecs.Codec(write, read), ecs.Enableable) },
	} {
		require.PanicsWithValue(t, string(bytes.TrimRight([]byte(want), " ")), call)
	}
	ecs.RegisterShared[int](w, ecs.Codec(write, read))
	ecs.RegisterShared[int](w, ecs.Codec(write, read))
}
