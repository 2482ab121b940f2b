package alloc_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// heapModel is what must be true of a heap and its Locals: the live blocks, each
// filled with a pattern of its own.
type heapModel struct {
	t      *testing.T
	h      *alloc.Heap
	locals []*alloc.Local
	rng    *rand.Rand
	live   []modelBlock
	bytes  int
}

type modelBlock struct {
	p     unsafe.Pointer
	size  int
	align int
	mark  byte
}

// any returns the heap or one of the Locals.
func (m *heapModel) any() allocator {
	if i := m.rng.IntN(len(m.locals) + 1); i < len(m.locals) {
		return m.locals[i]
	}
	return m.h
}

func (m *heapModel) size() int {
	switch m.rng.IntN(20) {
	case 0:
		return m.rng.IntN(200_000)
	case 1, 2:
		return m.rng.IntN(9000)
	case 3:
		return 0
	default:
		return m.rng.IntN(300)
	}
}

func (m *heapModel) fill(b modelBlock) {
	s := bytesOf(b.p, b.size)
	for i := range s {
		s[i] = b.mark + byte(i)
	}
}

func (m *heapModel) check(b modelBlock, n int) {
	for i, v := range bytesOf(b.p, n) {
		if v != b.mark+byte(i) {
			m.t.Fatalf("block of %d bytes: byte %d: got %d want %d", b.size, i, v, b.mark+byte(i))
		}
	}
}

func (m *heapModel) alloc(step int) {
	n, align := m.size(), 1<<m.rng.IntN(15)
	a := m.any()
	var p unsafe.Pointer
	var err error
	if step%3 == 0 {
		p, err = a.AllocZeroed(n, align)
	} else {
		p, err = a.Alloc(n, align)
	}
	require.NoError(m.t, err)
	require.Zero(m.t, uintptr(p)%uintptr(align))
	require.GreaterOrEqual(m.t, m.any().Usable(p), n)
	require.True(m.t, m.h.Owns(p))
	if step%3 == 0 {
		for i, v := range bytesOf(p, n) {
			if v != 0 {
				m.t.Fatalf("AllocZeroed(%d): byte %d: got %d want 0", n, i, v)
			}
		}
	}
	b := modelBlock{p, n, align, byte(step)}
	m.fill(b)
	m.live = append(m.live, b)
	m.bytes += n
}

func (m *heapModel) resize(i int) {
	b := m.live[i]
	n := m.size()
	m.check(b, b.size)
	p := b.p
	var err error
	switch m.rng.IntN(5) {
	case 0:
		if !m.any().Resize(b.p, n) {
			n = b.size
		}
	case 1:
		p, err = m.any().ReallocSized(b.p, b.size, b.align, n)
	case 2:
		p, err = m.any().ReallocZeroed(b.p, b.size, b.align, n)
		for i := b.size; i < n; i++ {
			if v := bytesOf(p, n)[i]; v != 0 {
				m.t.Fatalf("ReallocZeroed(%d to %d): byte %d: got %d want 0", b.size, n, i, v)
			}
		}
	default:
		p, err = m.any().Realloc(b.p, n, 0)
		b.align = 0
	}
	require.NoError(m.t, err)
	m.bytes += n - b.size
	old := b.size
	b.p, b.size = p, n
	m.check(b, min(n, old))
	m.fill(b)
	m.live[i] = b
}

func (m *heapModel) free(i int) {
	b := m.live[i]
	m.check(b, b.size)
	m.any().Free(b.p)
	m.bytes -= b.size
	m.live[i] = m.live[len(m.live)-1]
	m.live = m.live[:len(m.live)-1]
}

// TestHeapAgainstModel runs a stream of allocations, reallocations and frees of
// all sizes and alignments, each through the heap or a random Local; every byte
// of every block is filled and checked. Locals come and go.
func TestHeapAgainstModel(t *testing.T) {
	for _, growth := range []alloc.Growth{{}, alloc.Fixed(5), alloc.Geometric(1.5).Capped(16)} {
		t.Run(growth.String(), func(t *testing.T) { testHeapAgainstModel(t, growth) })
	}
}

func testHeapAgainstModel(t *testing.T, growth alloc.Growth) {
	u := newUniverse(t, alloc.Size(48<<20))
	h, err := alloc.NewHeap(u, alloc.SlabGrowth(growth))
	require.NoError(t, err)
	m := &heapModel{t: t, h: h, rng: rand.New(rand.NewPCG(5, 9))}
	steps := 20_000
	if testing.Short() {
		steps = 3000
	}
	for step := range steps {
		switch op := m.rng.IntN(1000); {
		case op < 5 && len(m.locals) < 5:
			m.locals = append(m.locals, h.NewLocal())
		case op < 9 && len(m.locals) > 0:
			m.locals[0].Close()
			m.locals = m.locals[1:]
		case op < 10:
			require.NoError(t, h.Trim())
		case op < 500 && m.bytes < 20<<20 || len(m.live) == 0:
			m.alloc(step)
		case op < 700:
			m.resize(m.rng.IntN(len(m.live)))
		default:
			m.free(m.rng.IntN(len(m.live)))
		}
		require.Equal(t, len(m.live), h.Stats().LiveBlocks)
		if step%256 == 0 {
			require.NoError(t, h.Verify(), "step %d", step)
			require.Equal(t, u.Stats().LiveChunks, h.Stats().Chunks)
		}
	}
	for len(m.live) > 0 {
		m.free(len(m.live) - 1)
	}
	for _, l := range m.locals {
		l.Close()
	}
	require.NoError(t, h.Verify())
	require.NoError(t, h.Trim())
	require.Equal(t, alloc.HeapStats{}, h.Stats())
	require.Zero(t, u.Stats().LiveChunks)
	require.NoError(t, h.Close())
}
