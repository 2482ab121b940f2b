package universe

import (
	"fmt"
	"math/bits"
	"strings"

	"quarry/bitmask"
	"quarry/mmap"
)

// Stats is Stats of package alloc.
type Stats struct {
	Reserved int // bytes of address space
	// Bytes of memory promised by the system: granules of 2 MiB, less free chunks that were given
	// back.
	Committed  int
	Live       int    // bytes of chunks in use
	LiveChunks int    // number of chunks in use
	Extents    int    // bytes that extents hold outside the chunks, in reservations of their own
	LongestRun int    // longest run of free chunks inside one megachunk, in chunks
	FreeRuns   [7]int // maximal free runs, by length: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 chunks
}

// Stats is Universe.Stats of package alloc.
func (u *Universe) Stats() Stats {
	u.releaseKept()
	s := Stats{Reserved: u.Size(), Committed: u.committed(), LiveChunks: u.used(), Extents: int(u.Extents.Load())}
	s.Live = s.LiveChunks * ChunkSize
	reached := 2 * u.reached()
	if blank := u.Index.Words() - reached; blank > 0 {
		s.LongestRun, s.FreeRuns[6] = ChunksPerMegachunk, blank
	}
	for m := range reached {
		for used := u.Index.Word(m).Load(); used != ^uint64(0); {
			at, n := bitmask.LongestRun(used)
			s.LongestRun = max(s.LongestRun, n)
			s.FreeRuns[bits.Len8(uint8(n))-1]++
			used |= bitmask.Mask(at, n)
		}
	}
	return s
}

// committed returns the bytes of ready granules. Under mu none is on its way to the system, and
// ready again where the system refuses it.
func (u *Universe) committed() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for g := range u.reached() {
		if u.ready[g].Load() != 0 {
			n += mmap.Granule - u.goneBytes(g)
		}
	}
	return n
}

// Resident is Universe.Resident of package alloc.
func (u *Universe) Resident() (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return 0, nil
	}
	n, err := u.pages.Resident()
	if err != nil {
		return 0, fmt.Errorf("alloc: Universe.Resident: %w", err)
	}
	return n, nil
}

// Occupancy is Universe.Occupancy of package alloc.
func (u *Universe) Occupancy() string {
	u.releaseKept()
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d chunks in use, %d of %d MiB committed\n", u.used(), u.Index.Words()*ChunksPerMegachunk,
		u.committed()>>20, u.Size()>>20)
	for from := 0; from < 2*u.reached(); from += 64 {
		line := make([]byte, 0, 64)
		for m := from; m < min(from+64, u.Index.Words()); m++ {
			line = append(line, u.mark(m))
		}
		if text := string(line); strings.Trim(text, ".") != "" {
			fmt.Fprintf(&b, "%6d %s\n", from, text)
		}
	}
	return b.String()
}

// mark returns the character of megachunk m.
func (u *Universe) mark(m int) byte {
	switch used := bits.OnesCount64(u.Index.Word(m).Load()); {
	case used == ChunksPerMegachunk:
		return '#'
	case used > 0:
		return byte('0' + min(9, (used*10+ChunksPerMegachunk-1)/ChunksPerMegachunk))
	case u.ready[m/2].Load() != 0:
		return '-'
	}
	return '.'
}
