package asm

// The obvious twins of the column arithmetic: the result by definition, one
// element at a time. Tests and fuzzers compare against them.

// AddRef is the twin of Add.
func AddRef[F Float](dst, x []F) {
	for i := range dst {
		dst[i] = dst[i] + x[i]
	}
}

// ScaleRef is the twin of Scale.
func ScaleRef[F Float](dst []F, a F) {
	for i := range dst {
		dst[i] = dst[i] * a
	}
}

// MulAddRef is the twin of MulAdd.
func MulAddRef[F Float](dst, x, y []F) {
	for i := range dst {
		product := F(x[i] * y[i]) // the conversion rounds, so no compiler may fuse
		dst[i] = dst[i] + product
	}
}

// MinimumRef is the twin of Minimum.
func MinimumRef[F Float](dst, x []F) {
	for i := range dst {
		dst[i] = lesser(dst[i], x[i])
	}
}

// MaximumRef is the twin of Maximum.
func MaximumRef[F Float](dst, x []F) {
	for i := range dst {
		dst[i] = -lesser(-dst[i], -x[i])
	}
}

// lesser returns the lesser of a and b, case by case: NaN if either is NaN, and
// -0 before +0.
func lesser[F Float](a, b F) F {
	switch {
	case a != a:
		return a
	case b != b:
		return b
	case a == 0 && b == 0 && 1/a < 0:
		return a // -0
	case a < b:
		return a
	}
	return b
}
