package asm

import "encoding/binary"

// notEqualGo is the portable code. Of eight bytes that differ somewhere, the bits of each byte are
// gathered in its lowest one, and these eight bits by a multiplication in the highest byte.
func notEqualGo(dst []uint64, x, y []byte) (any bool) {
	y = y[:len(x)]
	for len(x) >= 64 {
		mask := uint64(0)
		for i := 0; i < 64; i += 8 {
			if d := binary.LittleEndian.Uint64(x[i:i+8]) ^ binary.LittleEndian.Uint64(y[i:i+8]); d != 0 {
				d |= d >> 4
				d |= d >> 2
				d |= d >> 1
				mask |= (d & 0x0101010101010101 * 0x0102040810204080) >> 56 << i
			}
		}
		dst[0] = mask
		any = any || mask != 0
		dst, x, y = dst[1:], x[64:], y[64:]
	}
	if len(x) == 0 {
		return any
	}
	mask := uint64(0)
	for i := range x {
		if x[i] != y[i] {
			mask |= 1 << i
		}
	}
	dst[0] = mask
	return any || mask != 0
}
