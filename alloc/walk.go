package alloc

import (
	"fmt"
	"iter"
	"math/bits"
	"strings"

	"quarry/bitmask"
	"quarry/mmap"
)

// Runs walks all chunks in use, as runs of contiguous chunks of one megachunk in
// rising order: what separate calls handed out side by side is one run. Other
// goroutines may allocate and free meanwhile; each megachunk is seen at one
// instant.
func (u *Universe) Runs() iter.Seq2[ChunkIndex, int] {
	return func(yield func(ChunkIndex, int) bool) {
		for m := range u.index.Words() {
			for used := u.index.Word(m).Load(); used != 0; {
				at := bits.TrailingZeros64(used)
				n := bits.TrailingZeros64(^(used >> at))
				if !yield(ChunkIndex(m*ChunksPerMegachunk+at), n) {
					return
				}
				used &^= bitmask.Mask(at, n)
			}
		}
	}
}

// Occupancy draws the universe: a character a megachunk, 64 in a line, lines
// without memory left out.
//
//	.  no memory    -  memory, nothing in use    1 .. 9  tenths in use, rounded up but to 9    #  full
func (u *Universe) Occupancy() string {
	var b strings.Builder
	committed := 0
	for g := range u.ready {
		committed += int(u.ready[g].Load())
	}
	fmt.Fprintf(&b, "%d of %d chunks in use, %d of %d MiB committed\n", u.index.Count(), u.index.Words()*ChunksPerMegachunk,
		committed*mmap.Granule>>20, u.Size()>>20)
	for from := 0; from < u.index.Words(); from += 64 {
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

// mark is the character of megachunk m.
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
