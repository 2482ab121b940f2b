package wrap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// wrapper is a kind of wrapper: around makes one, and the function that it returns is called at the
// end and returns the error.
type wrapper struct {
	name   string
	around func(a alloc.Allocator) (alloc.Allocator, func() error)
}

var none = func() error { return nil }

var wrappers = []wrapper{
	{"limit", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		l := wrap.NewLimit(a, 16<<20)
		return l, func() error {
			if l.Live() != 0 {
				return errors.New("Limit: bytes are live")
			}
			return nil
		}
	}},
	{"track", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		t := wrap.NewTrack(a, "composed")
		return t, t.Close
	}},
	{"guard", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		g := wrap.NewGuard(a)
		return g, g.Close
	}},
	{"guard with canaries", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		g := wrap.NewGuard(a, wrap.Canaries(), wrap.Quarantine(10<<10))
		return g, g.Close
	}},
	{"stats", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		s := wrap.NewStats(a)
		return s, func() error {
			if c := s.Counts(); c.LiveBlocks != 0 || c.LiveBytes != 0 {
				return fmt.Errorf("Stats: %v when all is freed", s)
			}
			return nil
		}
	}},
	{"zero", func(a alloc.Allocator) (alloc.Allocator, func() error) { return wrap.NewZero(a, wrap.Wipe()), none }},
	{"trace", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		var text bytes.Buffer
		t := wrap.NewTrace(a, &text)
		return t, func() error { return errors.Join(t.Close(), wellFormed(text.Bytes())) }
	}},
	{"profile", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		p := wrap.NewProfile(300)
		s := p.Wrap(a, "composed")
		return s, func() error {
			if n := s.Known(); n != 0 {
				return fmt.Errorf("Profile: %d blocks are live when all is freed", n)
			}
			return p.WriteProfile(io.Discard)
		}
	}},
	{"fail", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		return wrap.NewFail(a, &alloc.Failures{}), none
	}},
	{"fail at 20", func(a alloc.Allocator) (alloc.Allocator, func() error) {
		return wrap.NewFail(a, alloc.FailAt(20)), none
	}},
}

// base is what wrappers stand on.
type base struct {
	name string
	make func(t *testing.T) (a alloc.Allocator, end func())
}

var bases = []base{
	{"heap", func(t *testing.T) (alloc.Allocator, func()) {
		h := newHeap(t)
		return h, func() { require.Zero(t, h.Stats().LiveBlocks) }
	}},
	{"local", func(t *testing.T) (alloc.Allocator, func()) {
		l := newHeap(t).NewLocal()
		return l, l.Close
	}},
	{"universe", func(t *testing.T) (alloc.Allocator, func()) {
		u := newHeap(t).Universe()
		return u.Allocator(), func() { require.Zero(t, u.Stats().LiveChunks) }
	}},
	{"arena", func(t *testing.T) (alloc.Allocator, func()) {
		a := alloc.NewArena(newHeap(t))
		return a, func() {
			require.NoError(t, a.Verify())
			a.Close()
		}
	}},
	{"stack", func(t *testing.T) (alloc.Allocator, func()) {
		s, err := alloc.NewStack(newHeap(t), 8<<20)
		require.NoError(t, err)
		return s, func() { require.NoError(t, s.Close()) }
	}},
	{"pages", func(t *testing.T) (alloc.Allocator, func()) {
		p := alloc.NewPages(alloc.Retain(16 << 20)) // or most of the time would go to system calls
		return p, func() {
			require.NoError(t, p.Verify())
			require.NoError(t, p.Close())
		}
	}},
	{"pool", func(t *testing.T) (alloc.Allocator, func()) {
		p, err := alloc.NewPool[[1024]uint64](newHeap(t))
		require.NoError(t, err)
		return p, func() {
			require.NoError(t, p.Verify())
			require.NoError(t, p.Close())
		}
	}},
}

// compose runs a stream of operations through wrappers around a base, the first one
// innermost, and compares the contents of all live blocks with what was written.
func compose(t *testing.T, b base, chain []wrapper, r *rand.Rand) {
	a, end := b.make(t)
	closers := []func() error{}
	names := []string{b.name}
	for _, w := range chain {
		wrapped, done := w.around(a)
		require.True(t, a == wrapped.(interface{ Unwrap() alloc.Allocator }).Unwrap())
		a = wrapped
		closers = append(closers, done)
		names = append(names, w.name)
	}
	name := strings.Join(names, ", ")
	stream(t, name, a, r)
	for i := len(closers) - 1; i >= 0; i-- {
		require.NoError(t, closers[i](), name)
	}
	end()
}

type live struct {
	p           unsafe.Pointer
	size, align int
	fill        byte
}

func stream(t *testing.T, name string, a alloc.Allocator, r *rand.Rand) {
	var blocks []live
	lastFirst := alloc.FreesInOrder(a)
	pick := func() int {
		if lastFirst {
			return len(blocks) - 1
		}
		return r.IntN(len(blocks))
	}
	for range 60 {
		switch k := r.IntN(10); {
		case k < 5:
			size, align := r.IntN(3000), []int{0, 1, 8, 16, 64}[r.IntN(5)]
			if r.IntN(16) == 0 {
				size = 0
			}
			call := a.Alloc
			zeroed := r.IntN(3) == 0
			if zeroed {
				call = func(size, align int) (unsafe.Pointer, error) { return alloc.AllocZeroed(a, size, align) }
			}
			p, err := call(size, align)
			if err != nil {
				if !errors.Is(err, alloc.ErrInjected) && !errors.Is(err, alloc.ErrTooBig) &&
					!errors.Is(err, alloc.ErrFull) {
					t.Fatalf("%s: %v", name, err)
				}
				continue
			}
			if uintptr(p)%uintptr(max(align, 1)) != 0 {
				t.Fatalf("%s: %p is not aligned to %d", name, p, align)
			}
			if zeroed && !bytes.Equal(make([]byte, size), bytesOf(p, size)) {
				t.Fatalf("%s: AllocZeroed(%d) is not zero", name, size)
			}
			blocks = append(blocks, live{p, size, align, byte(r.Uint32())})
			write(bytesOf(p, size), blocks[len(blocks)-1].fill)
		case len(blocks) == 0:
		case k < 8:
			i := pick()
			a.FreeSized(blocks[i].p, blocks[i].size, blocks[i].align)
			blocks = append(blocks[:i], blocks[i+1:]...)
		case k == 8:
			reallocate(t, name, a, r, &blocks[pick()])
		default:
			b := &blocks[pick()]
			if to := r.IntN(3000); a.ResizeSized(b.p, b.size, b.align, to) {
				write(bytesOf(b.p, to)[min(to, b.size):], b.fill)
				b.size = to
			}
		}
		for _, b := range blocks {
			for i, v := range bytesOf(b.p, b.size) {
				if v != b.fill {
					t.Fatalf("%s: byte %d of a block of %d: got %d want %d", name, i, b.size, v, b.fill)
				}
			}
		}
	}
	for len(blocks) > 0 {
		b := blocks[len(blocks)-1]
		a.FreeSized(b.p, b.size, b.align)
		blocks = blocks[:len(blocks)-1]
	}
}

// reallocate changes the size of a block, which may move, and fills what was added.
func reallocate(t *testing.T, name string, a alloc.Allocator, r *rand.Rand, b *live) {
	to, zeroed := r.IntN(3000)*r.IntN(8)/7, r.IntN(2) == 0
	call := alloc.Realloc
	if zeroed {
		call = alloc.ReallocZeroed
	}
	p, err := call(a, b.p, b.size, b.align, to)
	if err != nil {
		if !errors.Is(err, alloc.ErrInjected) && !errors.Is(err, alloc.ErrTooBig) && !errors.Is(err, alloc.ErrFull) {
			t.Fatalf("%s: %v", name, err)
		}
		return
	}
	grown := bytesOf(p, to)[min(to, b.size):]
	if zeroed && !bytes.Equal(make([]byte, len(grown)), grown) {
		t.Fatalf("%s: ReallocZeroed(%d to %d) is not zero", name, b.size, to)
	}
	write(grown, b.fill)
	b.p, b.size = p, to
}

func write(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// TestComposition: every wrapper alone, every two in both orders, and all of them in
// random orders, around every kind of allocator.
func TestComposition(t *testing.T) {
	for _, b := range bases {
		t.Run(b.name, func(t *testing.T) {
			// Each with a heap that ends with it.
			one := func(name string, r *rand.Rand, chain ...wrapper) {
				t.Run(name, func(t *testing.T) { compose(t, b, chain, r) })
			}
			for i, w := range wrappers {
				one(w.name, rand.New(rand.NewPCG(uint64(i), 3)), w)
				for j, v := range wrappers {
					if testing.Short() && j != (i+1)%len(wrappers) {
						continue
					}
					one(w.name+", "+v.name, rand.New(rand.NewPCG(uint64(i), uint64(j))), w, v)
				}
			}
			for seed := range uint64(30) {
				r := rand.New(rand.NewPCG(seed, 4))
				var chain []wrapper
				for _, i := range r.Perm(len(wrappers)) {
					chain = append(chain, wrappers[i])
				}
				one(fmt.Sprint("all ", seed), r, chain...)
			}
		})
	}
}

// FuzzComposition has the input choose the allocator, the wrappers and the operations.
func FuzzComposition(f *testing.F) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := rand.New(&input{data: data})
		var chain []wrapper
		for range r.IntN(4) {
			chain = append(chain, wrappers[r.IntN(len(wrappers))])
		}
		compose(t, bases[r.IntN(len(bases))], chain, r)
	})
}

// input is the bytes of a fuzzer as a source of choices. Choices that the bytes leave open, or that
// come when they are used up, are the same each time.
type input struct {
	data []byte
	rest rand.PCG
}

// Uint64 has two bytes on top of either half: rand.Rand looks at one or the other.
func (in *input) Uint64() uint64 {
	v := in.rest.Uint64()
	for i := 0; i < 2 && len(in.data) > 0; i++ {
		b, shift := uint64(in.data[0]), 56-8*i
		v = v&^(0xFF<<shift|0xFF<<(shift-32)) | b<<shift | b<<(shift-32)
		in.data = in.data[1:]
	}
	return v
}
