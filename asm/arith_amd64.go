//go:build !purego && !race

package asm

// Each of the kernels changes dst[i] for i in [0, len(dst)) as its reference
// does, and touches nothing else. The other slices are at least as long; all of
// any length.

//go:noescape
func addAVX2F32(dst, x []float32)

//go:noescape
func addAVX2F64(dst, x []float64)

//go:noescape
func addAVX512F32(dst, x []float32)

//go:noescape
func addAVX512F64(dst, x []float64)

//go:noescape
func scaleAVX2F32(dst []float32, a float32)

//go:noescape
func scaleAVX2F64(dst []float64, a float64)

//go:noescape
func scaleAVX512F32(dst []float32, a float32)

//go:noescape
func scaleAVX512F64(dst []float64, a float64)

//go:noescape
func mulAddAVX2F32(dst, x, y []float32)

//go:noescape
func mulAddAVX2F64(dst, x, y []float64)

//go:noescape
func mulAddAVX512F32(dst, x, y []float32)

//go:noescape
func mulAddAVX512F64(dst, x, y []float64)

//go:noescape
func minimumAVX2F32(dst, x []float32)

//go:noescape
func minimumAVX2F64(dst, x []float64)

//go:noescape
func minimumAVX512F32(dst, x []float32)

//go:noescape
func minimumAVX512F64(dst, x []float64)

//go:noescape
func maximumAVX2F32(dst, x []float32)

//go:noescape
func maximumAVX2F64(dst, x []float64)

//go:noescape
func maximumAVX512F32(dst, x []float32)

//go:noescape
func maximumAVX512F64(dst, x []float64)

// columnAVX2F32 calls the kernel of op. It needs level AVX2.
func columnAVX2F32(op columnOp, dst, x, y []float32, a float32) {
	switch op {
	case opAdd:
		addAVX2F32(dst, x)
	case opScale:
		scaleAVX2F32(dst, a)
	case opMulAdd:
		mulAddAVX2F32(dst, x, y)
	case opMinimum:
		minimumAVX2F32(dst, x)
	case opMaximum:
		maximumAVX2F32(dst, x)
	}
}

// columnAVX2F64 calls the kernel of op. It needs level AVX2.
func columnAVX2F64(op columnOp, dst, x, y []float64, a float64) {
	switch op {
	case opAdd:
		addAVX2F64(dst, x)
	case opScale:
		scaleAVX2F64(dst, a)
	case opMulAdd:
		mulAddAVX2F64(dst, x, y)
	case opMinimum:
		minimumAVX2F64(dst, x)
	case opMaximum:
		maximumAVX2F64(dst, x)
	}
}

// columnAVX512F32 calls the kernel of op. It needs level AVX512.
func columnAVX512F32(op columnOp, dst, x, y []float32, a float32) {
	switch op {
	case opAdd:
		addAVX512F32(dst, x)
	case opScale:
		scaleAVX512F32(dst, a)
	case opMulAdd:
		mulAddAVX512F32(dst, x, y)
	case opMinimum:
		minimumAVX512F32(dst, x)
	case opMaximum:
		maximumAVX512F32(dst, x)
	}
}

// columnAVX512F64 calls the kernel of op. It needs level AVX512.
func columnAVX512F64(op columnOp, dst, x, y []float64, a float64) {
	switch op {
	case opAdd:
		addAVX512F64(dst, x)
	case opScale:
		scaleAVX512F64(dst, a)
	case opMulAdd:
		mulAddAVX512F64(dst, x, y)
	case opMinimum:
		minimumAVX512F64(dst, x)
	case opMaximum:
		maximumAVX512F64(dst, x)
	}
}
