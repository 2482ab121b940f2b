package alloc

import (
	"fmt"
	"math/bits"
	"strings"

	"quarry/bitmask"
	"quarry/mmap"
)

// Stats describes a universe. Sizes are in bytes.
type Stats struct {
	Reserved   int    // bytes of address space
	Committed  int    // bytes of memory promised by the system: granules of 2 MiB, less free chunks that were given back
	Live       int    // bytes of chunks in use
	LiveChunks int    // number of chunks in use
	Extents    int    // bytes that extents hold outside the chunks, in reservations of their own
	LongestRun int    // longest run of free chunks inside one megachunk, in chunks
	FreeRuns   [7]int // maximal free runs, by length: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 chunks
}

// Stats returns the statistics of the universe. It reads the masks of the memory that was ever in
// use: about 40 us for 16 GiB with little fragmented free space. While other goroutines allocate,
// the figures are of no single instant.
func (u *Universe) Stats() Stats {
	s := Stats{Reserved: u.Size(), Committed: u.committed(), LiveChunks: u.used(), Extents: int(u.extents.Load())}
	s.Live = s.LiveChunks * ChunkSize
	reached := 2 * u.reached()
	if blank := u.index.Words() - reached; blank > 0 {
		s.LongestRun, s.FreeRuns[6] = ChunksPerMegachunk, blank
	}
	for m := range reached {
		for used := u.index.Word(m).Load(); used != ^uint64(0); {
			at, n := bitmask.LongestRun(used)
			s.LongestRun = max(s.LongestRun, n)
			s.FreeRuns[bits.Len8(uint8(n))-1]++
			used |= bitmask.Mask(at, n)
		}
	}
	return s
}

func (u *Universe) committed() int {
	n := 0
	for g := range u.reached() {
		if u.ready[g].Load() != 0 {
			n += mmap.Granule - u.goneBytes(g)
		}
	}
	return n
}

// Resident returns how many bytes of committed memory the system has backed with pages, which is
// what was touched; a huge page counts whole. It asks the system, which takes about 2 us for each 2
// MiB committed. An error wraps mmap.ErrUnsupported on systems that do not report this (all but
// Linux).
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

// Occupancy draws the universe, one character per megachunk and 64 characters per line. It omits
// lines in which nothing is committed.
//
//	.  no memory    -  memory, nothing in use    1 .. 9  tenths in use, rounded up but to 9    #  full
func (u *Universe) Occupancy() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d chunks in use, %d of %d MiB committed\n", u.used(), u.index.Words()*ChunksPerMegachunk,
		u.committed()>>20, u.Size()>>20)
	for from := 0; from < 2*u.reached(); from += 64 {
		line := make([]byte, 0, 64)
		for m := from; m < min(from+64, u.index.Words()); m++ {
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
	switch used := bits.OnesCount64(u.index.Word(m).Load()); {
	case used == ChunksPerMegachunk:
		return '#'
	case used > 0:
		return byte('0' + min(9, (used*10+ChunksPerMegachunk-1)/ChunksPerMegachunk))
	case u.ready[m/2].Load() != 0:
		return '-'
	}
	return '.'
}
