package asm

// The portable code handles four words at a time through array pointers, which leaves the body
// without bounds checks.

func andGo(dst, x, y []uint64) {
	for len(dst) >= 4 && len(x) >= 4 && len(y) >= 4 {
		d, v, w := (*[4]uint64)(dst), (*[4]uint64)(x), (*[4]uint64)(y)
		d[0], d[1], d[2], d[3] = v[0]&w[0], v[1]&w[1], v[2]&w[2], v[3]&w[3]
		dst, x, y = dst[4:], x[4:], y[4:]
	}
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] & y[i]
	}
}

func orGo(dst, x, y []uint64) {
	for len(dst) >= 4 && len(x) >= 4 && len(y) >= 4 {
		d, v, w := (*[4]uint64)(dst), (*[4]uint64)(x), (*[4]uint64)(y)
		d[0], d[1], d[2], d[3] = v[0]|w[0], v[1]|w[1], v[2]|w[2], v[3]|w[3]
		dst, x, y = dst[4:], x[4:], y[4:]
	}
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] | y[i]
	}
}

func andNotGo(dst, x, y []uint64) {
	for len(dst) >= 4 && len(x) >= 4 && len(y) >= 4 {
		d, v, w := (*[4]uint64)(dst), (*[4]uint64)(x), (*[4]uint64)(y)
		d[0], d[1], d[2], d[3] = v[0]&^w[0], v[1]&^w[1], v[2]&^w[2], v[3]&^w[3]
		dst, x, y = dst[4:], x[4:], y[4:]
	}
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] &^ y[i]
	}
}
