package asm

// AxpyRef is the obvious twin of Axpy: the result by definition, one element
// at a time. Tests and fuzzers compare against it. len(x) >= len(dst).
func AxpyRef[F Float](dst []F, a F, x []F) {
	for i := range dst {
		product := F(a * x[i]) // the conversion rounds, so no compiler may fuse
		dst[i] = dst[i] + product
	}
}
