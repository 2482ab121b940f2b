package wrap_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// loadTexture is a function whose name reports must have.
//
//go:noinline
func loadTexture(a alloc.Allocator, size int) unsafe.Pointer { return must(a.Alloc(size, 8)) }

//go:noinline
func dropTexture(a alloc.Allocator, p unsafe.Pointer, size int) { a.FreeSized(p, size, 8) }

func TestTrackTellsOfLeaks(t *testing.T) {
	tr := wrap.NewTrack(newHeap(t), "textures")
	require.NoError(t, tr.Close())
	var live []unsafe.Pointer
	for range 3 {
		live = append(live, loadTexture(tr, 100))
	}
	other := must(tr.Alloc(7, 0))
	require.True(t, tr.ResizeSized(live[0], 100, 8, 110))
	require.False(t, tr.ResizeSized(live[0], 110, 8, 200_000))
	blocks, bytes := tr.Live()
	require.Equal(t, []int{4, 317}, []int{blocks, bytes})
	err := tr.Close()
	require.ErrorIs(t, err, alloc.ErrLeak)
	require.ErrorContains(t, err, `wrap: Track.Close: "textures": 4 blocks of 317 bytes: `)
	require.ErrorContains(t, err, "3 blocks of 310 bytes allocated at\n\tquarry/alloc/wrap_test.loadTexture\n")
	require.Contains(t, err.Error(), "track_test.go:")
	leaks := tr.Leaks()
	require.Len(t, leaks, 2)
	require.Equal(t, wrap.Leak{Blocks: 1, Bytes: 7, Stack: leaks[1].Stack}, leaks[1])
	require.True(t, strings.HasPrefix(leaks[1].Stack, "\tquarry/alloc/wrap_test.TestTrackTellsOfLeaks\n"))
	tr.FreeSized(live[0], 110, 8)
	for _, p := range live[1:] {
		tr.FreeSized(p, 100, 8)
	}
	tr.FreeSized(other, 7, 0)
	tr.FreeSized(nil, 7, 0)
	require.NoError(t, tr.Close())
}

// TestTrackTakesNoAlignmentForSixteen: 0 is 16, so a block may be allocated with the one
// and given back with the other.
func TestTrackTakesNoAlignmentForSixteen(t *testing.T) {
	tr := wrap.NewTrack(newHeap(t), "textures")
	for _, c := range [][2]int{{0, 16}, {16, 0}} {
		p := must(tr.Alloc(10, c[0]))
		require.True(t, tr.ResizeSized(p, 10, c[1], 12))
		require.Panics(t, func() { tr.FreeSized(p, 12, 8) })
		tr.FreeSized(p, 12, c[1])
	}
	require.NoError(t, tr.Close())
}

// TestTrackAroundAnArena: an address that comes again was taken back by a reset, and its
// bytes are not counted twice.
func TestTrackAroundAnArena(t *testing.T) {
	a := alloc.NewArena(newHeap(t))
	defer a.Close()
	tr := wrap.NewTrack(a, "frame")
	for size := 10; size <= 30; size += 10 {
		must(tr.Alloc(size, 8))
		a.Reset(alloc.KeepAll)
		blocks, bytes := tr.Live()
		require.Equal(t, []int{1, size}, []int{blocks, bytes})
	}
	require.ErrorContains(t, tr.Close(), `wrap: Track.Close: "frame": 1 blocks of 30 bytes: `)
}

func TestTrackCatches(t *testing.T) {
	h := newHeap(t)
	tr := wrap.NewTrack(h, "textures")
	p, keep := loadTexture(tr, 100), loadTexture(tr, 200)
	dropTexture(tr, p, 100)
	stacks := []string{
		"allocated at\n\tquarry/alloc/wrap_test.loadTexture\n", "freed at\n\tquarry/alloc/wrap_test.dropTexture\n",
	}
	for _, c := range []struct {
		texts []string
		f     func()
	}{
		{append(stacks, `wrap: Track.FreeSized: "textures": the block at 0x`, " was freed already; "), func() { dropTexture(tr, p, 100) }},
		{append(stacks, "wrap: Track.ResizeSized: "), func() { tr.ResizeSized(p, 100, 8, 5) }},
		{append(stacks[:1:1], "has size=200 align=8, not size=100 align=8; "), func() { dropTexture(tr, keep, 100) }},
		{append(stacks[:1:1], "has size=200 align=8, not size=200 align=16; "), func() { tr.FreeSized(keep, 200, 16) }},
		{append(stacks[:1:1], " points 16 bytes into the block of 200 bytes "), func() { tr.FreeSized(unsafe.Add(keep, 16), 100, 8) }},
		{[]string{" is not a block of this allocator"}, func() { tr.FreeSized(unsafe.Pointer(&stacks), 100, 8) }},
	} {
		text := panicText(c.f)
		for _, want := range c.texts {
			require.Contains(t, text, want)
		}
		require.Equal(t, 1, h.Stats().LiveBlocks, "nothing has changed")
	}
	dropTexture(tr, keep, 200)
	for range 10_000 { // more than are remembered
		dropTexture(tr, loadTexture(tr, 64), 64)
	}
	require.Contains(t, panicText(func() { dropTexture(tr, p, 100) }), " is not a block of this allocator")
	last := loadTexture(tr, 64)
	dropTexture(tr, last, 64)
	require.Contains(t, panicText(func() { dropTexture(tr, last, 64) }), " was freed already; ")
	require.NoError(t, tr.Close())
}

// nested allocates below n functions of this name.
//
//go:noinline
func nested(a alloc.Allocator, n int) unsafe.Pointer {
	if n == 0 {
		return loadTexture(a, 64)
	}
	p := nested(a, n-1)
	runtime.KeepAlive(n)
	return p
}

// TestTrackFrames counts the frames of stacks of all lengths: a stack has as many as were set, and
// places that differ only further out are one place.
func TestTrackFrames(t *testing.T) {
	for _, c := range []struct{ frames, shown, places int }{
		{1, 1, 1}, {2, 2, 1}, {12, 12, 1}, {13, 13, 2}, {40, 0, 2}, {128, 0, 2},
	} {
		tr := wrap.NewTrack(newHeap(t), "deep", wrap.Frames(c.frames))
		p, q := nested(tr, 10), nested(tr, 11)
		leaks := tr.Leaks()
		require.Len(t, leaks, c.places, "%d frames", c.frames)
		for _, l := range leaks {
			n := strings.Count(l.Stack, "\n") / 2 // a line of the function, a line of the place
			if c.shown > 0 {
				require.Equal(t, c.shown, n)
			} else {
				require.Greater(t, n, 13)
			}
			require.True(t, strings.HasPrefix(l.Stack, "\tquarry/alloc/wrap_test.loadTexture\n"))
		}
		dropTexture(tr, p, 64)
		require.Contains(t, panicText(func() { dropTexture(tr, p, 64) }),
			"freed at\n\tquarry/alloc/wrap_test.dropTexture\n")
		dropTexture(tr, q, 64)
		require.NoError(t, tr.Close())
	}
	for _, bad := range []int{0, -1, 129} {
		require.Equal(t, fmt.Sprintf("wrap: Frames: n=%d is not in 1..128", bad),
			panicText(func() { wrap.Frames(bad) }))
	}
}

func TestTrackFromManyGoroutines(t *testing.T) {
	tr := wrap.NewTrack(newHeap(t), "shared")
	hand := make(chan unsafe.Pointer, 100)
	var makers, takers sync.WaitGroup
	for range 2 {
		makers.Go(func() {
			for range 3000 {
				hand <- loadTexture(tr, 48)
			}
		})
		takers.Go(func() {
			for p := range hand {
				dropTexture(tr, p, 48)
			}
		})
	}
	makers.Wait()
	close(hand)
	takers.Wait()
	require.NoError(t, tr.Close())
}
