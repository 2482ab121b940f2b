package universe

import (
	"cmp"
	"fmt"
	"math/bits"
	"time"

	"quarry/bitmask"
	"quarry/internal/debug"
	"quarry/internal/universe/ledger"
	"quarry/internal/universe/mutant"
	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// Claims: how a run of chunks is found, made usable and returned; single chunks are chosen in
// masklease.go. universe.go describes the protocol.

// Flags is a caller's requirements of a run besides its length.
type Flags uint8

// These are the requirements, which combine by or.
const (
	AnyRun     Flags = 0
	ZeroedRun  Flags = 1 << 0 // its memory reads as zero
	AlignedRun Flags = 1 << 1 // its first chunk is a multiple of its length, a power of two
	WholeSpan  Flags = 1 << 2 // of AllocSpan: all free chunks will do, beyond the share of spans too
)

// tryAlloc claims a run of n chunks: a single chunk in the shard's home, which may move to a new
// megachunk, and a longer run where it fits best. It returns the bare ErrFull when there is none,
// as all functions of the search do.
func (u *Universe) tryAlloc(n int, c Flags, name string) (ChunkIndex, error) {
	if err := u.Refuse(name); err != nil {
		return 0, err
	}
	shard := u.leases.shards.Index()
	if n == 1 {
		return u.findHome(shard, c, name)
	}
	return u.search(n, shard, c, name)
}

// search claims a run of n chunks by best fit, first outside the lines that other shards lease and
// outside a fine granule that would have too many of them, then anywhere.
func (u *Universe) search(n, shard int, c Flags, name string) (ChunkIndex, error) {
	first, err := u.searchFree(n, shard, c, name)
	if err == sentinel.ErrFull && u.releaseKept() {
		return u.searchFree(n, shard, c, name)
	}
	return first, err
}

// searchFree is search beside what is kept.
func (u *Universe) searchFree(n, shard int, c Flags, name string) (ChunkIndex, error) {
	lo, hi := u.avoided(n)
	for anywhere := false; ; anywhere = true {
		passed := !anywhere && lo < hi // or skipped a line that another shard leases
		f := u.fit(n, c)
		if !anywhere {
			f.Avoid(lo, hi)
		}
		for m, ok := f.Next(); ok; m, ok = f.Next() {
			if !anywhere && u.leases.isOthers(m, shard) {
				passed = true
				f.Skip((m/lineWords + 1) * lineWords)
				continue
			}
			if first, err := u.claim(m, n, c, name); err != sentinel.ErrFull {
				return first, err
			}
		}
		if !passed {
			break
		}
	}
	if mutant.Planted == mutant.TrustIndex {
		return 0, sentinel.ErrFull
	}
	// The index does not cover homes, and its summaries may lag behind a free; the masks never lag.
	for m := range u.Index.Words() {
		if first, err := u.claim(m, n, c, name); err != sentinel.ErrFull {
			return first, err
		}
	}
	return 0, sentinel.ErrFull
}

func (u *Universe) fit(n int, c Flags) bitmask.Fit {
	if c&AlignedRun != 0 {
		return u.Index.FitAligned(n)
	}
	return u.Index.Fit(n)
}

// claim claims a run of n chunks of megachunk m and makes it usable, if there is one.
func (u *Universe) claim(m, n int, c Flags, name string) (ChunkIndex, error) {
	run, ok := u.take(m, n, c)
	if !ok {
		return 0, sentinel.ErrFull
	}
	return u.claimed(m, run, c, name)
}

// take sets the bits of the lowest suitable run of megachunk m and returns them.
func (u *Universe) take(m, n int, c Flags) (run uint64, ok bool) {
	var before, now uint64
	if c&AlignedRun != 0 {
		_, before, now, ok = u.Index.Word(m).TryAllocAligned(n)
	} else {
		_, before, now, ok = u.Index.Word(m).TryAlloc(n)
	}
	if ok {
		u.Index.Note(m, before, now)
	}
	return before ^ now, ok
}

// claimed makes a newly claimed run usable: it commits the run's granule when that is not ready.
// When the commit is refused, it takes the claim back and looks for a run in committed memory.
func (u *Universe) claimed(m int, run uint64, c Flags, name string) (ChunkIndex, error) {
	mutant.Pause()
	var refused error
	if u.ready[m/2].Load() == 0 {
		if n := bits.OnesCount64(run); n > 1 && u.releaseKept() { // there may be room that is committed
			u.raise(m / 2) // the claim has left traces
			u.rollBack(m, bits.TrailingZeros64(run), n)
			return u.search(n, u.leases.shards.Index(), c, name)
		}
		refused = u.commit(m / 2)
	}
	if refused == nil && u.refill(m, run) {
		return u.handOut(m, run, c), nil
	}
	n := bits.OnesCount64(run)
	u.rollBack(m, bits.TrailingZeros64(run), n)
	first, err := u.tryReady(n, c, refused)
	if err != nil {
		err = fmt.Errorf("alloc: Universe.%s: %d chunks of 16 KiB: %w: %w", name, n, sentinel.ErrCommit, err)
	}
	return first, err
}

// rollBack releases a claim whose memory was refused.
func (u *Universe) rollBack(m, at, n int) {
	switch mutant.Planted {
	case mutant.KeepClaim:
		return
	case mutant.RollBackAll:
		at, n = 0, ChunksPerMegachunk
		for i := range n {
			u.Index.Word(m).ClearBit(i)
		}
		return
	}
	u.unclaim(m, at, n)
}

// tryReady looks for a run in committed memory after more memory was refused: first for a run that
// has all of its memory, then for any, for which it purges. refused is its error when there is
// none; nil means that the budget had no room for chunks that were given back.
func (u *Universe) tryReady(n int, c Flags, refused error) (ChunkIndex, error) {
	for _, all := range []bool{false, true} {
		for m := range u.Index.Words() {
			if u.ready[m/2].Load() == 0 {
				continue
			}
			run, ok := u.takeReady(m, n, c, all)
			if !ok {
				continue
			}
			// The granule may have been trimmed between the two loads.
			if u.ready[m/2].Load() == 0 && u.commit(m/2) != nil {
				u.unclaim(m, bits.TrailingZeros64(run), n)
				continue
			}
			if err := u.refillOrPurge(m, run); err != nil {
				u.unclaim(m, bits.TrailingZeros64(run), n)
				return 0, cmp.Or(refused, err)
			}
			return u.handOut(m, run, c), nil
		}
	}
	return 0, cmp.Or(refused, errRetaken)
}

// takeReady is take of a run whose chunks have their memory, or, with all, of any run.
func (u *Universe) takeReady(m, n int, c Flags, all bool) (run uint64, ok bool) {
	gone := u.gone[m].Load()
	if all || gone == 0 {
		return u.take(m, n, c)
	}
	find := bitmask.FindRun
	if c&AlignedRun != 0 {
		find = bitmask.FindAligned
	}
	at, ok := find(u.Index.Word(m).Load()|gone, n)
	if !ok {
		return 0, false
	}
	before, now, ok := u.Index.Word(m).TryAllocAt(at, n)
	if ok {
		u.Index.Note(m, before, now)
	}
	return before ^ now, ok
}

// handOut marks a claimed, committed run of megachunk m as dirty, clears it when it must be zero,
// and returns its first chunk.
func (u *Universe) handOut(m int, run uint64, c Flags) ChunkIndex {
	first := ChunkIndex(m*ChunksPerMegachunk + bits.TrailingZeros64(run))
	dirty := u.dirty[m].Load() & run // no one else writes the bits of our chunks
	if dirty != run && mutant.Planted != mutant.ForgetDirty {
		u.dirty[m].Or(run)
		if u.fine.is(m / 2) {
			u.back(m, run&^dirty, c)
		}
	}
	switch {
	case c&ZeroedRun != 0:
		for d := dirty; d != 0; d &= d - 1 {
			clear(u.Memory(ChunkIndex(m*ChunksPerMegachunk+bits.TrailingZeros64(d)), 1))
		}
	case debug.On:
		debug.Poison(u.Memory(first, bits.OnesCount64(run)), debug.Fresh)
	}
	return first
}

// raise makes reach cover granule g, in which chunks were claimed.
func (u *Universe) raise(g int) {
	if g < u.reached() {
		return
	}
	u.commits.Lock()
	defer u.commits.Unlock()
	u.reach.Store(max(u.reach.Load(), int32(g+1)))
}

// commit makes granule g ready. Concurrent calls for one granule charge the budget once.
func (u *Universe) commit(g int) error {
	u.releaseKept()
	u.commits.Lock()
	defer u.commits.Unlock()
	if u.ready[g].Load() != 0 {
		return nil
	}
	u.reach.Store(max(u.reach.Load(), int32(g+1))) // also when it is refused: the claim has left traces
	over := ledger.Process.Charge(mmap.Granule)    // without mu, since charging may trim this very universe
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ready[g].Load() != 0 { // a trimmer had cleared it for a moment
		if over == nil {
			ledger.Process.Refund(mmap.Granule)
		}
		return nil
	}
	if over != nil {
		return over
	}
	if err := u.pages.Commit(g*mmap.Granule, mmap.Granule); err != nil {
		ledger.Process.Refund(mmap.Granule)
		return err
	}
	u.choosePages(g)
	u.nReady++
	u.ready[g].Store(1)
	TheScavenger.wake(time.Now())
	return nil
}
