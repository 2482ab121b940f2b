package universe

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"quarry/bitmask"
	"quarry/internal/debug"
	"quarry/internal/universe/mutant"
	"quarry/internal/universe/sentinel"
)

// Spans: contiguous chunks across megachunks, for blocks above 1 MiB.
//
//	masks, lowest bit first   0000 1111   1111 1111   1111 1111   1100 0000
//	                               |<------------- span ------------>|
//
// A span is a suffix of one mask, whole masks, and a prefix of the last one, so it begins where the
// block before it ends: 1 MiB + 1 B takes 65 chunks, not two granules. Its chunks are like any
// others: they are claimed by compare-and-swap, word after word, and only then checked against
// their granules (universe.go). When a word fails, exactly the claims before it are released.
//
// The search is first fit by address, under a lock of its own. Spans are large: reading a word for
// each 1 MiB, 16,384 at most, costs less than touching what they hold. A hint is the word at which
// the first free run of 65 chunks begins. It is lowered when a span is freed and when a granule
// becomes empty; when nothing is found from there on, all words are read.
//
// Blocks of 17 to 63 chunks also cross from one megachunk to the next: 600,000 B take 37 chunks,
// and one in each megachunk would leave 27 unused. They fill gaps of megachunks in part use by best
// fit first, as shorter runs do; else they come where free chunks follow each other, by the same
// search with a hint of its own, which looks at acrossWords words; and then as they always did.
//
// Memory of freed spans waits for reuse as all memory does: empty granules stay committed for the
// delay of PurgeAfter.

// LeastSpan is the length of the shortest span in chunks. So at most one span begins in a
// megachunk, and a heap needs one head for each.
const LeastSpan = ChunksPerMegachunk + 1

const (
	leastAcross = 17  // chunks of the shortest run that may lie in two megachunks
	acrossWords = 256 // words that the search for one reads
)

// Spans is the state of a universe's spans.
type spans struct {
	mu   sync.Mutex   // held over a search and the claim of what it found, never over a commit
	from atomic.Int64 // hint: megachunk in which the first free run of LeastSpan chunks begins
	near atomic.Int64 // the same for leastAcross chunks
	Held atomic.Int64 // chunks of spans; counted by those who have them
	want atomic.Int64 // length that was not found since the last call of lower; 0: none
	Most int64        // held is at most this, give or take what goroutines claim at once
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
	lowerTo(&s.from, m)
	lowerTo(&s.near, m)
}

func lowerTo(hint *atomic.Int64, m int) {
	for from := hint.Load(); int64(m) < from; from = hint.Load() {
		if hint.CompareAndSwap(from, int64(m)) {
			return
		}
	}
}

// RoomFor reports whether n more chunks are within the share of spans.
func (s *spans) RoomFor(n int) bool { return s.Held.Load()+int64(n) <= s.Most }

// partOf returns the part of a span that lies in the megachunk of its first chunk: k chunks from
// chunk at of megachunk m on.
func partOf(first ChunkIndex, n int) (m, at, k int) {
	m, at = int(first)/ChunksPerMegachunk, int(first)%ChunksPerMegachunk
	return m, at, min(n, ChunksPerMegachunk-at)
}

// AllocSpan allocates n contiguous chunks at an address that is a multiple of align. It returns the
// bare ErrFull when there are none, and otherwise an error that wraps ErrCommit; then nothing has
// changed.
func (u *Universe) AllocSpan(n, align int, c Flags) (ChunkIndex, error) {
	if c&WholeSpan == 0 && !u.Spans.RoomFor(n) {
		return 0, sentinel.ErrFull
	}
	if err := u.Refuse("AllocSpan"); err != nil {
		return 0, err
	}
	if first, ok := u.TakeKept(n, align, c); ok {
		return first, nil
	}
	u.releaseKept()
	first, ok := u.takeSpan(n, align, c&WholeSpan != 0)
	if !ok {
		return 0, sentinel.ErrFull
	}
	if err := u.equip(first, n, c); err != nil {
		u.DropSpan(first, n)
		return 0, fmt.Errorf("%d chunks of 16 KiB: %w: %w", n, sentinel.ErrCommit, err)
	}
	return first, nil
}

// AllocRun is exact for runs that may lie in two megachunks.
func (u *Universe) AllocRun(n int, c Flags) (ChunkIndex, error) {
	if first, ok := u.TakeKept(n, 1, c); ok {
		return first, nil
	}
	if n >= leastAcross && n < ChunksPerMegachunk && u.Refusal == nil {
		if first, err := u.fillGap(n, c); err != sentinel.ErrFull {
			return first, err
		}
		if first, ok := u.takeAcross(n); ok {
			if u.equip(first, n, c) == nil {
				return first, nil
			}
			u.DropSpan(first, n) // exact reports why, or finds committed memory
		}
	}
	return u.Exact(n, c, "AllocExact")
}

// fillGap claims a run of n chunks in a megachunk that is in part use, by best fit.
func (u *Universe) fillGap(n int, c Flags) (ChunkIndex, error) {
	shard := u.leases.shards.Index()
	f := u.Index.Fit(n)
	f.Avoid(u.avoided(n))
	for m, ok := f.Next(); ok; m, ok = f.Next() {
		if u.Index.Word(m).Load() == 0 {
			break // so are all that follow
		}
		if u.leases.isOthers(m, shard) {
			f.Skip((m/lineWords + 1) * lineWords)
			continue
		}
		if first, err := u.claim(m, n, c, "AllocExact"); err != sentinel.ErrFull {
			return first, err
		}
	}
	return 0, sentinel.ErrFull
}

// takeAcross claims n chunks at the end of a megachunk and the beginning of the next, or at the
// beginning of one.
func (u *Universe) takeAcross(n int) (first ChunkIndex, ok bool) {
	u.Spans.mu.Lock()
	defer u.Spans.mu.Unlock()
	s := search{n: n, align: 1, least: leastAcross, words: acrossWords, hint: &u.Spans.near}
	return u.searchSpan(s)
}

// ExtendSpan claims more chunks directly after a span of n chunks that the caller holds, and
// reports whether it could. They are not cleared.
func (u *Universe) ExtendSpan(first ChunkIndex, n, more int) bool {
	end := first + ChunkIndex(n)
	if int(end)+more > u.Index.Len() || u.Refuse("ExtendSpan") != nil ||
		!u.claimSpan(end, more) && !(u.releaseKept() && u.claimSpan(end, more)) {
		return false
	}
	if u.equip(end, more, AnyRun) != nil {
		u.DropSpan(end, more)
		return false
	}
	return true
}

// FreeSpan frees n chunks of a span from first on. It returns false when a chunk is not in use;
// then it frees none, unless another goroutine frees them at the same time.
func (u *Universe) FreeSpan(first ChunkIndex, n int) bool {
	for c, left := first, n; left > 0; {
		m, at, k := partOf(c, left)
		if u.Index.Word(m).Load()&bitmask.Mask(at, k) != bitmask.Mask(at, k) {
			return false
		}
		c, left = c+ChunkIndex(k), left-k
	}
	if debug.On {
		debug.Poison(u.Memory(first, n), debug.Freed)
	}
	return u.DropSpan(first, n)
}

// DropSpan clears the bits of n chunks from first on, and notes that they are free.
func (u *Universe) DropSpan(first ChunkIndex, n int) bool {
	from := int(first) / ChunksPerMegachunk
	for n > 0 {
		m, at, k := partOf(first, n)
		if !u.unclaim(m, at, k) {
			return false
		}
		first, n = first+ChunkIndex(k), n-k
	}
	u.Spans.lower(from)
	return true
}

// takeSpan claims n chunks: outside the lines that shards lease when it can. Where so many were not
// found it does not look again before a span or a granule became free, unless always is set.
func (u *Universe) takeSpan(n, align int, always bool) (first ChunkIndex, ok bool) {
	u.Spans.mu.Lock()
	defer u.Spans.mu.Unlock()
	if want := u.Spans.want.Load(); want != 0 && int64(n) >= want && !always {
		return 0, false
	}
	s := search{n: n, align: align, least: LeastSpan, words: u.Index.Words(), hint: &u.Spans.from}
	if first, ok = u.searchSpan(s); !ok {
		s.leased, s.hint = true, new(atomic.Int64)
		first, ok = u.searchSpan(s)
		u.Spans.from.Store(s.hint.Load())
	}
	if !ok && align <= ChunkSize {
		u.Spans.want.Store(int64(n))
	}
	return first, ok
}

// search is the request and state of a search for a span.
type search struct {
	n, align int           // chunks, and the multiple at which they begin, in bytes
	least    int           // chunks of the shortest run that the hint is about
	words    int           // to read at most
	leased   bool          // also in lines that shards lease, and in a fine granule
	hint     *atomic.Int64 // megachunk to begin with
}

// searchSpan claims the first free chunks that s describes, and moves its hint to the first free
// run that it passes. Runs inside one megachunk are not for it. u.spans.mu is held.
func (u *Universe) searchSpan(s search) (ChunkIndex, bool) {
	from := int(s.hint.Load())
	start := from * ChunksPerMegachunk // of the free run that the words read so far end with
	room := -1                         // megachunk in which the first run that is a hint begins
	lo, hi := u.avoided(s.n)
	for m := from; m < min(from+s.words, u.Index.Words()); m++ {
		used := u.Index.Word(m).Load()
		if used == ^uint64(0) && start == m*ChunksPerMegachunk {
			start += ChunksPerMegachunk // full, after one that ends in use: most words are
			continue
		}
		if !s.leased && (lo <= m && m < hi || u.leases.lines[m/lineWords].Load() != 0) {
			used = ^uint64(0)
		}
		end := m*ChunksPerMegachunk + bits.TrailingZeros64(used)
		at := u.aligned(start, s.align)
		if end-at >= s.n {
			first := ChunkIndex(at)
			if u.claimSpan(first, s.n) {
				if room < 0 {
					room = (at + s.n) / ChunksPerMegachunk
				}
				s.hint.CompareAndSwap(int64(from), int64(room))
				return first, true
			}
			// Another goroutine took one of the chunks since: read the words again.
			m = at/ChunksPerMegachunk - 1
			start = (m + 1) * ChunksPerMegachunk
			continue
		}
		if end-start >= s.least && room < 0 {
			room = start / ChunksPerMegachunk
		}
		if used != 0 {
			start = (m+1)*ChunksPerMegachunk - bits.LeadingZeros64(used)
		}
	}
	if room < 0 {
		room = min(from+s.words, u.Index.Words()) - 1
	}
	s.hint.CompareAndSwap(int64(from), int64(room))
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
		before, now, ok := u.Index.Word(m).TryAllocAt(at, k)
		if !ok {
			u.DropSpan(first, n-left)
			return false
		}
		u.Index.Note(m, before, now)
		c, left = c+ChunkIndex(k), left-k
	}
	return true
}

// equip makes n claimed chunks from first on usable: it commits granules that are not ready,
// charges the chunks that were given back, and marks or clears them by c. On an error the caller
// drops the claim; chunks committed by then stay, empty, for others.
func (u *Universe) equip(first ChunkIndex, n int, c Flags) error {
	mutant.Pause()
	u.raise((int(first) + n - 1) / (2 * ChunksPerMegachunk))
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

// FreeRun is Free of a run that may lie in two megachunks; Keep is for those that may be requested
// again.
func (u *Universe) FreeRun(c ChunkIndex, n int) {
	for n > 0 {
		_, _, k := partOf(c, n)
		u.Free(c, k)
		if k >= leastAcross {
			lowerTo(&u.Spans.near, int(c)/ChunksPerMegachunk)
		}
		c, n = c+ChunkIndex(k), n-k
	}
}

// ExtendRun is Extend of a run that may lie in two megachunks, or may then.
func (u *Universe) ExtendRun(c ChunkIndex, n, more int) bool {
	if _, _, k := partOf(c, n+more); k == n+more {
		return u.Extend(c, n, more) || u.releaseKept() && u.Extend(c, n, more)
	}
	return u.ExtendSpan(c, n, more)
}
