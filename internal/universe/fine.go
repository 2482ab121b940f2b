package universe

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"quarry/internal/universe/ledger"
	"quarry/mmap"
)

// Pages of two sizes. A huge page costs one fault for 2 MiB, but a thousand universes of which
// little is used should not take 2 GiB. So in a process with more than fineFrom universes the first
// granule has small pages, and serves small requests. A few universes have huge pages at once: what
// they waste is bounded, and a world that grows is made twice as fast.
//
//	granule      0, fine                              1                  2
//	chunks    |##|#|###|.......................|  |##############|  |#####.........|
//	in memory  what was claimed, page by page          2 MiB              2 MiB
//
// Then a granule becomes fine when it is committed while no other is ready and at most fineMost of
// its chunks are claimed: a universe that begins with a large request has huge pages only. It is
// fine until it is committed again. So a universe that gave everything back begins anew.
//
// Runs with which more than fineMost chunks of it would be in use come from other granules, whose
// huge pages cost less than small pages of the same size. They come from the fine granule when
// there is no other room, and when a budget is in force, which counts a granule as a whole. Single
// chunks come from a goroutine's home (masklease.go), which the first granule is, until that is
// full. When more than fineMost chunks were used, the granule is no longer kept small: the system
// may join its pages in the background. Pages are not joined at once, since MADV_COLLAPSE, which
// takes 0.2 ms, waits for all processors first: up to 3 ms where they are busy.
//
// A claim backs chunks that were not used before by one call, not by a fault for each page.
//
// A goroutine that claims a chunk of a ready granule reads whether that granule is fine. That
// changes only while the granule is not ready, so a claim that finds it ready, or waits for its
// commit, reads what holds.
//
// Small pages are a hint. Where the system refuses it, or cannot back a run ahead of its use, the
// universe takes more memory or more faults, and no call fails.

// fineMost is how many chunks of a fine granule small requests have: 128 KiB, so that a small page
// is not used where many would be. A world of five hundred entities needs six.
const fineMost = 8

// fineFrom is the number of universes that have huge pages at once: 16, of which the first granules
// take 32 MiB at most. Tests set it.
var fineFrom atomic.Int32

func init() { fineFrom.Store(16) }

// fine is the state of a universe's fine granule.
type fine struct {
	granule atomic.Int32 // 1 + the granule; 0: none; written under mu while the granule is not ready
	kept    atomic.Bool  // the system is advised to keep its pages small (I9); a claim clears it
}

// is reports whether granule g is fine.
func (f *fine) is(g int) bool { return int(f.granule.Load()) == g+1 }

// choosePages decides about the pages of granule g, which is committed and not ready yet. mu is
// held.
func (u *Universe) choosePages(g int) {
	old := int(u.fine.granule.Load()) - 1
	few := u.nReady == 0 && !u.Small && u.claimedIn(g) <= fineMost && universes.Len() > int(fineFrom.Load())
	if old >= 0 && (old == g) != few && u.pages.Fine(old*mmap.Granule, false) == nil {
		u.fine.kept.Store(false)
		u.fine.granule.Store(0)
		old = -1
	}
	if few && (old < 0 || old == g) && u.pages.Fine(g*mmap.Granule, true) == nil {
		u.fine.kept.Store(true)
		u.fine.granule.Store(int32(g + 1))
	}
}

// claimedIn returns how many chunks of granule g are claimed.
func (u *Universe) claimedIn(g int) int {
	return bits.OnesCount64(u.Index.Word(2*g).Load()) + bits.OnesCount64(u.Index.Word(2*g+1).Load())
}

// dirtyIn returns how many chunks of granule g are dirty.
func (u *Universe) dirtyIn(g int) int {
	return bits.OnesCount64(u.dirty[2*g].Load()) + bits.OnesCount64(u.dirty[2*g+1].Load())
}

// back gives memory to the chunks fresh of megachunk m, which lies in the fine granule. They belong
// to one claimed run, are marked dirty, and were not dirty before. A run that must read as zero
// comes into memory page by page, as it is used.
func (u *Universe) back(m int, fresh uint64, c Flags) {
	if c&ZeroedRun == 0 {
		at := bits.TrailingZeros64(fresh)
		from := (m*ChunksPerMegachunk + at) * ChunkSize
		to := from + (bits.Len64(fresh)-at)*ChunkSize
		if page := mmap.PageSize(); page > ChunkSize {
			from, to = from&^(page-1), (to+page-1)&^(page-1)
		}
		_ = u.pages.Prefault(from, to-from) // else the first touch does it, or fails as it would have
	}
	if g := m / 2; u.fine.kept.Load() && u.dirtyIn(g) > fineMost && u.fine.kept.CompareAndSwap(true, false) {
		_ = u.pages.Fine(g*mmap.Granule, false)
	}
}

// avoided returns the megachunks lo to hi-1 that a run of n chunks should not come from: those of
// the fine granule, when it would have more than fineMost chunks in use. Under a budget no room is
// left aside, since the granule was charged as a whole.
func (u *Universe) avoided(n int) (lo, hi int) {
	g := int(u.fine.granule.Load()) - 1
	if g < 0 || ledger.Process.Terms() != nil || u.claimedIn(g)+n <= fineMost {
		return 0, 0
	}
	return 2 * g, 2*g + 2
}

// verifyFine checks I9. mu is held.
func (u *Universe) verifyFine() error {
	g, kept := int(u.fine.granule.Load())-1, u.fine.kept.Load()
	size := u.pages.FineSize()
	if g >= u.reached() || size > mmap.Granule || kept && (g < 0 || size == 0 || u.dirtyIn(g) > fineMost) {
		return fmt.Errorf("alloc: I9: granule %d of %d is fine, its pages are kept small: %v, and the pages layer has %d bytes of that kind",
			g, u.reached(), kept, size)
	}
	return nil
}
