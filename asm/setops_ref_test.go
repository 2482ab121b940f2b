package asm

// AndRef is the obvious twin of And: bit by bit. Tests and fuzzers compare against it.
func AndRef(dst, x, y []uint64) {
	for i := range dst {
		var w uint64
		for bit := range 64 {
			inX, inY := x[i]>>bit&1 == 1, y[i]>>bit&1 == 1
			if inX && inY {
				w |= 1 << bit
			}
		}
		dst[i] = w
	}
}

// OrRef is the obvious twin of Or: bit by bit. Tests and fuzzers compare against it.
func OrRef(dst, x, y []uint64) {
	for i := range dst {
		var w uint64
		for bit := range 64 {
			inX, inY := x[i]>>bit&1 == 1, y[i]>>bit&1 == 1
			if inX || inY {
				w |= 1 << bit
			}
		}
		dst[i] = w
	}
}

// AndNotRef is the obvious twin of AndNot: bit by bit. Tests and fuzzers compare against it.
func AndNotRef(dst, x, y []uint64) {
	for i := range dst {
		var w uint64
		for bit := range 64 {
			inX, inY := x[i]>>bit&1 == 1, y[i]>>bit&1 == 1
			if inX && !inY {
				w |= 1 << bit
			}
		}
		dst[i] = w
	}
}
