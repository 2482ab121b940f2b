package asm

// CompactRef is the obvious twin of Compact: row by row. Tests and fuzzers
// compare against it.
func CompactRef[T any](dst, src []T, mask []uint64) int {
	n := 0
	for i := range src {
		if mask[i/64]>>(i%64)&1 == 1 {
			dst[n] = src[i]
			n++
		}
	}
	return n
}
