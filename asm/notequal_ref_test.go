package asm

// NotEqualRef is the obvious twin of NotEqual: byte by byte.
func NotEqualRef(dst []uint64, x, y []byte) (any bool) {
	clear(dst[:(len(x)+63)/64])
	for i := range x {
		if x[i] != y[i] {
			dst[i/64] |= 1 << (i % 64)
			any = true
		}
	}
	return any
}
