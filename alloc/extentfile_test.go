package alloc_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// padded returns a file that begins with a granule of 255 and goes on with size bytes, which have
// zeros behind them to the end of their granule.
func padded(t *testing.T, size int) (f *os.File, content []byte) {
	t.Helper()
	content = make([]byte, size)
	for i := range content {
		content[i] = byte(i>>12+i) | 1
	}
	granules := (size + mmap.Granule - 1) / mmap.Granule
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	_, err = f.Write(bytes.Repeat([]byte{255}, mmap.Granule))
	require.NoError(t, err)
	_, err = f.Write(content)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(int64(1+granules)*mmap.Granule))
	return f, content
}

// requireFile: the file is as padded made it.
func requireFile(t *testing.T, f *os.File, content []byte) {
	t.Helper()
	got := make([]byte, len(content))
	_, err := io.ReadFull(io.NewSectionReader(f, mmap.Granule, int64(len(got))), got)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, got), "the file has changed")
}

// mapFile makes the model's extent show the bytes of a file.
func (m *extentModel) mapFile(f *os.File, content []byte) error {
	err := m.x.MapFile(len(content), f, mmap.Granule)
	if err == nil {
		m.want = bytes.Clone(content)
	}
	m.check()
	return err
}

// newFileModel returns an extent that shows a file, or skips the test.
func newFileModel(t *testing.T, seed uint64, size int) (m *extentModel, f *os.File, content []byte) {
	t.Helper()
	m = newExtentModel(t, seed)
	f, content = padded(t, size)
	if err := m.mapFile(f, content); err != nil {
		require.ErrorIs(t, err, mmap.ErrUnsupported)
		require.ErrorIs(t, err, alloc.ErrCommit)
		require.Nil(t, m.x.Base())
		require.NoError(t, m.resize(3<<20)) // as if nothing had been
		m.close()
		t.Skip("files cannot be mapped")
	}
	return m, f, content
}

// TestExtentMapFile: the bytes are the file's, are written without it, and what grows reads zero,
// also where the file's bytes were.
func TestExtentMapFile(t *testing.T) {
	const g = mmap.Granule
	base := committed()
	m, f, content := newFileModel(t, 1, 3*g-g/2)
	budget := func(granules int) {
		t.Helper()
		require.Equal(t, base+int64(granules)*g, committed())
		require.Equal(t, granules*g, m.u.Stats().Extents)
	}
	require.True(t, m.x.Mapped())
	require.Zero(t, m.u.Stats().LiveChunks)
	budget(3)
	at := m.x.Base()
	for _, s := range []struct{ size, granules int }{
		{3*g - g/2 + 5, 3}, // inside the last granule
		{5*g + 1, 6},       // granules behind the file's
		{4 * g, 4},
		{g + g/2, 2}, // one of the file's goes
		{3 * g, 3},   // and comes back as zeros
		{1, 1},       // what is not given back is cleared
		{g, 1},
	} {
		require.NoError(t, m.resize(s.size)) // writes at random
		require.Equal(t, at, m.x.Base())
		budget(s.granules)
	}
	require.NoError(t, m.resize(0))
	require.False(t, m.x.Mapped())
	budget(0)
	requireFile(t, f, content)

	require.NoError(t, m.resize(3*g)) // at the same addresses, mostly
	require.NoError(t, m.resize(0))
	require.NoError(t, m.mapFile(f, content), "again")
	m.close()
	budget(0)
}

// TestExtentMapFileSmall: an extent of a few bytes lies in a reservation too, from which it moves
// when that is too short.
func TestExtentMapFileSmall(t *testing.T) {
	base := committed()
	m, f, content := newFileModel(t, 2, 100)
	require.NoError(t, m.resize(50))
	require.NoError(t, m.resize(alloc.ChunkSize))
	require.True(t, m.x.Mapped())
	require.NoError(t, m.resize(0))
	require.NoError(t, m.resize(100))
	require.False(t, m.x.Mapped())
	require.NoError(t, m.resize(0))

	m.x.ReserveLeast()
	require.NoError(t, m.mapFile(f, content))
	at := m.x.Base()
	require.NoError(t, m.resize(3<<20))
	require.NotEqual(t, at, m.x.Base())
	m.close()
	require.NoError(t, m.u.Close())
	require.Equal(t, base, committed())
	requireFile(t, f, content)
}

// TestExtentMapFileAgainstModel resizes what began as a file.
func TestExtentMapFileAgainstModel(t *testing.T) {
	base := committed()
	rng := rand.New(rand.NewPCG(3, 4))
	for seed := range uint64(3) {
		m, f, content := newFileModel(t, seed, 1+rng.IntN(9<<20))
		for range 20 {
			require.NoError(t, m.resize(m.rng.IntN(1<<(8+m.rng.IntN(16)))))
			if m.rng.IntN(5) == 0 {
				require.NoError(t, m.resize(0))
				require.NoError(t, m.mapFile(f, content))
			}
		}
		m.close()
		require.NoError(t, m.u.Close())
		require.Equal(t, base, committed())
		requireFile(t, f, content)
	}
}

// TestExtentMapFilePanics: what breaks the contract changes nothing.
func TestExtentMapFilePanics(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	base := committed()
	x, used := u.NewExtent(20<<20), u.NewExtent(20<<20)
	f := numbered(t, 1)
	require.NoError(t, used.Resize(7))
	for want, call := range map[string]func() error{
		"the file is nil":                                    func() error { return x.MapFile(1, nil, 0) },
		"size=-1 is negative":                                func() error { return x.MapFile(-1, f, 0) },
		"the extent has 7 bytes":                             func() error { return used.MapFile(7, f, 0) },
		"at=1 is not a multiple of ":                         func() error { return x.MapFile(1, f, 1) },
		"at=-2097152 is not a multiple of 2097152 from 0 on": func() error { return x.MapFile(1, f, -mmap.Granule) },
	} {
		require.Contains(t, panicText(func() { _ = call() }), "alloc: Extent.MapFile: "+want)
		require.NoError(t, x.Verify())
		require.NoError(t, used.Verify())
		require.Zero(t, x.Size())
		require.Equal(t, 7, used.Size())
	}
	require.NoError(t, x.MapFile(0, f, 0))
	require.Nil(t, x.Base())
	require.NoError(t, x.Verify())
	require.NoError(t, used.Release())
	require.Zero(t, u.Stats().Extents)
	require.LessOrEqual(t, committed(), base+mmap.Granule) // the chunk of used
}

// TestExtentMapFileVerify: a file that has something after the size breaks X2.
func TestExtentMapFileVerify(t *testing.T) {
	m, f, _ := newFileModel(t, 5, 100)
	require.NoError(t, m.resize(0))
	_, err := f.WriteAt([]byte{9}, mmap.Granule+5000)
	require.NoError(t, err)
	require.NoError(t, m.x.MapFile(100, f, mmap.Granule))
	require.EqualError(t, m.x.Verify(), "alloc: X2: byte 4900 behind an extent of 100 bytes is 0x9")
	require.NoError(t, m.x.Resize(0))
	m.close()
}

// TestExtentMapFileRefused: over the limit, no budget, and too short a file.
func TestExtentMapFileRefused(t *testing.T) {
	m, f, content := newFileModel(t, 6, 3<<20)
	require.NoError(t, m.resize(0))
	refused := func(size int, sentinel error, text string) {
		t.Helper()
		before := committed()
		err := m.x.MapFile(size, f, mmap.Granule)
		require.ErrorIs(t, err, sentinel)
		require.ErrorContains(t, err, fmt.Sprintf("alloc: Extent.MapFile: %d bytes", size))
		require.ErrorContains(t, err, text)
		m.check()
		require.Nil(t, m.x.Base())
		require.Equal(t, before, committed())
		require.Zero(t, m.u.Stats().Extents)
	}
	refused(20<<20+1, alloc.ErrTooBig, ", the limit is 20971520: request over the limit")
	refused(4<<20+1, alloc.ErrCommit, "the file ends before")
	t.Run("budget", func(t *testing.T) {
		setBudget(t, alloc.Budget{OffHeap: alloc.PurgeAll() + 4<<20 - 1})
		refused(2<<20+1, alloc.ErrBudget, "would pass the budget")
		refused(2<<20+1, alloc.ErrCommit, "would pass the budget")
		require.NoError(t, m.x.MapFile(2<<20, f, mmap.Granule))
		require.NoError(t, m.x.Verify())
		require.NoError(t, m.x.Release())
	})
	require.NoError(t, m.mapFile(f, content))
	m.close()
}

// TestExtentMapFileEveryRefusal makes the k-th call of the layer below fail, for every k.
func TestExtentMapFileEveryRefusal(t *testing.T) {
	m, f, content := newFileModel(t, 7, 3<<20)
	m.close()
	base := committed()
	for k, more := 1, true; more; k++ {
		m := newExtentModel(t, uint64(k))
		script := &alloc.Script{FailAt: k, Err: errNoMemory}
		m.x.FailMappings(script)
		for range 2 {
			if err := m.mapFile(f, content); err != nil {
				require.ErrorIs(t, err, errNoMemory)
				require.ErrorContains(t, err, "alloc: Extent.MapFile: 3145728 bytes: ")
				require.Zero(t, m.x.Size())
				continue
			}
			for _, size := range []int{7 << 20, 1 << 20, 3 << 20, 0} {
				if err := m.resize(size); err != nil {
					require.ErrorIs(t, err, errNoMemory)
				}
			}
		}
		m.close()
		require.NoError(t, m.u.Close())
		require.Equal(t, base, committed())
		more = script.Calls >= k
		require.True(t, more || k > 10, "%d calls", script.Calls)
	}
	requireFile(t, f, content)
}

// TestExtentMapFileEveryInjectedFailure asks the failures of its universe for the memory.
func TestExtentMapFileEveryInjectedFailure(t *testing.T) {
	m, f, content := newFileModel(t, 8, 3<<20)
	m.close()
	require.NoError(t, alloc.CheckEveryFailure(func(s *alloc.Failures) error {
		m := newExtentModel(t, 4, alloc.InjectFailures(s))
		defer m.close()
		if err := m.mapFile(f, content); err != nil {
			return err
		}
		return m.resize(9 << 20)
	}))
}
