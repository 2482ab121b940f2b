package asm

import "math/bits"

// compactGo is the portable code. It handles one word of the mask at a time: it skips empty words,
// copies full ones as a block, and handles the others by their set bits.
func compactGo[T any](dst, src []T, mask []uint64) int {
	n := 0
	for base := 0; base < len(src); base += 64 {
		w := mask[base/64]
		rows := src[base:]
		if len(rows) < 64 {
			w &= 1<<len(rows) - 1
		} else if w == full {
			n += copy(dst[n:], rows[:64])
			continue
		}
		for ; w != 0; w &= w - 1 {
			dst[n] = rows[bits.TrailingZeros64(w)]
			n++
		}
	}
	return n
}
