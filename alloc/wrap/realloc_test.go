package wrap_test

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// What wrappers make of zeroed blocks and of blocks that move.

// TestSizeZeroInWrappers: size 0 is a block with an address of its own, in every call, through
// every wrapper around every allocator.
func TestSizeZeroInWrappers(t *testing.T) {
	for _, b := range bases {
		for _, w := range wrappers {
			name := b.name + ", " + w.name
			t.Run(name, func(t *testing.T) { // with a heap that ends with it
				a, end := b.make(t)
				a, done := w.around(a)
				p, err := a.Alloc(0, 8)
				if err != nil { // a pool has no pages for a Guard
					require.ErrorIs(t, err, alloc.ErrTooBig)
					return
				}
				q := must(alloc.AllocZeroed(a, 0, 8))
				r := must(alloc.Realloc(a, nil, 0, 8, 0))
				require.True(t, p != nil && q != nil && r != nil && p != q && q != r && p != r, "%p %p %p", p, q, r)
				require.True(t, a.ResizeSized(r, 0, 8, 0))
				if grown, err := alloc.ReallocZeroed(a, r, 0, 8, 50); err == nil {
					require.Equal(t, make([]byte, 50), append([]byte{}, bytesOf(grown, 50)...))
					r = must(alloc.ReallocZeroed(a, grown, 50, 8, 0))
					require.NotNil(t, r, "not a free")
				} else { // a Guard around a Stack can neither move nor resize
					require.ErrorIs(t, err, alloc.ErrFull)
				}
				for _, p := range []unsafe.Pointer{r, q, p} {
					a.FreeSized(p, 0, 8)
				}
				if b.name != "arena" {
					require.Panics(t, func() { a.FreeSized(p, 0, 8) }, "freed twice")
				}
				require.NoError(t, done())
				end()
			})
		}
	}
}

// TestReallocMetadata looks at the metadata of wrappers after a block has stayed, has moved, and
// could do neither. The heap has 112 bytes for 100.
func TestReallocMetadata(t *testing.T) {
	h := newHeap(t)
	l := wrap.NewLimit(h, 1000)
	s := wrap.NewStats(l)
	p := must(s.AllocZeroed(100, 8))
	p = must(s.ReallocZeroed(p, 100, 8, 110))
	require.Equal(t, 110, l.Live())
	require.Equal(t, []int64{1, 1, 0, 110}, []int64{s.Counts().Allocs, s.Counts().Resizes, s.Counts().Frees,
		s.Counts().LiveBytes})
	p = must(s.ReallocSized(p, 110, 8, 1000))
	require.Equal(t, 1000, l.Live())
	_, err := s.ReallocSized(p, 1000, 8, 1001)
	require.EqualError(t, err, "wrap: Limit: 1 bytes more would be 1001 of 1000: full")
	require.Panics(t, func() { _, _ = s.ReallocZeroed(p, 90, 8, 80) }, "a size it has not")
	require.Equal(t, 1000, l.Live())
	_, err = s.AllocZeroed(1, 1)
	require.ErrorIs(t, err, alloc.ErrFull)
	_, err = s.ReallocSized(nil, 0, 1, 1)
	require.ErrorIs(t, err, alloc.ErrFull)
	p = must(s.ReallocSized(p, 1000, 8, 10))
	require.Equal(t, 10, l.Live())
	c := s.Counts()
	require.Equal(t,
		wrap.Counts{Allocs: 3, Resizes: 1, Frees: 2, RefusedAllocs: 2, RefusedResizes: 1, LiveBlocks: 1, LiveBytes: 10,
			PeakBytes: 1000, Sizes: []int64{0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1}}, c)
	s.FreeSized(p, 10, 8)
	require.Zero(t, l.Live())
	require.Zero(t, h.Stats().LiveBlocks)
}

// TestTraceOfReallocs has a line for each, and none that names a block twice.
func TestTraceOfReallocs(t *testing.T) {
	var text bytes.Buffer
	a := wrap.NewTrace(newHeap(t), &text)
	p := must(a.AllocZeroed(100, 8))
	require.Equal(t, p, must(a.ReallocSized(p, 100, 8, 110)))
	q := must(a.ReallocZeroed(p, 110, 8, 1000))
	_, err := a.ReallocSized(q, 1000, 8, 1<<60)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	r := must(a.ReallocSized(q, 1000, 8, 0))
	s := must(a.AllocZeroed(5, 64))
	u := must(a.ReallocZeroed(nil, 0, 8, 7))
	require.Panics(t, func() { _, _ = a.ReallocSized(unsafe.Add(s, 8), 5, 8, 7) })
	for _, b := range []struct {
		p           unsafe.Pointer
		size, align int
	}{{r, 0, 8}, {s, 5, 64}, {u, 7, 8}} {
		a.FreeSized(b.p, b.size, b.align)
	}
	require.NoError(t, a.Close())
	require.NoError(t, wellFormed(text.Bytes()))
	require.Equal(t, fmt.Sprintf(`1: calloc %p 1 100
1: realloc %[1]p %[1]p 110
1: realloc %[2]p %[1]p 1000
1: realloc 0x0 %[2]p 1152921504606846976
1: free %[2]p
1: malloc %[3]p 0
1: memalign %[4]p 64 5
1: calloc %[5]p 1 7
1: free %[3]p
1: free %[4]p
1: free %[5]p
`, p, q, r, s, u), text.String())
	a.FreeSized(must(a.ReallocSized(nil, 0, 8, 7)), 7, 8) // closed: it goes on without lines
}

// takesAtOnce allocates the address of a block that has just moved, as another goroutine may.
type takesAtOnce struct {
	alloc.Reallocator
	trace *wrap.Trace
	again unsafe.Pointer
}

func (c *takesAtOnce) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	q, err := c.Reallocator.ReallocSized(p, size, align, to)
	c.again, _ = c.trace.Alloc(size, align)
	return q, err
}

// TestTraceOfAMovedAddress: the old address is another block's before the call has its line.
func TestTraceOfAMovedAddress(t *testing.T) {
	var text bytes.Buffer
	inside := &takesAtOnce{Reallocator: newHeap(t)}
	a := wrap.NewTrace(inside, &text)
	inside.trace = a
	p := must(a.Alloc(64, 0))
	q := must(a.ReallocSized(p, 64, 0, 1000))
	require.Equal(t, p, inside.again, "for the test to mean something")
	a.FreeSized(p, 64, 0)
	a.FreeSized(q, 1000, 0)
	require.NoError(t, a.Close())
	require.NoError(t, wellFormed(text.Bytes()))
	require.Equal(t,
		fmt.Sprintf(
			"1: malloc %p 64\n1: free %[1]p\n1: malloc %[1]p 64\n1: malloc %p 1000\n1: free %[1]p\n1: free %[2]p\n",
			p, q), text.String())
}

//go:noinline
func growTexture(a alloc.Reallocator, p unsafe.Pointer, size, to int) unsafe.Pointer {
	return must(a.ReallocZeroed(p, size, 8, to))
}

// TestTrackOfReallocs: a block that moves is allocated and freed where it was reallocated; one that
// stays, or is refused, is the old one.
func TestTrackOfReallocs(t *testing.T) {
	h := newHeap(t)
	tr := wrap.NewTrack(h, "textures")
	p := loadTexture(tr, 100)
	require.Equal(t, p, growTexture(tr, p, 100, 110))
	require.Contains(t, tr.Leaks()[0].Stack, "loadTexture")
	q := growTexture(tr, p, 110, 1000)
	require.NotEqual(t, p, q)
	require.Equal(t, 1, len(tr.Leaks()))
	require.Contains(t, tr.Leaks()[0].Stack, "growTexture")
	require.Contains(t, panicText(func() { dropTexture(tr, p, 110) }),
		"was freed already; allocated at\n\tquarry/alloc/wrap_test.loadTexture")
	require.Contains(t, panicText(func() { dropTexture(tr, p, 110) }), "freed at\n\tquarry/alloc/wrap_test.growTexture")
	require.Contains(t, panicText(func() { growTexture(tr, p, 110, 7) }), "wrap: Track.ReallocZeroed: ")
	_, err := tr.ReallocSized(q, 1000, 8, 1<<60)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	blocks, size := tr.Live()
	require.Equal(t, []int{1, 1000}, []int{blocks, size})
	dropTexture(tr, q, 1000)
	require.NoError(t, tr.Close())
}

// TestGuardOfReallocs: the old block is in quarantine and its stack is that of the reallocation; a
// block that is damaged stays, and its successor is not lost.
func TestGuardOfReallocs(t *testing.T) {
	h := newHeap(t)
	g := wrap.NewGuard(h, wrap.Canaries())
	p := must(g.AllocZeroed(100, 8))
	require.Equal(t, make([]byte, 100), append([]byte{}, bytesOf(p, 100)...))
	copy(bytesOf(p, 100), "contents")
	q := growTexture(g, p, 100, 200)
	require.Equal(t, append([]byte("contents"), make([]byte, 192)...), append([]byte{}, bytesOf(q, 200)...))
	require.Contains(t, panicText(func() { g.FreeSized(p, 100, 8) }), "growTexture")
	over := bytesOf(q, 201)
	was := over[200]
	over[200]++
	text := panicText(func() { growTexture(g, q, 200, 300) })
	require.Contains(t, text, "write to 1 bytes")
	require.Contains(t, text, "0 bytes behind the end of the block of 200 bytes")
	over[200] = was
	g.FreeSized(q, 200, 8)
	require.NoError(t, g.Close(), "the block of 300 bytes was freed")
	require.Zero(t, h.Stats().LiveBlocks)

	s, err := alloc.NewStack(h, 1<<16)
	require.NoError(t, err)
	g = wrap.NewGuard(s, wrap.Canaries())
	p = must(g.Alloc(10, 8))
	_, err = g.ReallocSized(p, 10, 8, 20)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Equal(t, p, must(g.ReallocSized(p, 10, 8, 10)))
	g.FreeSized(p, 10, 8)
	require.NoError(t, g.Close())
	require.NoError(t, s.Close())
}

// TestWipeOfMovedBlocks: what moves leaves nothing where it was.
func TestWipeOfMovedBlocks(t *testing.T) {
	d := &dirt{Allocator: newHeap(t)}
	z := wrap.NewZero(d, wrap.Wipe())
	p := must(z.Alloc(100, 8))
	copy(bytesOf(p, 100), bytes.Repeat([]byte{7}, 100))
	q := must(z.ReallocSized(p, 100, 8, 5000))
	require.Equal(t, append(bytes.Repeat([]byte{7}, 100), make([]byte, 4900)...), append([]byte{}, bytesOf(q, 5000)...))
	require.Equal(t, make([]byte, 100), d.freed)
	z.FreeSized(q, 5000, 8)
}

// TestProfileOfReallocs: a block that moves is in the profile with the place that moved it, and
// counts as freed where it was; a refused one stays.
func TestProfileOfReallocs(t *testing.T) {
	h := newHeap(t)
	profile := wrap.NewProfile(1)
	s := profile.Wrap(h, "textures")
	p := loadTexture(s, 100)
	p = growTexture(s, p, 100, 1000)
	require.Equal(t, 1, s.Known())
	_, err := s.ReallocSized(p, 1000, 8, 1<<60)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.Equal(t, 1, s.Known())
	require.Equal(t, []string{"quarry/alloc/wrap_test.growTexture"}, profile.Innermost(1000))
	q := must(s.AllocZeroed(50, 8))
	require.Equal(t, []string{"quarry/alloc/wrap_test.TestProfileOfReallocs"}, profile.Innermost(50))
	s.FreeSized(p, 1000, 8)
	s.FreeSized(q, 50, 8)
	require.Zero(t, s.Known())
}
