package asm

// FindRun512Ref is the obvious twin of FindRun512: every offset, bit by bit.
// Tests and fuzzers compare against it.
func FindRun512Ref(words *[8]uint64, n int) int {
	for offset := 0; offset+n <= 512; offset++ {
		zeros := 0
		for zeros < n && words[(offset+zeros)/64]>>((offset+zeros)%64)&1 == 0 {
			zeros++
		}
		if zeros == n {
			return offset
		}
	}
	return -1
}
