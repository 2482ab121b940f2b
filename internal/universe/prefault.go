package universe

import (
	"fmt"
	"math/bits"

	"quarry/bitmask"
	"quarry/internal/universe/ledger"
	"quarry/internal/universe/mutant"
	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// Memory that is there before it is requested. The first touch of a huge page waits until the
// system has cleared 2 MiB; Prefault makes that wait its own.
//
//	granule      0                    1                2
//	chunks    |##|#|...gone.....|  |###|.........|  |..............|
//	Prefault        ^^^^^^^^^^^^^       ^^^^^^^^^    ^^^^^^^^^^^^^^     committed, and backed with pages
//
// It goes through the granules in the order in which empty ones are taken, and backs the free
// chunks of each, until it has as many as are wanted. Nothing is claimed meanwhile: others find all
// of the universe's room. Chunks that were given back are charged again first, while the granule is
// not ready, so that a claim of one of them waits (discard.go). A granule that shows a file is left
// alone, since its pages would become the process's own. A fine granule (fine.go) is backed and not
// counted while long runs avoid it, as they do without a budget.
//
// A free chunk that was backed is not dirty: it reads as zero (I4).

// Prefault is Universe.Prefault of package alloc.
func (u *Universe) Prefault(size int) error {
	if size < 0 {
		panic(fmt.Sprintf("alloc: Universe.Prefault: size=%d is negative", size))
	}
	if u.Index.Words() == 0 {
		panic("alloc: Universe.Prefault: the universe is closed")
	}
	if err := u.Refuse("Prefault"); err != nil {
		return err
	}
	if size > u.Size()-u.used()*ChunkSize {
		return fmt.Errorf("alloc: Universe.Prefault: %d bytes are to be ready, %d of %d bytes are in use: %w",
			size, u.used()*ChunkSize, u.Size(), sentinel.ErrFull)
	}
	for g, want := 0, ChunksFor(size); size > 0 && want > 0 && g < len(u.ready); g++ {
		if u.claimedIn(g) == chunksPerGranule {
			continue
		}
		n, err := u.prefaultGranule(g)
		if err != nil {
			return fmt.Errorf("alloc: Universe.Prefault: %d bytes are not ready: %w: %w",
				want*ChunkSize, sentinel.ErrCommit, err)
		}
		want -= n
	}
	return nil
}

// prefaultGranule commits granule g and backs its free chunks. It returns how many these are.
func (u *Universe) prefaultGranule(g int) (chunks int, err error) {
	if u.ready[g].Load() == 0 {
		// A charge that finds no room takes idle memory back, also what was made ready just now.
		if t := ledger.Process.Terms(); t != nil && ledger.Process.Used() > t.Most-mmap.Granule {
			return 0, fmt.Errorf("%d bytes more beside %d: %w", mmap.Granule, ledger.Process.Used(), sentinel.ErrBudget)
		}
		if err := u.commit(g); err != nil {
			return 0, err
		}
	}
	if chunks, err = u.backFree(g); u.isEmpty(g) {
		u.noteEmpty(g) // so that it goes back to the system like other empty memory
	}
	return chunks, err
}

// backFree backs the free chunks of granule g with pages, unless it was trimmed meanwhile or shows
// a file.
func (u *Universe) backFree(g int) (chunks int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed || u.ready[g].Load() == 0 || u.isFiled(g) {
		return 0, nil
	}
	if err := u.retake(g); err != nil {
		return 0, err
	}
	for m := 2 * g; m < 2*g+2; m++ {
		free := ^u.Index.Word(m).Load() &^ u.gone[m].Load()
		chunks += bits.OnesCount64(free)
		for free != 0 {
			at := bits.TrailingZeros64(free)
			n := bits.TrailingZeros64(^(free >> at))
			free &^= bitmask.Mask(at, n)
			if at, n = wholePages(at, n); n == 0 || !mmap.Real {
				continue // pages of the Go heap are there
			}
			if err := u.pages.Prefault((m*ChunksPerMegachunk+at)*ChunkSize, n*ChunkSize); err != nil {
				return 0, err
			}
		}
	}
	if u.fine.is(g) && ledger.Process.Terms() == nil {
		chunks = 0
	}
	return chunks, nil
}

// retake charges the free chunks of granule g that were given back, and purges nothing for them. It
// is the trimmer's side of the handshake in universe.go, as discardIn is. mu is held.
func (u *Universe) retake(g int) error {
	if u.goneBytes(g) == 0 {
		return nil
	}
	mutant.Pause()
	u.ready[g].Store(0)
	mutant.Pause()
	defer u.ready[g].Store(1)
	for m := 2 * g; m < 2*g+2; m++ {
		back := u.gone[m].Load() &^ u.Index.Word(m).Load()
		if back == 0 {
			continue
		}
		if !ledger.Process.ChargeHere(bits.OnesCount64(back) * ChunkSize) {
			return errRetaken
		}
		u.gone[m].And(^back)
	}
	return nil
}
