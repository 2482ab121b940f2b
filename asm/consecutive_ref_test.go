package asm

// ConsecutiveRef is the obvious twin of Consecutive. Tests compare against it.
func ConsecutiveRef(dst [][2]uint32, first, version uint32) {
	for i := range dst {
		dst[i][0] = first + uint32(i)
		dst[i][1] = version
	}
}
