package asm

// The portable code handles four elements at a time through array pointers, which leaves the body
// without bounds checks. The conversion around a product rounds it: without the conversion the
// compiler may fuse the product with the addition, and on arm64 it does.

func columnGo[F Float](op columnOp, dst, x, y []F, a F) {
	switch op {
	case opAdd:
		addGo(dst, x)
	case opScale:
		scaleGo(dst, a)
	case opMulAdd:
		mulAddGo(dst, x, y)
	case opMinimum:
		minimumGo(dst, x)
	case opMaximum:
		maximumGo(dst, x)
	}
}

func addGo[F Float](dst, x []F) {
	for len(dst) >= 4 && len(x) >= 4 {
		d, v := (*[4]F)(dst), (*[4]F)(x)
		d[0] += v[0]
		d[1] += v[1]
		d[2] += v[2]
		d[3] += v[3]
		dst, x = dst[4:], x[4:]
	}
	for i, v := range x[:len(dst)] {
		dst[i] += v
	}
}

func scaleGo[F Float](dst []F, a F) {
	for len(dst) >= 4 {
		d := (*[4]F)(dst)
		d[0] *= a
		d[1] *= a
		d[2] *= a
		d[3] *= a
		dst = dst[4:]
	}
	for i := range dst {
		dst[i] *= a
	}
}

func mulAddGo[F Float](dst, x, y []F) {
	for len(dst) >= 4 && len(x) >= 4 && len(y) >= 4 {
		d, v, w := (*[4]F)(dst), (*[4]F)(x), (*[4]F)(y)
		d[0] += F(v[0] * w[0])
		d[1] += F(v[1] * w[1])
		d[2] += F(v[2] * w[2])
		d[3] += F(v[3] * w[3])
		dst, x, y = dst[4:], x[4:], y[4:]
	}
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] += F(x[i] * y[i])
	}
}

func minimumGo[F Float](dst, x []F) {
	for i, v := range x[:len(dst)] {
		dst[i] = min(dst[i], v)
	}
}

func maximumGo[F Float](dst, x []F) {
	for i, v := range x[:len(dst)] {
		dst[i] = max(dst[i], v)
	}
}
