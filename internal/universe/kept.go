package universe

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/debug"
)

// Kept runs and spans: what a heap has freed last, by length. Marking a run free and in use again
// takes a search and two changes of its mask, and a span has a mask for each MiB: 256 MiB took 18.6
// us. A run or span that is kept stays in use in the masks, and the next request for its length
// takes it by one compare-and-swap, of any length:
//
//	kept.ways[2]    3 chunks from 40 on | none      two of each length of 1 to 64 chunks
//	kept.ways[65]   129 chunks from 64 on | none    and of longer ones by length % 8
//
// So a kept word owns its chunks, and the one who swaps it out owns them next. Everybody else must
// find them free. All are released:
//
//	before a granule is committed, so the universe never commits more than if nothing were kept,
//	    give or take a granule that a goroutine has claimed before that
//	before a span of another length is searched for, and before a search reports ErrFull
//	before memory is returned: by Trim, Maintain, the scavenger, a purge or the budget
//	before anyone looks at the masks as a whole: Stats, Runs, Close
//
// A universe that refuses requests on purpose keeps nothing: each of its requests is one.

// keptSpans is the number of remainders by which spans are kept.
const keptSpans = 8

// kept is what a universe keeps.
type kept struct {
	some atomic.Bool // false: nothing is kept
	mu   sync.Mutex  // held while all are released, so that who waits for it finds them free
	ways [ChunksPerMegachunk + keptSpans][2]atomic.Uint64
}

// A word of kept has the first chunk and, above it, the number of chunks; 0: none.
func keptWord(first ChunkIndex, n int) uint64 { return uint64(n)<<32 | uint64(first) }

func keptIn(word uint64) (first ChunkIndex, n int) { return ChunkIndex(word), int(word >> 32) }

func (k *kept) of(n int) *[2]atomic.Uint64 {
	if n <= ChunksPerMegachunk {
		return &k.ways[n-1]
	}
	return &k.ways[ChunksPerMegachunk+n%keptSpans]
}

// TakeKept takes a kept run or span of n chunks that begins at a multiple of align bytes.
func (u *Universe) TakeKept(n, align int, c Flags) (first ChunkIndex, ok bool) {
	if !u.kept.some.Load() {
		return 0, false
	}
	ways := u.kept.of(n)
	for i := range ways {
		word := ways[i].Load()
		first, have := keptIn(word)
		if have != n || u.aligned(int(first), align) != int(first) || !ways[i].CompareAndSwap(word, 0) {
			continue
		}
		switch {
		case c&ZeroedRun != 0:
			clear(u.Memory(first, n))
		case debug.On:
			debug.Poison(u.Memory(first, n), debug.Fresh)
		}
		return first, true
	}
	return 0, false
}

// Keep frees a run or span of n chunks from first on, which the caller owns, and keeps it. In place
// of it one of that length, or of a length with the same remainder, may be released.
func (u *Universe) Keep(first ChunkIndex, n int) {
	if debug.On {
		debug.Poison(u.Memory(first, n), debug.Freed)
	}
	if u.Refusal != nil {
		u.release(keptWord(first, n))
		return
	}
	ways := u.kept.of(n)
	// Loads come first, so that a line which others read is not written for nothing.
	if ways[0].Load() != 0 && ways[1].Load() == 0 && ways[1].CompareAndSwap(0, keptWord(first, n)) {
		u.keptSome()
		return
	}
	old := ways[0].Swap(keptWord(first, n))
	u.keptSome()
	u.release(old)
}

// keptSome notes that something is kept. It follows the store of what is, as in the handshake of
// universe.go: releaseKept clears the note first.
func (u *Universe) keptSome() {
	if !u.kept.some.Load() {
		u.kept.some.Store(true)
	}
}

// release frees what a word has kept, if anything. The caller has taken the word away.
func (u *Universe) release(word uint64) {
	if first, n := keptIn(word); n > 0 && !u.DropSpan(first, n) {
		u.badFree(first, n)
	}
}

// releaseKept frees all that is kept, and reports whether there was anything. u.mu is not held.
func (u *Universe) releaseKept() (some bool) {
	if !u.kept.some.Load() {
		return false
	}
	u.kept.mu.Lock()
	defer u.kept.mu.Unlock()
	return u.releaseAll()
}

// tryReleaseKept is releaseKept, unless that is under way: it is what a purge calls, and freeing
// may purge.
func (u *Universe) tryReleaseKept() {
	if u.kept.some.Load() && u.kept.mu.TryLock() {
		defer u.kept.mu.Unlock()
		u.releaseAll()
	}
}

// releaseAll is releaseKept with kept.mu held.
func (u *Universe) releaseAll() (some bool) {
	u.kept.some.Store(false)
	for i := range u.kept.ways {
		for j := range u.kept.ways[i] {
			if u.kept.ways[i][j].Load() != 0 {
				word := u.kept.ways[i][j].Swap(0)
				some = some || word != 0
				u.release(word)
			}
		}
	}
	return some
}

// keeps reports whether chunk c is kept.
//
//go:noinline
func (u *Universe) keeps(c ChunkIndex) bool {
	for i := range u.kept.ways {
		for j := range u.kept.ways[i] {
			if first, n := keptIn(u.kept.ways[i][j].Load()); c >= first && int(c-first) < n {
				return true
			}
		}
	}
	return false
}

// verifyKept checks I11.
func (u *Universe) verifyKept() error {
	var all []uint64
	for i := range u.kept.ways {
		for j := range u.kept.ways[i] {
			word := u.kept.ways[i][j].Load()
			first, n := keptIn(word)
			if word == 0 {
				continue
			}
			if u.kept.of(n) != &u.kept.ways[i] || !u.kept.some.Load() {
				return fmt.Errorf("alloc: I11: %d chunks from %d on are kept at %d, some is %v",
					n, first, i, u.kept.some.Load())
			}
			all = append(all, word)
		}
	}
	slices.SortFunc(all, func(a, b uint64) int { return cmp.Compare(uint32(a), uint32(b)) })
	end := ChunkIndex(0)
	for _, word := range all {
		first, n := keptIn(word)
		for c := first; c < first+ChunkIndex(n); c++ {
			if c < end || !u.Index.InUse(int(c)) {
				return fmt.Errorf("alloc: I11: chunk %d of %d from %d on is kept, in use %v, kept up to %d before",
					c, n, first, u.Index.InUse(int(c)), end)
			}
		}
		end = first + ChunkIndex(n)
	}
	return nil
}
