package universe

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"quarry/bitmask"
	"quarry/internal/universe/ledger"
	"quarry/internal/universe/mutant"
	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// Giving back the memory of free chunks that lie beside chunks in use:
//
//	granule    used  free  free  used  free  ...  used     not ready meanwhile, so who claims a chunk waits
//	                 -     -           -                   the pages go; dirty is cleared, gone is set
//	a claim of a gone chunk charges the budget again; its first touch finds a page that reads zero
//
// Afterwards the granule is ready again, and a chunk that is gone is allocated like any other; only
// its memory is charged at that moment instead of with the granule. On Linux a huge page is split
// by this. That costs the chunks in use beside it some speed, so Maintain takes only granules with
// leastIdle chunks to give that were free at two looks, a delay apart. Trim and a purge of the
// budget take all.

// leastIdle is how many chunks of a granule must have been free for the delay before Maintain gives
// them back: 256 KiB of 2 MiB.
const leastIdle = 16

// discardFree gives back the free chunks of all granules that are in use: all of them, or after a
// delay those that were free at a look at least that long ago. mu is held, except between two
// granules.
func (u *Universe) discardFree(op string, now time.Time, delay time.Duration, by *scavenger) (returned int, err error) {
	all, granules := delay == 0, u.reached()
	if u.closed || !all && !u.lookDue(now, delay, granules) {
		return 0, nil
	}
	for g, left := 0, u.nReady; g < granules && left > 0 && !u.whole; g++ {
		if u.ready[g].Load() == 0 {
			continue
		}
		left--
		n := 0
		if !u.isEmpty(g) && !u.isFiled(g) && (all || u.idleIn(g) >= leastIdle) {
			var e error
			n, e = u.discardIn(op, g, all)
			returned += n
			err = errors.Join(err, e)
		}
		if !all {
			u.idle[2*g], u.idle[2*g+1] = ^u.Index.Word(2*g).Load(), ^u.Index.Word(2*g+1).Load()
		}
		if n > 0 && !u.pass(by) {
			break
		}
	}
	return returned, err
}

// lookDue reports whether the last look of Maintain is at least the delay ago, and begins one of so
// many granules then.
func (u *Universe) lookDue(now time.Time, delay time.Duration, granules int) bool {
	if u.looked.IsZero() {
		u.looked = now.Add(-delay)
	}
	if more := 2*granules - len(u.idle); more > 0 {
		u.idle = append(u.idle, make([]uint64, more)...)
	}
	if now.Sub(u.looked) < delay {
		return false
	}
	u.looked = now
	return true
}

// idleIn returns how many chunks of granule g are free, were free at the last look, and have
// memory.
func (u *Universe) idleIn(g int) (n int) {
	for m := 2 * g; m < 2*g+2; m++ {
		n += bits.OnesCount64(u.idle[m] &^ u.Index.Word(m).Load() &^ u.gone[m].Load())
	}
	return n
}

// discardIn gives back the free chunks of granule g, or those of them that were free at the last
// look. It is the trimmer's side of the handshake in universe.go, as decommit is.
func (u *Universe) discardIn(op string, g int, all bool) (returned int, err error) {
	mutant.Pause()
	u.ready[g].Store(0)
	mutant.Pause()
	defer u.ready[g].Store(1)
	for m := 2 * g; m < 2*g+2; m++ {
		chunks := ^u.Index.Word(m).Load() &^ u.gone[m].Load()
		if !all {
			chunks &= u.idle[m]
		}
		for chunks != 0 && !u.whole {
			at, n := bitmask.LongestRun(^chunks)
			chunks &^= bitmask.Mask(at, n)
			got, e := u.discardRun(op, m, at, n)
			returned += got
			err = errors.Join(err, e)
		}
	}
	return returned, err
}

// discardRun gives back the memory of n free chunks of megachunk m from at on. Nobody uses them:
// the granule is not ready, so who claims one of them waits for mu.
func (u *Universe) discardRun(op string, m, at, n int) (returned int, err error) {
	at, n = wholePages(at, n)
	if n == 0 {
		return 0, nil
	}
	err = u.pages.Discard((m*ChunksPerMegachunk+at)*ChunkSize, n*ChunkSize)
	if errors.Is(err, mmap.ErrUnsupported) {
		u.whole = true
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("alloc: Universe.%s: %w", op, err)
	}
	u.dirty[m].And(^bitmask.Mask(at, n))
	u.gone[m].Or(bitmask.Mask(at, n))
	ledger.Process.Refund(n * ChunkSize)
	return n * ChunkSize, nil
}

// errRetaken means that memory which was given back could not be charged to the budget again, and
// that the chunks with memory were claimed meanwhile.
var errRetaken = fmt.Errorf("no room in the budget for memory that was given back: %w", sentinel.ErrBudget)

// wholePages shrinks a run of chunks to whole pages, where these are larger than a chunk.
func wholePages(at, n int) (int, int) {
	per := mmap.PageSize() / ChunkSize
	if per <= 1 {
		return at, n
	}
	end := (at + n) / per * per
	at = (at + per - 1) / per * per
	return at, max(0, end-at)
}

// refill charges the chunks of a claimed run that were given back, and reports whether the budget
// has room for them. It purges nothing: memory that is there is taken first, see tryReady.
func (u *Universe) refill(m int, run uint64) bool {
	gone := u.gone[m].Load() & run // none but us changes the bits of our chunks
	if gone == 0 {
		return true
	}
	if !ledger.Process.ChargeHere(bits.OnesCount64(gone) * ChunkSize) {
		return false
	}
	u.gone[m].And(^gone)
	return true
}

// refillOrPurge is refill that makes room in the budget first if there is none.
func (u *Universe) refillOrPurge(m int, run uint64) error {
	gone := u.gone[m].Load() & run
	if gone == 0 {
		return nil
	}
	if err := ledger.Process.Charge(bits.OnesCount64(gone) * ChunkSize); err != nil {
		return err
	}
	u.gone[m].And(^gone)
	return nil
}

// goneBytes returns the bytes of granule g that were given back.
func (u *Universe) goneBytes(g int) int {
	return ChunkSize * (bits.OnesCount64(u.gone[2*g].Load()) + bits.OnesCount64(u.gone[2*g+1].Load()))
}

// DiscardPart gives back pages of chunks in use: n bytes at off of chunk c. The caller owns them.
func (u *Universe) DiscardPart(c ChunkIndex, off, n int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.whole || u.isFiled(int(c)/chunksPerGranule) {
		return nil
	}
	err := u.pages.Discard(int(c)*ChunkSize+off, n)
	if errors.Is(err, mmap.ErrUnsupported) {
		u.whole = true
		return nil
	}
	return err
}
