package asm

// consecutiveGo is the portable code: four ids at a time through an array
// pointer, so that the body has no bounds checks.
func consecutiveGo(dst [][2]uint32, first, version uint32) {
	for len(dst) >= 4 {
		d := (*[4][2]uint32)(dst)
		d[0] = [2]uint32{first, version}
		d[1] = [2]uint32{first + 1, version}
		d[2] = [2]uint32{first + 2, version}
		d[3] = [2]uint32{first + 3, version}
		dst, first = dst[4:], first+4
	}
	for i := range dst {
		dst[i] = [2]uint32{first + uint32(i), version}
	}
}
