package wrap_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// dirt fills each new block with a pattern, and remembers what a freed one and the
// end of a shrunk one read. It refuses every third resize.
type dirt struct {
	alloc.Allocator
	resizes int
	freed   []byte // what the last freed block read
	lost    []byte // what the last shrunk one lost
}

func (d *dirt) Alloc(size, align int) (unsafe.Pointer, error) {
	p, err := d.Allocator.Alloc(size, align)
	if err == nil {
		copy(unsafe.Slice((*byte)(p), size), bytes.Repeat([]byte{0xAA}, size))
	}
	return p, err
}

func (d *dirt) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	if d.resizes++; to != size && d.resizes%3 == 0 {
		return false
	}
	lost := append([]byte(nil), unsafe.Slice((*byte)(p), size)[min(size, to):]...)
	ok := d.Allocator.ResizeSized(p, size, align, to)
	if ok && to > size {
		copy(unsafe.Slice((*byte)(p), to)[size:], bytes.Repeat([]byte{0xBB}, to-size))
	}
	if ok && to < size {
		d.lost = lost
	}
	return ok
}

func (d *dirt) FreeSized(p unsafe.Pointer, size, align int) {
	if p != nil {
		d.freed = append([]byte(nil), unsafe.Slice((*byte)(p), size)...)
	}
	d.Allocator.FreeSized(p, size, align)
}

func TestZeroOverDirt(t *testing.T) {
	for _, wipe := range []bool{false, true} {
		d := &dirt{Allocator: newHeap(t)}
		z := wrap.NewZero(d)
		if wipe {
			z = wrap.NewZero(d, wrap.Wipe())
		}
		r := rand.New(rand.NewPCG(3, 4))
		model := map[unsafe.Pointer][]byte{}
		var freed []byte
		see := func(b live, to int, ok bool) {
			was, known := model[b.p]
			switch {
			case to < 0:
				require.Equal(t, was, bytesOf(b.p, b.size))
				delete(model, b.p)
				freed = was
				return
			case !ok:
				require.Equal(t, was, bytesOf(b.p, b.size), "what is refused leaves the block as it was")
				return
			}
			now := make([]byte, to)
			copy(now, was)
			b.size = to
			require.Equal(t, now, bytesOf(b.p, b.size), "known %v", known)
			if known && to < len(was) {
				require.Equal(t, wipe, bytes.Equal(d.lost, make([]byte, len(was)-to)), "what a shrink loses")
			}
			for i := range now {
				now[i] = byte(r.IntN(255)) + 1
			}
			copy(bytesOf(b.p, b.size), now)
			model[b.p] = now
		}
		blocks := randomCalls(t, z, r, 1500, see)
		require.NotEmpty(t, freed)
		freeAll(z, blocks)
		z.FreeSized(nil, 100, 0)
		p, err := z.Alloc(1000, 0)
		require.NoError(t, err)
		secret := unsafe.Slice((*byte)(p), 1000)
		copy(secret, bytes.Repeat([]byte{7}, 1000))
		want := append([]byte(nil), secret...)
		if wipe {
			clear(want)
		}
		z.FreeSized(p, 1000, 0)
		require.Equal(t, want, d.freed)
	}
}

// TestZeroOfManySteps clears blocks of more than one step.
func TestZeroOfManySteps(t *testing.T) {
	d := &dirt{Allocator: newHeap(t)}
	z := wrap.NewZero(d, wrap.Wipe())
	const size = 700_001
	p, err := z.Alloc(size, 0)
	require.NoError(t, err)
	b := unsafe.Slice((*byte)(p), size)
	require.True(t, bytes.Equal(make([]byte, size), b))
	copy(b, bytes.Repeat([]byte{5}, size))
	z.FreeSized(p, size, 0)
	require.Len(t, d.freed, size)
	require.True(t, bytes.Equal(make([]byte, size), d.freed))
}

// TestZeroAsksForZeros looks which way blocks come.
func TestZeroAsksForZeros(t *testing.T) {
	h := newHeap(t)
	l := h.NewLocal()
	defer l.Close()
	for _, a := range []alloc.Reallocator{h, l} {
		s := &asked{Reallocator: a}
		z := wrap.NewZero(s)
		for i, size := range []int{0, 1, 64, 1000, 32 << 10, 32<<10 + 1, 100_000, 2 << 20} {
			for range 2 { // the second time from memory that was used
				p, err := z.Alloc(size, 0)
				require.NoError(t, err)
				b := bytesOf(p, size)
				require.True(t, bytes.Equal(make([]byte, size), b))
				for i := range b {
					b[i] = 1
				}
				z.FreeSized(p, size, 0)
			}
			require.Equal(t, 2*(i+1), s.zeroed)
		}
	}
}

// asked counts calls of AllocZeroed.
type asked struct {
	alloc.Reallocator
	zeroed int
}

func (a *asked) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	a.zeroed++
	return a.Reallocator.AllocZeroed(size, align)
}

// TestZeroWritesNothingOfOthers gives back blocks with sizes that they have not:
// the heap must panic before a byte behind them is wiped.
func TestZeroWritesNothingOfOthers(t *testing.T) {
	h := newHeap(t)
	z := wrap.NewZero(h, wrap.Wipe())
	p, err := z.Alloc(64, 0)
	require.NoError(t, err)
	q, err := z.Alloc(64, 0)
	require.NoError(t, err)
	for _, b := range []unsafe.Pointer{p, q} {
		copy(unsafe.Slice((*byte)(b), 64), bytes.Repeat([]byte{9}, 64))
	}
	require.Panics(t, func() { z.FreeSized(p, 4096, 0) })
	require.Panics(t, func() { z.ResizeSized(p, 4096, 0, 16) })
	for _, b := range []unsafe.Pointer{p, q} {
		require.Equal(t, bytes.Repeat([]byte{9}, 64), unsafe.Slice((*byte)(b), 64))
		z.FreeSized(b, 64, 0)
	}
	require.Equal(t, alloc.Allocator(h), z.Unwrap())
}
