package arrowalloc_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/arrowalloc"
)

// Streams of operations on arrow's buffers and builders, on the heap and on a slow twin. Four bytes
// are an operation: what it does, to which of eight places, and a number.

// plain is the slow twin: each call makes a slice of Go's and copies.
type plain struct{}

func (plain) Allocate(size int) []byte { return make([]byte, size) }

func (plain) Reallocate(size int, b []byte) []byte {
	to := make([]byte, size)
	copy(to, b)
	return to
}

func (plain) Free([]byte) {}

// pair is a buffer or a builder on both sides.
type pair struct {
	mine, slow *memory.Buffer
	list, twin *array.Int64Builder
	ids        []int64 // what the builder must hold
}

func (p *pair) open(mem *arrowalloc.Allocator) {
	*p = pair{
		mine: memory.NewResizableBuffer(mem), slow: memory.NewResizableBuffer(plain{}),
		list: array.NewInt64Builder(mem), twin: array.NewInt64Builder(plain{}),
	}
}

func (p *pair) release() {
	p.mine.Release()
	p.slow.Release()
	p.list.Release()
	p.twin.Release()
}

// stream runs data and compares both sides after every step.
func stream(t testing.TB, mem *arrowalloc.Allocator, data []byte) {
	var places [8]pair
	for i := range places {
		places[i].open(mem)
	}
	for ; len(data) >= 4; data = data[4:] {
		p := &places[data[1]%8]
		n := int(binary.LittleEndian.Uint16(data[2:]))
		if data[1] >= 248 { // some are large
			n *= 40
		}
		step(t, mem, p, data[0]%10, n)
		require.Equal(t, p.slow.Buf(), p.mine.Buf())
		require.Equal(t, []int{p.slow.Len(), p.slow.Cap()}, []int{p.mine.Len(), p.mine.Cap()})
	}
	for i := range places {
		places[i].release()
	}
	mem.AssertSize(t, 0)
}

// step does one operation on both sides of p.
func step(t testing.TB, mem *arrowalloc.Allocator, p *pair, kind byte, n int) {
	switch kind {
	case 0:
		p.mine.Resize(n)
		p.slow.Resize(n)
	case 1:
		p.mine.ResizeNoShrink(n)
		p.slow.ResizeNoShrink(n)
	case 2:
		p.mine.Reserve(n)
		p.slow.Reserve(n)
	case 3: // write what is there
		fill(p.mine.Bytes(), byte(n))
		fill(p.slow.Bytes(), byte(n))
	case 4:
		given := make([]byte, n)
		fill(given, byte(n))
		p.mine.Reset(given)
		p.slow.Reset(given)
	case 5: // a slice of the buffer outlives it
		if size := p.mine.Len(); size > 0 {
			mine, slow := memory.SliceBuffer(p.mine, n%size, size-n%size),
				memory.SliceBuffer(p.slow, n%size, size-n%size)
			p.mine.Release()
			p.slow.Release()
			require.Equal(t, slow.Bytes(), mine.Bytes())
			mine.Release()
			slow.Release()
			p.mine, p.slow = memory.NewResizableBuffer(mem), memory.NewResizableBuffer(plain{})
		}
	case 6:
		for i := range n % 500 {
			p.list.Append(int64(i ^ n))
			p.twin.Append(int64(i ^ n))
			p.ids = append(p.ids, int64(i^n))
		}
	case 7:
		p.list.Reserve(n % 5000)
		p.twin.Reserve(n % 5000)
	case 8:
		mine, slow := p.list.NewInt64Array(), p.twin.NewInt64Array()
		require.True(t, array.Equal(slow, mine))
		require.Equal(t, len(p.ids), mine.Len())
		for i, id := range p.ids {
			require.Equal(t, id, mine.Value(i))
		}
		p.ids = p.ids[:0]
		mine.Release()
		slow.Release()
	case 9:
		p.release()
		p.open(mem)
	}
}

// TestStream runs seeded streams on a heap, and some of them under a Guard too.
func TestStream(t *testing.T) {
	streams, length := 24, 400
	if testing.Short() {
		streams, length = 6, 200
	}
	heap := newHeap(t)
	for seed := range streams {
		data := make([]byte, 4*length)
		r := rand.NewChaCha8([32]byte{byte(seed)})
		_, _ = r.Read(data)
		stream(t, arrowalloc.New(heap), data)
		if seed < 3 {
			guard := wrap.NewGuard(heap)
			stream(t, arrowalloc.New(guard), data)
			require.NoError(t, guard.Close())
		}
	}
	require.Zero(t, heap.Stats().LiveBlocks)
}

// FuzzStream is stream on any bytes.
func FuzzStream(f *testing.F) {
	f.Add([]byte{0, 0, 100, 0, 3, 0, 7, 0, 0, 0, 50, 0, 0, 0, 200, 0, 5, 0, 3, 0})
	f.Add([]byte{6, 1, 100, 0, 8, 1, 0, 0, 7, 1, 200, 3, 6, 1, 99, 1, 8, 1, 0, 0, 9, 1, 0, 0})
	f.Add([]byte{0, 255, 255, 255, 4, 255, 1, 0, 2, 255, 255, 255, 1, 255, 0, 0})
	u, err := alloc.NewUniverse()
	require.NoError(f, err)
	h, err := alloc.NewHeap(u)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		stream(t, arrowalloc.New(h), data[:min(len(data), 4000)])
	})
}
