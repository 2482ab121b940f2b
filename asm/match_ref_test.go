package asm

// MatchRef is the obvious twin of Match: signature by signature, bit by bit.
// Tests and fuzzers compare against it.
func MatchRef(dst, table, has, lacks []uint64, width int) int {
	n, count := len(table)/width, 0
	clear(dst[:(n+63)/64])
	for i := range n {
		matches := true
		for bit := range 64 * width {
			in := func(set []uint64) bool { return set[bit/64]>>(bit%64)&1 == 1 }
			inSignature := in(table[i*width : (i+1)*width])
			if in(has) && !inSignature || in(lacks) && inSignature {
				matches = false
			}
		}
		if matches {
			dst[i/64] |= 1 << (i % 64)
			count++
		}
	}
	return count
}
