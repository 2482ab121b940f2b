package alloc_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// spanModel is a heap with blocks above 1 MiB among small ones. Every block has its own number at
// the start of each chunk and in its last eight bytes.
type spanModel struct {
	t    *testing.T
	u    *alloc.Universe
	h    *alloc.Heap
	rng  *rand.Rand
	base int64 // committed by others
	live []modelBlock64
	held int // bytes requested
}

type modelBlock64 struct {
	p     unsafe.Pointer
	size  int
	align int
	mark  uint64
}

func (b modelBlock64) at(off int) *uint64 { return (*uint64)(unsafe.Add(b.p, off)) }

func (b modelBlock64) fill() {
	for off := 0; off+8 <= b.size; off += alloc.ChunkSize {
		*b.at(off) = b.mark
	}
	*b.at((b.size - 8) &^ 7) = b.mark
}

// check compares the first n bytes.
func (m *spanModel) check(b modelBlock64, n int) {
	for off := 0; off+8 <= n; off += alloc.ChunkSize {
		if got := *b.at(off); got != b.mark {
			m.t.Fatalf("block of %d bytes: at %d: got %#x want %#x", b.size, off, got, b.mark)
		}
	}
}

func (m *spanModel) size() int {
	switch m.rng.IntN(8) {
	case 0:
		return 8 + m.rng.IntN(1<<20)
	case 3, 4:
		return 250_000 + m.rng.IntN(800_000)
	case 1:
		return 1<<20 + m.rng.IntN(2*alloc.ChunkSize)
	case 2:
		return 1<<20 + m.rng.IntN(16<<20)
	}
	return 1<<20 + m.rng.IntN(4<<20)
}

func (m *spanModel) alloc(step uint64) {
	b := modelBlock64{size: m.size(), mark: step}
	if m.rng.IntN(4) == 0 {
		b.align = 1 << (4 + m.rng.IntN(19)) // up to 4 MiB
	}
	zeroed := m.rng.IntN(3) == 0
	if zeroed {
		b.p = must(m.h.AllocZeroed(b.size, b.align))
		for off := 0; off < b.size; off += 1024 {
			if got := *(*byte)(unsafe.Add(b.p, off)); got != 0 {
				m.t.Fatalf("AllocZeroed(%d): byte %d: got %d want 0", b.size, off, got)
			}
		}
	} else {
		b.p = must(m.h.Alloc(b.size, b.align))
	}
	require.Zero(m.t, uintptr(b.p)%uintptr(max(b.align, 1)))
	require.GreaterOrEqual(m.t, m.h.Usable(b.p), b.size)
	require.True(m.t, m.h.Owns(b.p))
	b.fill()
	m.live = append(m.live, b)
	m.held += b.size
}

func (m *spanModel) resize(i int) {
	b := m.live[i]
	old, to := b.size, m.size()
	m.check(b, old)
	switch m.rng.IntN(3) {
	case 0:
		if !m.h.Resize(b.p, to) {
			return
		}
	case 1:
		if !m.h.ResizeSized(b.p, b.size, b.align, to) {
			return
		}
	default:
		b.p, b.align = must(m.h.Realloc(b.p, to, 0)), 0
	}
	b.size = to
	m.check(b, min(old, to))
	b.fill()
	m.live[i] = b
	m.held += to - old
}

func (m *spanModel) free(i int) {
	b := m.live[i]
	m.check(b, b.size)
	if m.rng.IntN(2) == 0 {
		m.h.FreeSized(b.p, b.size, b.align)
	} else {
		m.h.Free(b.p)
	}
	require.False(m.t, m.h.Owns(b.p))
	m.held -= b.size
	m.live[i] = m.live[len(m.live)-1]
	m.live = m.live[:len(m.live)-1]
}

func (m *spanModel) verify() {
	require.NoError(m.t, m.h.Verify())
	require.NoError(m.t, m.u.Verify())
	require.Equal(m.t, len(m.live), m.h.Stats().LiveBlocks)
	require.Equal(m.t, m.u.Stats().LiveChunks, m.h.Stats().Chunks)
	require.Equal(m.t, m.base+m.u.CommittedBytes()+m.h.CommittedBytes(), committed())
}

// TestSpansAgainstModel runs a stream of allocations, resizes and frees of large blocks among small
// ones, while free memory is given back now and then. Some blocks are above the share of spans and
// have mappings.
func TestSpansAgainstModel(t *testing.T) {
	base := committed()
	u := newUniverse(t, alloc.Size(spanUniverse), alloc.SmallPages())
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	m := &spanModel{t: t, u: u, h: h, rng: rand.New(rand.NewPCG(8, 15)), base: base}
	steps := 4000
	if testing.Short() {
		steps = 800
	}
	spans := 0
	for step := range steps {
		switch op := m.rng.IntN(100); {
		case op < 3:
			_, err := u.Trim(m.rng.IntN(3) << 22)
			require.NoError(t, err)
		case op < 4:
			require.NoError(t, h.Trim())
		case op < 50 && m.held < 90<<20 || len(m.live) == 0:
			m.alloc(uint64(step) + 1)
		case op < 75:
			m.resize(m.rng.IntN(len(m.live)))
		default:
			m.free(m.rng.IntN(len(m.live)))
		}
		m.verify()
		spans += h.Spans()
	}
	require.Greater(t, spans, steps, "there is about one span at each step")
	for len(m.live) > 0 {
		m.free(len(m.live) - 1)
	}
	require.NoError(t, h.Trim())
	require.Equal(t, alloc.HeapStats{}, h.Stats())
	require.Zero(t, u.SpanChunks())
	m.verify()
	require.NoError(t, h.Close())
}
