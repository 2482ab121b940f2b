package alloc_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/universe"
	"quarry/mmap"
)

// extentModel is an extent beside the bytes that it should have.
type extentModel struct {
	t    *testing.T
	u    *alloc.Universe
	x    *universe.Extent
	want []byte
	rng  *rand.Rand
}

func newExtentModel(t *testing.T, seed uint64, options ...alloc.Option) *extentModel {
	u := newUniverse(t, append([]alloc.Option{alloc.Size(16 << 20)}, options...)...)
	return &extentModel{t: t, u: u, x: u.NewExtent(20 << 20), rng: rand.New(rand.NewPCG(seed, 2))}
}

// resize resizes both, and writes some of what came.
func (m *extentModel) resize(size int) error {
	err := m.x.Resize(size)
	if err == nil {
		before := len(m.want)
		if size < before {
			m.want = m.want[:size]
		} else {
			m.want = append(m.want, make([]byte, size-before)...)
		}
	}
	m.check()
	if err == nil && size > 0 {
		got := bytesOf(m.x.Base(), size)
		for range 100 {
			at := m.rng.IntN(size)
			got[at], m.want[at] = byte(at), byte(at)
		}
	}
	return err
}

func (m *extentModel) check() {
	m.t.Helper()
	require.NoError(m.t, m.x.Verify())
	require.Equal(m.t, len(m.want), m.x.Size())
	if len(m.want) > 0 {
		require.True(m.t, string(bytesOf(m.x.Base(), len(m.want))) == string(m.want), "the bytes stay")
	}
	chunks := 0
	if !m.x.Mapped() {
		chunks = (len(m.want) + alloc.ChunkSize - 1) / alloc.ChunkSize
	}
	stats := m.u.Stats()
	require.Equal(m.t, chunks, stats.LiveChunks)
	if m.x.Mapped() {
		require.GreaterOrEqual(m.t, stats.Extents, len(m.want))
	}
}

// close gives all back; the system may refuse once.
func (m *extentModel) close() {
	m.want = nil
	if err := m.x.Release(); err != nil {
		require.ErrorIs(m.t, err, errNoMemory)
		require.ErrorContains(m.t, err, "alloc: Extent.Release: ")
		require.NoError(m.t, m.x.Release())
	}
	m.check()
	require.Zero(m.t, m.u.Stats().Extents)
}

// TestExtentAgainstModel resizes between chunks, runs and reservations.
func TestExtentAgainstModel(t *testing.T) {
	base := committed()
	for seed := range uint64(3) {
		m := newExtentModel(t, seed)
		for range 60 {
			size := m.rng.IntN(1 << (8 + m.rng.IntN(16)))
			require.NoError(t, m.resize(size))
		}
		m.close()
		require.NoError(t, m.u.Close())
		require.Equal(t, base, committed())
	}
}

// TestExtentStays: a run that can be extended stays where it is, and so does a reservation,
// where addresses are no memory.
func TestExtentStays(t *testing.T) {
	m := newExtentModel(t, 1)
	require.NoError(t, m.resize(1))
	at := m.x.Base()
	require.NoError(t, m.resize(2*alloc.ChunkSize))
	require.Equal(t, at, m.x.Base())
	require.NoError(t, m.resize(alloc.MegachunkSize))
	require.False(t, m.x.Mapped())
	require.NoError(t, m.resize(alloc.MegachunkSize+1))
	require.True(t, m.x.Mapped())
	require.ErrorIs(t, m.u.Close(), alloc.ErrInUse)
	at = m.x.Base()
	require.NoError(t, m.resize(20<<20))
	require.Equal(t, mmap.Real, at == m.x.Base())
	m.close()
}

// TestExtentMoves: where the chunks behind a run are taken, it moves.
func TestExtentMoves(t *testing.T) {
	m := newExtentModel(t, 2)
	require.NoError(t, m.resize(alloc.ChunkSize))
	other, err := m.u.AllocExact(1)
	require.NoError(t, err)
	require.NoError(t, m.x.Verify())
	at := m.x.Base()
	require.NoError(t, m.x.Resize(3*alloc.ChunkSize))
	require.NotEqual(t, at, m.x.Base())
	require.True(t, string(bytesOf(m.x.Base(), len(m.want))) == string(m.want))
	m.u.Free(other, 1)
	m.want = append(m.want, make([]byte, 2*alloc.ChunkSize)...)
	m.close()
}

// TestExtentRefuses: a size below 0, one over the limit, and a universe that is full.
func TestExtentRefuses(t *testing.T) {
	m := newExtentModel(t, 3)
	require.Equal(t, "alloc: Extent.Resize: size=-1 is negative", panicText(func() { _ = m.x.Resize(-1) }))
	err := m.resize(20<<20 + 1)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.EqualError(t, err, "alloc: Extent.Resize: 20971521 bytes, the limit is 20971520: request over the limit")
	require.NoError(t, m.resize(5))
	var hog []alloc.ChunkIndex
	for c, err := m.u.AllocExact(1); err == nil; c, err = m.u.AllocExact(1) {
		hog = append(hog, c)
	}
	m.x.FailMappings(&alloc.Script{FailAt: 1, Err: errNoMemory})
	err = m.x.Resize(alloc.ChunkSize + 1)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.ErrorContains(t, err, "alloc: Extent.Resize: from 5 to 16385 bytes: ")
	require.Equal(t, 5, m.x.Size())
	require.NoError(t, m.x.Resize(alloc.ChunkSize+1))
	require.True(t, m.x.Mapped(), "where no run is free")
	require.NoError(t, m.x.Verify())
	for _, c := range hog {
		m.u.Free(c, 1)
	}
	live := m.u.Stats().LiveChunks
	require.NoError(t, m.x.Resize(alloc.ChunkSize))
	require.True(t, m.x.Mapped(), "what shrinks takes no chunks")
	require.Equal(t, live, m.u.Stats().LiveChunks)
	require.NoError(t, m.x.Resize(0))
	require.False(t, m.x.Mapped())
	m.close()
}

// TestExtentEveryRefusal makes the k-th call of the layer below fail, for every k.
func TestExtentEveryRefusal(t *testing.T) {
	base := committed()
	for k, more := 1, true; more; k++ {
		m := newExtentModel(t, uint64(k))
		script := &alloc.Script{FailAt: k, Err: errNoMemory}
		m.x.FailMappings(script)
		for _, size := range []int{100, 1 << 20, 3 << 20, 9 << 20, 5 << 20, 17 << 20, 0, 2 << 20, 0} {
			if err := m.resize(size); err != nil {
				require.ErrorIs(t, err, errNoMemory)
				require.GreaterOrEqual(t, size, 1<<20)
			}
		}
		m.close()
		require.NoError(t, m.u.Close())
		require.Equal(t, base, committed())
		more = script.Calls >= k
		require.True(t, more || k > 6, "%d calls", script.Calls)
	}
}

// TestExtentEveryInjectedFailure asks the failures of its universe for each memory that it takes.
func TestExtentEveryInjectedFailure(t *testing.T) {
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		m := newExtentModel(t, 4, alloc.InjectFailures(f))
		defer m.close()
		for _, size := range []int{100, 3 * alloc.ChunkSize, 1 << 20, 3 << 20, 9 << 20} {
			if err := m.resize(size); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestExtentVerify corrupts each invariant in turn.
func TestExtentVerify(t *testing.T) {
	m := newExtentModel(t, 5)
	require.NoError(t, m.resize(alloc.ChunkSize+1))
	for _, name := range []string{"X1", "X1 none", "X2"} {
		restore := m.x.Corrupt(name)
		require.ErrorContains(t, m.x.Verify(), "alloc: "+name[:2]+":", name)
		restore()
		require.NoError(t, m.x.Verify())
	}
	m.close()
}
