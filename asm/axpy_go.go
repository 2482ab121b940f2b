package asm

// The portable code handles four elements at a time through array pointers. This leaves one bounds
// check per slice and group in the loop condition and none in the body. The conversion around each
// product rounds it: without the conversion the compiler may fuse the product with the addition,
// and on arm64 it does.

func axpyGo32(dst []float32, a float32, x []float32) {
	for len(dst) >= 4 && len(x) >= 4 {
		d, v := (*[4]float32)(dst), (*[4]float32)(x)
		d[0] += float32(a * v[0])
		d[1] += float32(a * v[1])
		d[2] += float32(a * v[2])
		d[3] += float32(a * v[3])
		dst, x = dst[4:], x[4:]
	}
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] += float32(a * v)
	}
}

func axpyGo64(dst []float64, a float64, x []float64) {
	for len(dst) >= 4 && len(x) >= 4 {
		d, v := (*[4]float64)(dst), (*[4]float64)(x)
		d[0] += float64(a * v[0])
		d[1] += float64(a * v[1])
		d[2] += float64(a * v[2])
		d[3] += float64(a * v[3])
		dst, x = dst[4:], x[4:]
	}
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] += float64(a * v)
	}
}
