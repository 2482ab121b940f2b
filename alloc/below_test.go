package alloc_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// What is left of an arena and of a pool when the allocator below panics half way: here a
// Stack, on which somebody else's block lies between two of theirs.

func between(t *testing.T) (s *alloc.Stack, others func() (free func())) {
	s, err := alloc.NewStack(newHeap(t, alloc.Size(8<<20)), 1<<20)
	require.NoError(t, err)
	return s, func() func() {
		p := must(s.Alloc(100, 8))
		return func() { s.FreeSized(p, 100, 8) }
	}
}

func TestArenaAfterPanicBelow(t *testing.T) {
	s, others := between(t)
	a := alloc.NewArena(s)
	must(a.Alloc(10_000, 8))
	temp, err := alloc.NewTemp[int64](a)
	require.NoError(t, err)
	free := others()
	must(a.Alloc(10_000, 8))
	require.Panics(t, func() { a.Reset(0) }, "the newer block goes, the older one cannot")
	require.NoError(t, a.Verify())
	require.Equal(t, 16<<10, a.Size())
	require.False(t, temp.IsLive())
	p, theirs := must(a.Alloc(10_000, 8)), must(s.Alloc(20_000, 8))
	require.False(t, uintptr(p) < uintptr(theirs)+20_000 && uintptr(theirs) < uintptr(p)+10_000,
		"what is gone is not handed out")
	require.NoError(t, a.Verify())
	s.FreeSized(theirs, 20_000, 8)
	free()
	a.Close()
	require.NoError(t, s.Close())
}

func TestPoolAfterPanicBelow(t *testing.T) {
	for _, end := range []func(p *alloc.Pool[[2000]byte]){
		func(p *alloc.Pool[[2000]byte]) { p.Trim() },
		func(p *alloc.Pool[[2000]byte]) { _ = p.Close() },
	} {
		s, others := between(t)
		p, err := alloc.NewPool[[2000]byte](s)
		require.NoError(t, err)
		var live []*[2000]byte
		var free func()
		for i := range 16 {
			if i == 8 {
				free = others()
			}
			v, err := p.New()
			require.NoError(t, err)
			live = append(live, v)
		}
		old := p.Ref(live[0])
		for _, v := range live {
			p.Free(v)
		}
		require.Panics(t, func() { end(p) }, "the newer slab goes, the older one cannot")
		require.NoError(t, p.Verify())
		require.Equal(t, 8, p.Cap())
		require.Nil(t, p.Get(old))
		func() {
			defer func() { _ = recover() }() // it is closed, perhaps
			for range 9 {
				v, err := p.New()
				require.NoError(t, err)
				v[1999] = 1
				p.Free(v)
			}
			require.NoError(t, p.Verify())
			p.Trim()
		}()
		free()
		require.NoError(t, p.Close())
		require.NoError(t, s.Close())
	}
}

// TestClosedPoolHasNoValues: nor one whose Close panicked half way.
func TestClosedPoolHasNoValues(t *testing.T) {
	s, others := between(t)
	p, err := alloc.NewPoolOf[int64](s, 1)
	require.NoError(t, err)
	var refs []alloc.Ref[int64]
	var free func()
	for i := range 16 {
		if i == 8 {
			free = others()
		}
		v, err := p.New()
		require.NoError(t, err)
		refs = append(refs, p.Ref(v))
	}
	require.Panics(t, func() { _ = p.Close() })
	for _, r := range refs {
		require.Nil(t, p.Get(r))
	}
	for range p.All() {
		t.Fatal("a value")
	}
	require.PanicsWithValue(t, "alloc: Pool.New: the pool is closed", func() { _, _ = p.New() })
	p.Trim()
	free()
	require.ErrorIs(t, p.Close(), alloc.ErrLeak)
	require.NoError(t, p.Close())
	require.NoError(t, s.Close())
}

// TestNewOfLargeTypes: what is made off the heap takes none of it.
func TestNewOfLargeTypes(t *testing.T) {
	if !mmap.Real {
		t.Skip("all is of the Go heap")
	}
	h := newHeap(t, alloc.Size(8<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := alloc.New[[16 << 20]byte](h)
	require.NoError(t, err)
	alloc.Free(h, v)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// TestUniverseBlocksAreInUse: a resize of a run that was given back panics, also one that
// would change nothing.
func TestUniverseBlocksAreInUse(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	a := u.Allocator()
	p := must(a.Alloc(40_000, 0))
	require.Panics(t, func() { a.ResizeSized(p, 60_000, 0, 60_000) }, "its last chunk is nobody's")
	require.True(t, a.ResizeSized(p, 40_000, 0, 48<<10))
	a.FreeSized(p, 48<<10, 0)
	for _, to := range []int{1, 40_000, 60_000, 1 << 30} {
		require.Contains(t, panicText(func() { a.ResizeSized(p, 40_000, 0, to) }), "(freed before?)")
	}
}

func TestStackTakesNoBadArguments(t *testing.T) {
	s, err := alloc.NewStack(newHeap(t), 1000)
	require.NoError(t, err)
	p := must(s.Alloc(1, 1))
	for _, bad := range [][2]int{{-5, 1}, {1, 3}, {1, -1}, {1, 2 * alloc.MaxAlign}} {
		require.Panics(t, func() { s.FreeSized(p, bad[0], bad[1]) })
		require.Panics(t, func() { s.ResizeSized(p, bad[0], bad[1], 8) })
	}
	require.Equal(t, 1, s.Used())
	s.FreeSized(p, 1, 1)
	require.NoError(t, s.Close())
}
