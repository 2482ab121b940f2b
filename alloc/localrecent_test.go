package alloc_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestLocalForgetsRecentSlots: a slab whose slots were just freed goes back to the universe, and
// the chunk is a slab of another class when the first class is asked again.
func TestLocalForgetsRecentSlots(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	l := h.NewLocal()
	defer l.Close()
	blocks := fillClass(l, 12, 4000) // three slabs of four
	for _, p := range blocks {
		l.Free(p)
	}
	require.NoError(t, h.Verify())
	other := fillClass(l, 100, 64)
	again := fillClass(l, 12, 4000)
	seen := map[unsafe.Pointer]bool{}
	for _, p := range append(other, again...) {
		require.False(t, seen[p])
		seen[p] = true
	}
	require.NoError(t, h.Verify())
	freeAll(l, append(other, again...))
}

// TestLocalSeesFreesByOthers: a block of a Local that another goroutine has freed is free for its
// owner at once, before the owner takes over the frees of others.
func TestLocalSeesFreesByOthers(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	l := h.NewLocal()
	defer l.Close()
	blocks := fillClass(l, 10, 64)
	h.Free(blocks[3])
	require.Contains(t, panicText(func() { l.Free(blocks[3]) }), "is free (freed twice?)")
	require.Contains(t, panicText(func() { l.Free(unsafe.Add(blocks[4], 16)) }), "points 16 bytes into a slot")
	l.Free(blocks[4]) // of a slab that others have freed slots of
	require.Contains(t, panicText(func() { l.Free(blocks[4]) }), "is free (freed twice?)")
	require.Contains(t, panicText(func() { h.Free(blocks[4]) }), "is free (freed twice?)")
	require.NoError(t, h.Verify())
	for i, p := range blocks {
		if i != 3 && i != 4 {
			l.Free(p)
		}
	}
}

// TestLocalRecentModel: blocks of every class come and go in bursts that are shorter and longer
// than what a Local keeps as recent, some are freed by others; no block is handed out twice.
func TestLocalRecentModel(t *testing.T) {
	h := newHeap(t, alloc.Size(64<<20))
	l := h.NewLocal()
	defer l.Close()
	random := rand.New(rand.NewPCG(53, 4))
	sizes := []int{16, 48, 112, 224, 256, 640, 1024, 4096, 8192}
	live := make([][]unsafe.Pointer, len(sizes))
	in := map[unsafe.Pointer]bool{}
	for step := range 600 {
		k := random.IntN(len(sizes))
		n := 1 + random.IntN(1<<random.IntN(9))
		for ; n > 0 && random.IntN(2) == 0; n-- {
			p := must(l.Alloc(sizes[k], 0))
			require.False(t, in[p])
			in[p] = true
			live[k] = append(live[k], p)
		}
		for ; n > 0 && len(live[k]) > 0; n-- {
			i := random.IntN(len(live[k]))
			p := live[k][i]
			live[k][i] = live[k][len(live[k])-1]
			live[k] = live[k][:len(live[k])-1]
			delete(in, p)
			if random.IntN(8) == 0 {
				h.Free(p)
			} else {
				l.Free(p)
			}
			require.False(t, h.Owns(p))
		}
		if step%100 == 99 {
			l.Trim()
		}
		require.NoError(t, h.Verify())
	}
	require.Equal(t, len(in), h.Stats().LiveBlocks)
	for p := range in {
		l.Free(p)
	}
}
