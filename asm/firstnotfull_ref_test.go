package asm

// FirstNotFullRef is the obvious twin of FirstNotFull: bit by bit, no tricks.
// Tests and fuzzers compare against it.
func FirstNotFullRef(words []uint64) int {
	for i, w := range words {
		for bit := range 64 {
			if w>>bit&1 == 0 {
				return i
			}
		}
	}
	return -1
}
