package alloc_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
)

// poolStream runs a pool of T beside a map from Ref to value.
func poolStream[T comparable](t *testing.T, seed uint64, make func(uint64) T, slabBytes int) {
	h := newHeap(t, alloc.Size(16<<20))
	p, err := alloc.NewPoolOf[T](h, slabBytes)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(seed, 1))
	want, gone := map[alloc.Ref[T]]T{}, []alloc.Ref[T]{}
	refs := func() []alloc.Ref[T] {
		return slices.SortedFunc(maps.Keys(want), func(a, b alloc.Ref[T]) int { return int(a.Slot) - int(b.Slot) })
	}
	for step := range 400 {
		phase := 60
		if step/100%2 == 1 {
			phase = 30
		}
		switch k := r.IntN(100); {
		case k < phase:
			v, err := p.New()
			require.NoError(t, err)
			var zero T
			require.Equal(t, zero, *v)
			*v = make(r.Uint64())
			ref := p.Ref(v)
			require.NotContains(t, want, ref)
			require.NotContains(t, gone, ref)
			want[ref] = *v
		case k < 95 && len(want) > 0:
			ref := refs()[r.IntN(len(want))]
			p.Free(p.Get(ref))
			delete(want, ref)
			gone = append(gone, ref)
		default:
			p.Trim()
			require.LessOrEqual(t, h.Stats().LiveBlocks, len(want))
		}
		require.NoError(t, p.Verify())
		require.Equal(t, len(want), p.Len())
		require.GreaterOrEqual(t, p.Cap(), p.Len())
		if step%20 == 0 {
			walked := map[alloc.Ref[T]]T{}
			last := -1
			for ref, v := range p.All() {
				require.Greater(t, int(ref.Slot), last)
				last = int(ref.Slot)
				walked[ref] = *v
				require.Same(t, v, p.Get(ref))
			}
			require.Equal(t, want, walked)
			for _, ref := range gone {
				require.Nil(t, p.Get(ref))
			}
		}
	}
	for range p.All() {
		break
	}
	for ref, v := range p.All() { // freeing what is shown
		require.Equal(t, ref, p.Ref(v))
		p.Free(v)
	}
	require.Zero(t, p.Len())
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	for _, ref := range gone {
		require.Nil(t, p.Get(ref))
	}
}

func TestPoolAgainstModel(t *testing.T) {
	type big struct{ A, B [300]uint64 }
	for seed := range seeds(12) {
		poolStream(t, seed, func(v uint64) uint64 { return v }, 16<<10)
		poolStream(t, seed, func(v uint64) uint8 { return uint8(v) }, 100)
		poolStream(t, seed, func(v uint64) [3]uint32 { return [3]uint32{uint32(v), 2, 3} }, 1000)
		poolStream(t, seed, func(v uint64) big { return big{A: [300]uint64{v}} }, 16<<10)
		poolStream(t, seed, func(uint64) struct{} { return struct{}{} }, 16<<10)
	}
}

// TestPoolSlotsAreApart: all slots of slabs whose last word is not full.
func TestPoolSlotsAreApart(t *testing.T) {
	for _, bytes := range []int{8, 30, 40, 64, 100, 130, 4000} {
		p, err := alloc.NewPoolOf[uint8](newHeap(t, alloc.Size(8<<20)), bytes)
		require.NoError(t, err)
		seen := map[*uint8]bool{}
		for i := range 1000 {
			v, err := p.New()
			require.NoError(t, err)
			require.False(t, seen[v], "slot %d was handed out twice", i)
			seen[v] = true
			require.LessOrEqual(t, p.Len(), p.Cap())
		}
		require.Equal(t, (1000+bytes-1)/bytes*bytes, p.Cap())
		for v := range seen {
			p.Free(v)
		}
		require.NoError(t, p.Verify())
		require.NoError(t, p.Close())
	}
}

func TestPoolRefuses(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	p, err := alloc.NewPool[[4]uint64](h)
	require.NoError(t, err)
	v, err := p.New()
	require.NoError(t, err)
	keep, err := p.New()
	require.NoError(t, err)
	ref := p.Ref(v)
	p.Free(v)
	p.Free(nil)
	var other [4]uint64
	for _, c := range []struct {
		text string
		f    func()
	}{
		{"alloc: Pool.Free: the [4]uint64 at ", func() { p.Free(v) }},
		{"slot 0, is free (freed twice?)", func() { p.Free(v) }},
		{"alloc: Pool.Ref: ", func() { p.Ref(v) }},
		{"is not a [4]uint64 of this pool", func() { p.Free(&other) }},
		{"points 8 bytes into a slot of 32 bytes", func() { p.Free((*[4]uint64)(unsafe.Add(unsafe.Pointer(keep), 8))) }},
		{"alloc: Pool.FreeSized: the slot at ", func() { p.FreeSized(unsafe.Pointer(keep), 33, 8) }},
		{"alloc: Pool.ResizeSized: the slot at ", func() { p.ResizeSized(unsafe.Pointer(keep), 33, 8, 3) }},
		{"Pool.Alloc: size=-1", func() { _, _ = p.Alloc(-1, 0) }},
	} {
		require.Contains(t, panicText(c.f), c.text)
		require.NoError(t, p.Verify())
	}
	require.Nil(t, p.Get(ref))
	require.Nil(t, p.Get(alloc.Ref[[4]uint64]{}))
	require.Nil(t, p.Get(alloc.Ref[[4]uint64]{Slot: 1 << 31, Generation: 1}))
	require.Nil(t, p.Get(alloc.Ref[[4]uint64]{Slot: ref.Slot, Generation: ref.Generation + 1}), "an even generation")
	_, err = p.Alloc(33, 0)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	_, err = p.Alloc(8, 64)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	b := must(p.Alloc(5, 0))
	require.True(t, p.ResizeSized(b, 5, 0, 32))
	require.False(t, p.ResizeSized(b, 32, 0, 33))
	p.FreeSized(b, 32, 0)
	p.FreeSized(nil, 1, 1)
	err = p.Close()
	require.ErrorIs(t, err, alloc.ErrLeak)
	require.ErrorContains(t, err, "alloc: Pool.Close: 1 values of [4]uint64: ")
	require.Contains(t, panicText(func() { _, _ = p.New() }), "alloc: Pool.New: the pool is closed")
	require.Contains(t, panicText(func() { p.Free(keep) }), "alloc: Pool.Free: the pool is closed")
}

func TestPoolStaleWrite(t *testing.T) {
	if !debug.On {
		t.Skip("debug builds only")
	}
	p, err := alloc.NewPool[[4]uint64](newHeap(t, alloc.Size(8<<20)))
	require.NoError(t, err)
	v, err := p.New()
	require.NoError(t, err)
	p.Free(v)
	v[2] = 1
	require.ErrorContains(t, p.Verify(), "P5: byte 16 of slot 0")
	require.Contains(t, panicText(func() { _, _ = p.New() }), "alloc: Pool.New: byte 16 of slot 0, of a [4]uint64 at ")
	_ = p.Close() // the panic left the slot taken
}

func TestPoolVerifyNamesTheInvariant(t *testing.T) {
	for _, name := range alloc.PoolInvariants {
		p, err := alloc.NewPool[[100]byte](newHeap(t, alloc.Size(8<<20)))
		require.NoError(t, err)
		v, err := p.New()
		require.NoError(t, err)
		restore := p.Corrupt(name)
		require.ErrorContains(t, p.Verify(), name)
		restore()
		require.NoError(t, p.Verify())
		p.Free(v)
		require.NoError(t, p.Close())
	}
}

// TestStackAgainstModel: a stack is a list of which only the last element changes.
func TestStackAgainstModel(t *testing.T) {
	for seed := range seeds(40) {
		h := newHeap(t, alloc.Size(8<<20))
		s, err := alloc.NewStack(h, 4000)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, 2))
		var live []arenaBlock
		for range 300 {
			switch k := r.IntN(10); {
			case k < 5:
				size, align := r.IntN(200), []int{0, 1, 2, 8, 64, 1024}[r.IntN(6)]
				used := s.Used()
				p, err := s.Alloc(size, align)
				if err != nil {
					require.ErrorIs(t, err, alloc.ErrFull)
					require.Greater(t, used+max(size, 1)+max(align, 16), 4000)
					require.Equal(t, used, s.Used())
					break
				}
				require.Zero(t, uintptr(p)%uintptr(max(align, 1)))
				b := arenaBlock{p, size, align, byte(r.Uint32())}
				setAll(bytesOf(p, size), b.fill)
				live = append(live, b)
			case len(live) == 0:
			case k < 8:
				b := live[len(live)-1]
				s.FreeSized(b.p, b.size, b.align)
				live = live[:len(live)-1]
			case k < 9 && len(live) > 1:
				b := live[r.IntN(len(live)-1)]
				require.Contains(t, panicText(func() { s.FreeSized(b.p, b.size, b.align) }), "is not the last one: ")
			default:
				b := &live[len(live)-1]
				if to := r.IntN(300); s.ResizeSized(b.p, b.size, b.align, to) {
					setAll(bytesOf(b.p, to)[min(to, b.size):], b.fill)
					b.size = to
				}
			}
			require.Equal(t, len(live), s.Len())
			for _, b := range live {
				for i, v := range bytesOf(b.p, b.size) {
					if v != b.fill {
						t.Fatalf("byte %d of a block of %d: got %d want %d", i, b.size, v, b.fill)
					}
				}
			}
		}
		if len(live) > 0 {
			require.ErrorIs(t, s.Close(), alloc.ErrLeak)
		}
		require.NoError(t, s.Close())
	}
}

func TestStackRefuses(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	s, err := alloc.NewStack(h, 1<<10)
	require.NoError(t, err)
	p, q := must(s.Alloc(10, 0)), must(s.Alloc(20, 8))
	for _, c := range []struct {
		text string
		f    func()
	}{
		{"is not the last one: 1 were allocated after it, the last of 20 bytes at byte 16", func() { s.FreeSized(p, 10, 0) }},
		{"alloc: Stack.ResizeSized: the block at ", func() { s.ResizeSized(p, 11, 0, 5) }},
		{"has 20 bytes: it was not allocated with size=21 align=8", func() { s.FreeSized(q, 21, 8) }},
		{"is none of the 2 live blocks (freed twice?)", func() { s.FreeSized(unsafe.Add(q, 1), 19, 1) }},
		{"Stack.Alloc: size=-1 align=0", func() { _, _ = s.Alloc(-1, 0) }},
		{"NewStack: size=0 is less than 1", func() { _, _ = alloc.NewStack(h, 0) }},
	} {
		require.Contains(t, panicText(c.f), c.text)
		require.Equal(t, 2, s.Len())
	}
	s.FreeSized(nil, 1, 1)
	require.False(t, s.ResizeSized(p, 10, 0, 5), "it is not the last one")
	s.FreeSized(q, 20, 8)
	require.Contains(t, panicText(func() { s.FreeSized(q, 20, 8) }), "freed twice?")
	s.FreeSized(p, 10, 0)
	require.NoError(t, s.Close())
	require.Contains(t, panicText(func() { _, _ = s.Alloc(1, 0) }), "alloc: Stack.Alloc: the stack is closed")
	_, err = alloc.NewStack(h, 1<<47)
	require.ErrorIs(t, err, alloc.ErrTooBig)
}

// TestInOrderBelow: what stands on a stack gives its memory back in order.
func TestInOrderBelow(t *testing.T) {
	s, err := alloc.NewStack(newHeap(t, alloc.Size(8<<20)), 2<<20)
	require.NoError(t, err)
	require.True(t, alloc.FreesInOrder(s))
	a := alloc.NewArena(s)
	m := a.Mark()
	for _, size := range []int{10_000, 10_000, 60_000, 100} {
		_ = must(a.Alloc(size, 0))
	}
	a.Rewind(m)
	_ = must(a.Alloc(100_000, 0)) // a block between kept ones
	a.Reset(50_000)
	require.Equal(t, 32<<10, a.Size())
	a.Close()
	a = alloc.NewArenaOf(s, alloc.Fixed(1))
	_ = must(a.Alloc(60_000, 0))
	_ = must(a.Alloc(10_000, 0))
	a.Reset(40_000)
	require.Zero(t, a.Size(), "the older one is too large, and the younger one stands on it")
	a.Close()
	p, err := alloc.NewPool[[2000]byte](s)
	require.NoError(t, err)
	var live []*[2000]byte
	for range 30 {
		v, err := p.New()
		require.NoError(t, err)
		live = append(live, v)
	}
	for _, v := range live[:20] {
		p.Free(v)
	}
	p.Trim() // the first slabs are empty, but the last one stands on them
	require.Equal(t, 32, p.Cap())
	for _, v := range live[20:] {
		p.Free(v)
	}
	require.NoError(t, p.Verify())
	p.Trim()
	require.Zero(t, p.Cap())
	require.NoError(t, p.Close())
	require.Zero(t, s.Len())
	require.NoError(t, s.Close())
}
