package alloc

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"quarry/bitmask"
	"quarry/internal/debug"
)

// Spans: contiguous chunks across megachunks, for blocks above 1 MiB.
//
//	masks, lowest bit first   0000 1111   1111 1111   1111 1111   1100 0000
//	                               |<------------- span ------------>|
//
// A span is a suffix of one mask, whole masks, and a prefix of the last one, so it begins where the
// block before it ends: 1 MiB + 1 B takes 65 chunks, not two granules. Its chunks are like any
// others: they are claimed by compare-and-swap, word after word, and only then checked against
// their granules (universe.go). When a word fails, exactly what was claimed before it is released.
//
// The search is first fit by address, under a lock of its own. Spans are large: reading a word for
// each 1 MiB, 16,384 at most, costs less than touching what they hold. A hint says at which word
// the first free run of 65 chunks begins. It is lowered when a span is freed and when a granule
// becomes empty; when nothing is found from there on, all words are read.
//
// Memory of freed spans waits for reuse as all memory does: empty granules stay committed for the
// delay of PurgeAfter.

// leastSpan is the length of the shortest span in chunks. So at most one span begins in a
// megachunk, and a heap needs one head for each.
const leastSpan = ChunksPerMegachunk + 1

// spans is what a universe knows of its spans.
type spans struct {
	mu   sync.Mutex   // held over a search and the claim of what it found, never over a commit
	from atomic.Int64 // hint: megachunk in which the first free run of leastSpan chunks begins
	held atomic.Int64 // chunks in spans
	want atomic.Int64 // length that was not found since the last call of lower; 0: none
	most int64        // held is at most this, give or take what goroutines claim at once
}

// mostOf returns how many chunks of a universe of that many spans may hold: half of what is above
// 64 MiB. A smaller universe is a bound that its user set for small blocks; large ones would soon
// fill it.
func mostOf(chunks int) int64 { return max(0, int64(chunks)-64<<20/ChunkSize) / 2 }

// lower makes the next search begin at megachunk m or before, where chunks became free.
func (s *spans) lower(m int) {
	if s.want.Load() != 0 {
		s.want.Store(0)
	}
	for from := s.from.Load(); int64(m) < from; from = s.from.Load() {
		if s.from.CompareAndSwap(from, int64(m)) {
			return
		}
	}
}

// roomFor reports whether n more chunks are within the share of spans.
func (s *spans) roomFor(n int) bool { return s.held.Load()+int64(n) <= s.most }

// partOf returns the part of a span that lies in the megachunk of its first chunk: k chunks from
// chunk at of megachunk m on.
func partOf(first ChunkIndex, n int) (m, at, k int) {
	m, at = int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk
	return m, at, min(n, ChunksPerMegachunk-at)
}

// allocSpan allocates n contiguous chunks at an address that is a multiple of align. It returns the
// bare ErrFull when there are none, and otherwise an error that wraps ErrCommit; then nothing has
// changed.
func (u *Universe) allocSpan(n, align int, c wish) (ChunkIndex, error) {
	if !u.spans.roomFor(n) {
		return 0, ErrFull
	}
	if err := u.refuse("AllocSpan"); err != nil {
		return 0, err
	}
	first, ok := u.takeSpan(n, align)
	if !ok {
		return 0, ErrFull
	}
	if err := u.equip(first, n, c); err != nil {
		u.dropSpan(first, n)
		return 0, fmt.Errorf("%d chunks of 16 KiB: %w: %w", n, ErrCommit, err)
	}
	return first, nil
}

// extendSpan claims more chunks directly after a span of n chunks that the caller holds, and
// reports whether it could. They are not cleared.
func (u *Universe) extendSpan(first ChunkIndex, n, more int) bool {
	end := first + ChunkIndex(n)
	if int(end)+more > u.index.Len() || !u.spans.roomFor(more) || u.refuse("ExtendSpan") != nil || !u.claimSpan(end, more) {
		return false
	}
	if u.equip(end, more, anyRun) != nil {
		u.dropSpan(end, more)
		return false
	}
	return true
}

// freeSpan frees n chunks of a span from first on. It returns false when a chunk is not in use;
// then it frees none, unless another goroutine frees them at the same time.
func (u *Universe) freeSpan(first ChunkIndex, n int) bool {
	for c, left := first, n; left > 0; {
		m, at, k := partOf(c, left)
		if u.index.Word(m).Load()&bitmask.Mask(at, k) != bitmask.Mask(at, k) {
			return false
		}
		c, left = c+ChunkIndex(k), left-k
	}
	if debug.On {
		debug.Poison(u.bytes(first, n), debug.Freed)
	}
	return u.dropSpan(first, n)
}

// dropSpan clears the bits of n chunks from first on, and notes that they are free.
func (u *Universe) dropSpan(first ChunkIndex, n int) bool {
	from := int(first) / ChunksPerMegachunk
	u.spans.held.Add(int64(-n))
	for n > 0 {
		m, at, k := partOf(first, n)
		if !u.unclaim(m, at, k) {
			return false
		}
		first, n = first+ChunkIndex(k), n-k
	}
	u.spans.lower(from)
	return true
}

// takeSpan claims n chunks: outside the lines that shards lease when it can. Where so many were not
// found it does not look again before a span or a granule became free.
func (u *Universe) takeSpan(n, align int) (first ChunkIndex, ok bool) {
	u.spans.mu.Lock()
	defer u.spans.mu.Unlock()
	if want := u.spans.want.Load(); want != 0 && int64(n) >= want {
		return 0, false
	}
	first, ok = u.searchSpan(int(u.spans.from.Load()), n, align, false)
	if !ok {
		first, ok = u.searchSpan(0, n, align, true)
	}
	if !ok && align <= ChunkSize {
		u.spans.want.Store(int64(n))
	}
	return first, ok
}

// searchSpan claims the first n free chunks at a multiple of align from megachunk from on. Unless
// leased is set, it leaves out the lines that shards lease. u.spans.mu is held.
func (u *Universe) searchSpan(from, n, align int, leased bool) (ChunkIndex, bool) {
	start := from * ChunksPerMegachunk // of the free run that the words read so far end with
	room := -1                         // megachunk in which the first run that is a hint begins
	for m := from; m < u.index.Words(); m++ {
		used := u.index.Word(m).Load()
		if !leased && u.leases.lines[m/lineWords].Load() != 0 {
			used = ^uint64(0)
		}
		end := m*ChunksPerMegachunk + bits.TrailingZeros64(used)
		at := u.aligned(start, align)
		if end-at >= n {
			first := ChunkIndex(at)
			if u.claimSpan(first, n) {
				if room < 0 {
					room = (at + n) / ChunksPerMegachunk
				}
				u.spans.from.CompareAndSwap(int64(from), int64(room))
				return first, true
			}
			// Another goroutine took one of the chunks since: read the words again.
			m = at/ChunksPerMegachunk - 1
			start = (m + 1) * ChunksPerMegachunk
			continue
		}
		if end-start >= leastSpan && room < 0 {
			room = start / ChunksPerMegachunk
		}
		if used != 0 {
			start = (m+1)*ChunksPerMegachunk - bits.LeadingZeros64(used)
		}
	}
	return 0, false
}

// aligned returns the first chunk from c on whose address is a multiple of align, a power of two.
func (u *Universe) aligned(c, align int) int {
	base := int(uintptr(u.base) / ChunkSize)
	step := max(align/ChunkSize, 1)
	return (base+c+step-1)&^(step-1) - base
}

// claimSpan sets the bits of n chunks from first on, or none when one of them is in use.
func (u *Universe) claimSpan(first ChunkIndex, n int) bool {
	for c, left := first, n; left > 0; {
		m, at, k := partOf(c, left)
		before, now, ok := u.index.Word(m).TryAllocAt(at, k)
		if !ok {
			u.spans.held.Add(int64(n - left)) // dropSpan takes them off
			u.dropSpan(first, n-left)
			return false
		}
		u.index.Note(m, before, now)
		c, left = c+ChunkIndex(k), left-k
	}
	u.spans.held.Add(int64(n))
	return true
}

// equip makes n claimed chunks from first on usable: it commits granules that are not ready,
// charges the chunks that were given back, and marks or clears them as c says. On an error the
// caller drops the claim; what was committed by then stays, empty, for others.
func (u *Universe) equip(first ChunkIndex, n int, c wish) error {
	pause()
	for at, left := first, n; left > 0; {
		m, in, k := partOf(at, left)
		if u.ready[m/2].Load() == 0 {
			if err := u.commit(m / 2); err != nil {
				return err
			}
		}
		if err := u.refillOrPurge(m, bitmask.Mask(in, k)); err != nil {
			return err
		}
		at, left = at+ChunkIndex(k), left-k
	}
	for n > 0 {
		m, in, k := partOf(first, n)
		u.handOut(m, bitmask.Mask(in, k), c)
		first, n = first+ChunkIndex(k), n-k
	}
	return nil
}
