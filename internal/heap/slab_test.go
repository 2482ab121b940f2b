package heap

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/internal/universe"
)

// What happens between two steps of goroutines that race, one step at a time.

func slabHeap(t *testing.T) *Heap {
	u, err := universe.New(universe.Size(8 << 20))
	require.NoError(t, err)
	h := &Heap{}
	h.Open(u)
	t.Cleanup(func() {
		require.NoError(t, h.Verify())
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
	})
	return h
}

func slots(t *testing.T, alloc func(size, align int) (unsafe.Pointer, error), n, size int) []unsafe.Pointer {
	blocks := make([]unsafe.Pointer, n)
	for i := range blocks {
		var err error
		blocks[i], err = alloc(size, 0)
		require.NoError(t, err)
	}
	return blocks
}

func (h *Heap) slabOf(p unsafe.Pointer) *slab {
	c, _ := h.chunkOf(p)
	return h.table.at(c)
}

func panicOf(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return
}

// TestClaimPinsTheSlab: an allocator with a stale view claims a bit of a slab
// that is listed and empty; the slab stays until the bit is back.
func TestClaimPinsTheSlab(t *testing.T) {
	h := slabHeap(t)
	blocks := slots(t, h.Alloc, 600, 64) // three slabs of 256
	s := h.slabOf(blocks[0])
	k := &classes[classIn(s.head.Load())]
	require.Equal(t, stateFull, s.state.Load())
	for _, p := range blocks[1:256] {
		h.Free(p)
	}
	require.Equal(t, stateListed, s.state.Load())
	for word := range int(k.words) { // the claim is in each of the words in turn
		s.low.Store(uint32(word))
		slot, ok, _ := s.claim(int(k.words))
		require.True(t, ok)
		h.Free(blocks[0])
		h.mu.Lock()
		require.False(t, h.drop(s, true), "word %d", word)
		h.mu.Unlock()
		require.Equal(t, 1, s.used(s.head.Load()), "what was claimed for the drop is back")
		require.NoError(t, h.Verify())
		s.low.Store(0)
		again, ok, _ := s.claim(int(k.words))
		require.True(t, ok)
		require.True(t, h.release(s, slot/64, 1<<(slot%64)))
		blocks[0] = h.slotPointer(s.chunk(), uintptr(again)*64, k)
	}
	h.Free(blocks[0])
	for _, p := range blocks[256:] {
		h.Free(p)
	}
	require.NoError(t, h.Trim())
	require.Zero(t, h.Stats().Chunks)
	for i := range int(k.words) {
		require.Equal(t, ^uint64(0), s.live[i].Load(), "nobody can claim a bit of a slab that is gone")
	}
}

// TestStaleClaimOfAnotherSlab: the slab is a Local's, and of another class, by
// the time that an allocator claims a bit that somebody's free has cleared; the
// bit goes back as a free, and is folded once.
func TestStaleClaimOfAnotherSlab(t *testing.T) {
	h := slabHeap(t)
	l := &Local{}
	h.OpenLocal(l)
	blocks := slots(t, l.Alloc, 200, 48)
	s := h.slabOf(blocks[0])
	h.Free(blocks[70])
	slot, ok, _ := s.claim(int(classes[classIn(s.head.Load())].words))
	require.True(t, ok)
	require.Equal(t, 70, slot, "only what was freed can be claimed")
	l.fold() // sees no clear bit
	require.Equal(t, 200, h.Stats().LiveBlocks, "the claim stands for the block")
	require.True(t, h.release(s, slot/64, 1<<(slot%64)))
	require.Equal(t, stateMailed, s.state.Load())
	require.NoError(t, h.Verify())
	l.fold()
	require.Equal(t, 199, h.Stats().LiveBlocks)
	for i, p := range blocks {
		if i != 70 {
			l.Free(p)
		}
	}
	l.Close()
}

// TestHeldUpFreer: a freer clears its bit and only then looks at the state, by
// when the slab is in another life. Whatever it finds does no harm.
func TestHeldUpFreer(t *testing.T) {
	h := slabHeap(t)
	l := &Local{}
	h.OpenLocal(l)
	full := slots(t, h.Alloc, 256, 64)
	s := h.slabOf(full[0])
	slots256 := slots(t, h.Alloc, 1, 64) // s is found to be full
	require.Equal(t, stateFull, s.state.Load())
	for range classes[classIn(s.head.Load())].batch {
		h.released(s, stateFull, 0, ^uint64(0)) // lists a slab without room
	}
	require.Equal(t, stateListed, s.state.Load())
	require.NoError(t, h.Verify())
	more := slots(t, h.Alloc, 256, 64) // finds it, and leaves it as full again
	require.Equal(t, stateFull, s.state.Load())
	require.NoError(t, h.Verify())

	own := slots(t, l.Alloc, 10, 300)
	o := h.slabOf(own[0])
	h.released(o, stateOwned, 0, ^uint64(0)) // mails a slab with nothing to fold
	h.post(o)                                // and again, by one that was held up for longer
	require.NoError(t, h.Verify())
	l.fold()
	require.Equal(t, stateOwned, o.state.Load())
	h.post(o) // its owner has folded already
	h.list(s) // somebody else listed it, and it was found to be full
	require.NoError(t, h.Verify())
	for _, list := range [][]unsafe.Pointer{full, slots256, more, own} {
		for _, p := range list {
			l.Free(p)
		}
	}
	l.Close()
	require.Zero(t, h.Stats().LiveBlocks)
}

// TestFoldFindsADoubleFree: two goroutines free one block of a Local at the same moment, and the
// owner folds in between. The second has passed the look at own, so that only the owner can notice.
func TestFoldFindsADoubleFree(t *testing.T) {
	h := slabHeap(t)
	l := &Local{}
	h.OpenLocal(l)
	blocks := slots(t, l.Alloc, 300, 64) // one full slab, one current
	s := h.slabOf(blocks[0])
	h.Free(blocks[3])
	l.fold()
	s.live[0].And(^uint64(1 << 3)) // the second has not reported it yet
	for i, p := range blocks[:256] {
		if i != 3 {
			l.Free(p)
		}
	}
	require.Equal(t, stateOwned, s.state.Load(), "an empty slab with a bad free stays for fold to find it")
	require.ErrorContains(t, h.Verify(), "alloc: H5:")
	h.released(s, stateOwned, 0, 0)
	require.Equal(t,
		fmt.Sprintf(
			"alloc: Local.Alloc: slot 3 of chunk %d, of 64 bytes, was freed by another goroutine while it was free",
			firstIn(h.table.at(0).head.Load())), panicOf(l.fold))
	for _, p := range blocks[256:] {
		l.Free(p)
	}
	l.Close()
}

// TestTrimDropsPages: once all is freed, Trim leaves no page, and the heap goes on as a new one.
func TestTrimDropsPages(t *testing.T) {
	h := slabHeap(t)
	l := &Local{}
	h.OpenLocal(l)
	for range 3 {
		for _, alloc := range []func(size, align int) (unsafe.Pointer, error){h.Alloc, l.Alloc} {
			for _, size := range []int{64, 20_000, 100_000} {
				for _, p := range slots(t, alloc, 30, size) {
					h.Free(p)
				}
			}
		}
		require.NotZero(t, h.pages())
		held := slots(t, h.Alloc, 1, 64)
		l.Trim()
		require.NoError(t, h.Trim())
		require.Equal(t, 1, h.pages(), "the block's")
		h.Free(held[0])
		require.NoError(t, h.Trim())
		require.Zero(t, h.pages())
		require.NoError(t, h.Verify())
	}
	require.Contains(t, panicOf(func() { h.Free(h.u.Pointer(70)) }), "is not a block of this heap")
	l.Close()
}

func (h *Heap) pages() (n int) {
	for m := range h.table {
		if h.table[m].Load() != nil {
			n++
		}
	}
	return n
}

// TestTrimBesideOthers: goroutines get, mark, check and free blocks while another trims.
func TestTrimBesideOthers(t *testing.T) {
	h := slabHeap(t)
	var workers sync.WaitGroup
	for w := range 2 {
		workers.Go(func() {
			l := &Local{}
			h.OpenLocal(l)
			defer l.Close()
			for i := range 400 {
				size := []int{64, 2000, 20_000, 70_000}[i%4]
				for k, alloc := range []func(size, align int) (unsafe.Pointer, error){h.Alloc, l.Alloc} {
					p, err := alloc(size, 0)
					if err != nil {
						t.Error(err)
						return
					}
					mark := uint64(w<<16 | i)
					*(*uint64)(p) = mark
					q, err := alloc(size, 0)
					if err != nil {
						t.Error(err)
						return
					}
					*(*uint64)(q) = 0
					if *(*uint64)(p) != mark {
						t.Errorf("block of %d bytes: got %#x want %#x", size, *(*uint64)(p), mark)
					}
					if h.Free(q); k == 0 {
						l.Free(p)
					} else {
						h.Free(p)
					}
				}
				if i%8 == 0 {
					l.Trim()
				}
			}
		})
	}
	workers.Go(func() {
		for range 400 {
			if err := h.Trim(); err != nil {
				t.Error(err)
			}
		}
	})
	workers.Wait()
}

// TestSlabsStayWithTheirShard: a slab whose slots were freed goes to the shard that held it, and to
// another only when that one has none.
func TestSlabsStayWithTheirShard(t *testing.T) {
	h := slabHeap(t)
	blocks := slots(t, h.Alloc, 2*256+1, 64) // the last one is in a third slab, so two are full
	of := [2]*slab{h.slabOf(blocks[0]), h.slabOf(blocks[256])}
	of[1].home = 1
	number := classIn(of[0].head.Load())
	for _, p := range blocks[256-64 : 256+64] {
		h.Free(p)
	}
	require.Equal(t, stateListed, of[0].state.Load())
	require.Equal(t, stateListed, of[1].state.Load())
	require.NoError(t, h.Verify())
	h.mu.Lock()
	require.Same(t, of[0], h.takeListed(number, 0))
	require.Same(t, of[1], h.takeListed(number, 0), "the other shard's, when there is none")
	require.Nil(t, h.takeListed(number, 1))
	h.enlist(of[0])
	h.enlist(of[1])
	require.Same(t, of[1], h.takeListed(number, 1))
	h.enlist(of[1])
	h.mu.Unlock()
	for _, p := range slices.Concat(blocks[:256-64], blocks[256+64:]) {
		h.Free(p)
	}
}
