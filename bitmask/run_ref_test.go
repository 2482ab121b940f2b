package bitmask

// Slow twins: one bit at a time, so that they are obviously correct.

// FindRunRef is the twin of FindRun.
func FindRunRef(w uint64, n int) (offset int, ok bool) {
	if n < 1 || n > WordBits {
		badCount("FindRun", n)
	}
	for offset = 0; offset+n <= WordBits; offset++ {
		free := 0
		for free < n && w>>uint(offset+free)&1 == 0 {
			free++
		}
		if free == n {
			return offset, true
		}
	}
	return WordBits, false
}

// FindAlignedRef is the twin of FindAligned.
func FindAlignedRef(w uint64, n int) (offset int, ok bool) {
	if n < 1 || n > WordBits || WordBits%n != 0 {
		badAligned("FindAligned", n)
	}
	for offset = 0; offset < WordBits; offset += n {
		if w&MaskRef(offset, n) == 0 {
			return offset, true
		}
	}
	return WordBits, false
}

// LongestRunRef is the twin of LongestRun.
func LongestRunRef(w uint64) (offset, n int) {
	for at := 0; at < WordBits; at++ {
		free := 0
		for at+free < WordBits && w>>uint(at+free)&1 == 0 {
			free++
		}
		if free > n {
			offset, n = at, free
		}
	}
	return offset, n
}

// MaskRef is the twin of Mask.
func MaskRef(offset, n int) uint64 {
	if offset < 0 || n < 1 || offset > WordBits-n {
		badRun("Mask", offset, n)
	}
	var m uint64
	for i := offset; i < offset+n; i++ {
		m |= 1 << uint(i)
	}
	return m
}
