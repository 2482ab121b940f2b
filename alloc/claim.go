package alloc

import (
	"fmt"
	"math/bits"

	"quarry/bitmask"
	"quarry/internal/debug"
	"quarry/mmap"
)

// Claims: how a run of chunks is found, made usable and handed out. The protocol
// is described in universe.go.

// wish is what a caller asks of a run beside its length.
type wish uint8

const (
	anyRun     wish = 0
	zeroedRun  wish = 1 << 0 // its memory reads as zero
	alignedRun wish = 1 << 1 // its first chunk is a multiple of its length, a power of two
)

// tryAlloc claims a run of n chunks: a single one in the shard's home, which may
// be a new one, else wherever it fits best. ok is false when there was none.
func (u *Universe) tryAlloc(n int, c wish, name string) (first ChunkIndex, ok bool, err error) {
	shard := u.leases.shards.index()
	if n == 1 {
		return u.findHome(shard, c, name)
	}
	return u.search(n, shard, c, name)
}

// search claims a run of n chunks by best fit, first outside the lines of other
// shards, then anywhere.
func (u *Universe) search(n, shard int, c wish, name string) (first ChunkIndex, ok bool, err error) {
	for _, anywhere := range [...]bool{false, true} {
		f := u.index.Fit(n)
		for m, ok := f.Next(); ok; m, ok = f.Next() {
			if !anywhere && u.leases.isOthers(m, shard) {
				f.Skip((m/lineWords + 1) * lineWords)
				continue
			}
			if first, ok, err := u.claim(m, n, c, name); ok || err != nil {
				return first, ok, err
			}
		}
	}
	if mutant == trustIndex {
		return 0, false, nil
	}
	// Homes are not in the index, and the summaries may have lagged behind a
	// free; the masks never do.
	for m := range u.index.Words() {
		if first, ok, err = u.claim(m, n, c, name); ok || err != nil {
			return first, ok, err
		}
	}
	return 0, false, nil
}

// claim takes a run of n chunks of megachunk m.
func (u *Universe) claim(m, n int, c wish, name string) (first ChunkIndex, ok bool, err error) {
	at, before, ok := u.take(m, n, c)
	if !ok {
		return 0, false, nil
	}
	u.index.Note(m, before, before|bitmask.Mask(at, n))
	return u.claimed(m, at, n, c, name)
}

// take sets the bits of a run in megachunk m, the lowest one that there is.
func (u *Universe) take(m, n int, c wish) (at int, before uint64, ok bool) {
	if c&alignedRun != 0 {
		return u.index.Word(m).TryAllocAligned(n)
	}
	return u.index.Word(m).TryAlloc(n)
}

// claimed makes a run that was just claimed usable: its granule is committed when
// it is not ready. When that is refused the claim is taken back, and a run is
// looked for in memory that is ready.
func (u *Universe) claimed(m, at, n int, c wish, name string) (first ChunkIndex, ok bool, err error) {
	pause()
	if u.ready[m/2].Load() == 0 {
		if err := u.commit(m / 2); err != nil {
			u.rollBack(m, at, n)
			return u.tryReady(n, c, fmt.Errorf("alloc: Universe.%s: %d chunks of 16 KiB: %w: %w", name, n, ErrCommit, err))
		}
	}
	return u.handOut(m, at, n, c), true, nil
}

// rollBack gives back a claim whose memory was refused.
func (u *Universe) rollBack(m, at, n int) {
	switch mutant {
	case keepClaim:
		return
	case rollBackAll:
		at, n = 0, ChunksPerMegachunk
		for i := range n {
			u.index.Word(m).ClearBit(i)
		}
		return
	}
	u.unclaim(m, at, n)
}

// tryReady looks for a run in memory that is committed already, after a commit
// was refused.
func (u *Universe) tryReady(n int, c wish, refused error) (first ChunkIndex, ok bool, err error) {
	for m := range u.index.Words() {
		if u.ready[m/2].Load() == 0 {
			continue
		}
		at, before, ok := u.take(m, n, c)
		if !ok {
			continue
		}
		u.index.Note(m, before, before|bitmask.Mask(at, n))
		// The granule may have been trimmed between the two looks.
		if u.ready[m/2].Load() == 0 && u.commit(m/2) != nil {
			u.unclaim(m, at, n)
			continue
		}
		return u.handOut(m, at, n, c), true, nil
	}
	return 0, false, refused
}

// handOut marks a run dirty that is claimed and ready, clears it when it must be
// zero, and returns its first chunk.
func (u *Universe) handOut(m, at, n int, c wish) ChunkIndex {
	first := ChunkIndex(m*ChunksPerMegachunk + at)
	mask := bitmask.Mask(at, n)
	dirty := u.dirty[m].Load() & mask // nobody else writes bits of chunks that are ours
	if dirty != mask && mutant != forgetDirty {
		u.dirty[m].Or(mask)
	}
	switch {
	case c&zeroedRun != 0:
		for d := dirty; d != 0; d &= d - 1 {
			clear(u.bytes(ChunkIndex(m*ChunksPerMegachunk+bits.TrailingZeros64(d)), 1))
		}
	case debug.On:
		debug.Poison(u.bytes(first, n), debug.Fresh)
	}
	return first
}

// commit makes granule g ready. Two goroutines may ask for the same one.
func (u *Universe) commit(g int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ready[g].Load() != 0 {
		return nil
	}
	if err := u.pages.Commit(g*mmap.Granule, mmap.Granule); err != nil {
		return err
	}
	u.nReady++
	u.ready[g].Store(1)
	return nil
}
