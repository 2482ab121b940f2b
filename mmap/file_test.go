package mmap_test

import (
	"bytes"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// numbered is an open file of 5 granules without a name, of which each byte of granule i is i+1.
var numbered = sync.OnceValue(func() *os.File {
	f, err := os.CreateTemp("", "mmap")
	if err != nil {
		panic(err)
	}
	if err := os.Remove(f.Name()); err != nil {
		panic(err)
	}
	for i := range 5 {
		if _, err := f.Write(bytes.Repeat([]byte{byte(i + 1)}, g)); err != nil {
			panic(err)
		}
	}
	return f
})

// requireBytes compares a granule with bytes that are all the same.
func requireBytes(t *testing.T, r *mmap.Region, granule int, want byte) {
	t.Helper()
	require.True(t, bytes.Equal(r.Bytes()[granule*g:(granule+1)*g], bytes.Repeat([]byte{want}, g)),
		"granule %d is not all %d", granule, want)
}

// onFiles runs a test on every backing that maps files.
func onFiles(t *testing.T, test func(t *testing.T, s *mmap.Space)) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, g)
		defer func() { require.NoError(t, r.Release()) }()
		if err := r.MapFile(0, g, numbered(), 0); err != nil {
			require.ErrorIs(t, err, mmap.ErrUnsupported)
			require.Zero(t, r.Committed())
			return
		}
		test(t, s)
	})
}

// TestMapFile: a file's bytes are there, writes stay in the process, and what is decommitted reads
// zero when it is committed again, not the file.
func TestMapFile(t *testing.T) {
	onFiles(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 6*g)
		require.NoError(t, r.Commit(0, g))
		require.NoError(t, r.MapFile(g, 3*g, numbered(), 2*g))
		require.Equal(t, 4*g, r.Committed())
		require.Equal(t, 3*g, r.MappedSize())
		for i := range 3 {
			requireBytes(t, r, 1+i, byte(3+i))
		}
		dirty(r, g, 3*g)
		require.NoError(t, r.MapFile(5*g, g, numbered(), 3*g))
		requireBytes(t, r, 5, 4) // the file is as it was
		require.NoError(t, r.Verify())

		require.NoError(t, r.Decommit(2*g, g))
		require.Equal(t, 3*g, r.MappedSize())
		require.NotZero(t, faultAt(func() { r.Bytes()[2*g] = 1 }))
		require.NoError(t, r.Commit(2*g, g))
		requireZero(t, r, 2*g, g)
		require.Equal(t, byte(0xA5), r.Bytes()[g])
		require.Equal(t, byte(0xA5), r.Bytes()[3*g])

		require.NoError(t, r.Release())
		again := reserve(t, s, 6*g)
		require.NoError(t, again.Commit(0, 6*g))
		requireZero(t, again, 0, 6*g)
		require.NoError(t, again.Release())
	})
}

// TestMapFileKeepsSmallPages: granules are fine again, and regions of small pages stay so, after a
// file was mapped there.
func TestMapFileKeepsSmallPages(t *testing.T) {
	onFiles(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 3*g)
		if r.Fine(g, true) != nil {
			t.Skip("there are no pages of two sizes")
		}
		require.NoError(t, r.MapFile(0, 3*g, numbered(), 0))
		require.NoError(t, r.Decommit(0, 3*g))
		require.NoError(t, r.Commit(0, 3*g))
		r.Bytes()[g] = 1
		resident, err := r.Resident()
		require.NoError(t, err)
		require.Equal(t, page, resident)
		require.NoError(t, r.Release())
	})
}

// TestMapFileRefuses: no file, too short a file, no place for one, and calls that pages of files do
// not support.
func TestMapFileRefuses(t *testing.T) {
	onFiles(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		require.NoError(t, r.Commit(0, g))
		for want, f := range map[string]func(){
			"mmap: MapFile: the file is nil":                                           func() { _ = r.MapFile(g, g, nil, 0) },
			"mmap: MapFile: off=0 n=4194304: granule 0, at offset 0, is already ready": func() { _ = r.MapFile(0, 2*g, numbered(), 0) },
			"mmap: MapFile: at=5 is not a multiple of 2097152 from 0 on":               func() { _ = r.MapFile(g, g, numbered(), 5) },
			"mmap: MapFile: at=-2097152 is not a multiple of 2097152 from 0 on":        func() { _ = r.MapFile(g, g, numbered(), -g) },
		} {
			require.PanicsWithValue(t, want, f)
		}
		err := r.MapFile(g, 2*g, numbered(), 4*g)
		require.ErrorContains(t, err, "has 10485760 bytes, of which 4194304 from 8388608 on are needed")
		require.ErrorIs(t, err, mmap.ErrMemory)
		closed, err := os.CreateTemp(t.TempDir(), "")
		require.NoError(t, err)
		require.NoError(t, closed.Close())
		require.ErrorIs(t, r.MapFile(g, g, closed, 0), os.ErrClosed)
		pipe, other, err := os.Pipe()
		require.NoError(t, err)
		require.Error(t, r.MapFile(g, g, pipe, 0))
		require.NoError(t, pipe.Close())
		require.NoError(t, other.Close())
		require.Equal(t, g, r.Committed())
		require.NoError(t, r.Verify())
		require.NoError(t, r.Commit(g, g))
		requireZero(t, r, g, g)

		require.NoError(t, r.MapFile(2*g, g, numbered(), 0))
		require.ErrorIs(t, r.Guard(2*g, page), mmap.ErrUnsupported)
		require.ErrorIs(t, r.Discard(2*g-page, 2*page), mmap.ErrUnsupported)
		require.ErrorIs(t, r.Hint(mmap.NoDump, true), mmap.ErrUnsupported)
		requireBytes(t, r, 2, 1)
		require.NoError(t, r.Decommit(2*g, g))
		if r.Hint(mmap.NoDump, true) == nil {
			require.ErrorIs(t, r.MapFile(2*g, g, numbered(), 0), mmap.ErrUnsupported)
		}
		require.NoError(t, r.Release())
	})
}
