package asm

// PopCountRef is the obvious twin of PopCount: bit by bit, no tricks. Tests and
// fuzzers compare against it.
func PopCountRef(words []uint64) int {
	n := 0
	for _, w := range words {
		for bit := range 64 {
			n += int(w >> bit & 1)
		}
	}
	return n
}
