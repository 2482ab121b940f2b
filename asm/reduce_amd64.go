//go:build !purego && !race

package asm

// Each of the kernels brings x[i], and y[i] for dot, into acc[i%lanes] for i in
// [0, len(x)), in the order of i, as lanesGo does. y is at least as long as x.

//go:noescape
func sumAVX2F32(acc *[lanes]float32, x, y []float32)

//go:noescape
func sumAVX2F64(acc *[lanes]float64, x, y []float64)

//go:noescape
func sumAVX512F32(acc *[lanes]float32, x, y []float32)

//go:noescape
func sumAVX512F64(acc *[lanes]float64, x, y []float64)

//go:noescape
func dotAVX2F32(acc *[lanes]float32, x, y []float32)

//go:noescape
func dotAVX2F64(acc *[lanes]float64, x, y []float64)

//go:noescape
func dotAVX512F32(acc *[lanes]float32, x, y []float32)

//go:noescape
func dotAVX512F64(acc *[lanes]float64, x, y []float64)

//go:noescape
func minAVX2F32(acc *[lanes]float32, x, y []float32)

//go:noescape
func minAVX2F64(acc *[lanes]float64, x, y []float64)

//go:noescape
func minAVX512F32(acc *[lanes]float32, x, y []float32)

//go:noescape
func minAVX512F64(acc *[lanes]float64, x, y []float64)

//go:noescape
func maxAVX2F32(acc *[lanes]float32, x, y []float32)

//go:noescape
func maxAVX2F64(acc *[lanes]float64, x, y []float64)

//go:noescape
func maxAVX512F32(acc *[lanes]float32, x, y []float32)

//go:noescape
func maxAVX512F64(acc *[lanes]float64, x, y []float64)

// lanesAVX2F32 calls the kernel of op. It needs level AVX2.
func lanesAVX2F32(op laneOp, acc *[lanes]float32, x, y []float32) {
	switch op {
	case opSum:
		sumAVX2F32(acc, x, y)
	case opDot:
		dotAVX2F32(acc, x, y)
	case opMin:
		minAVX2F32(acc, x, y)
	case opMax:
		maxAVX2F32(acc, x, y)
	}
}

// lanesAVX2F64 calls the kernel of op. It needs level AVX2.
func lanesAVX2F64(op laneOp, acc *[lanes]float64, x, y []float64) {
	switch op {
	case opSum:
		sumAVX2F64(acc, x, y)
	case opDot:
		dotAVX2F64(acc, x, y)
	case opMin:
		minAVX2F64(acc, x, y)
	case opMax:
		maxAVX2F64(acc, x, y)
	}
}

// lanesAVX512F32 calls the kernel of op. It needs level AVX512.
func lanesAVX512F32(op laneOp, acc *[lanes]float32, x, y []float32) {
	switch op {
	case opSum:
		sumAVX512F32(acc, x, y)
	case opDot:
		dotAVX512F32(acc, x, y)
	case opMin:
		minAVX512F32(acc, x, y)
	case opMax:
		maxAVX512F32(acc, x, y)
	}
}

// lanesAVX512F64 calls the kernel of op. It needs level AVX512.
func lanesAVX512F64(op laneOp, acc *[lanes]float64, x, y []float64) {
	switch op {
	case opSum:
		sumAVX512F64(acc, x, y)
	case opDot:
		dotAVX512F64(acc, x, y)
	case opMin:
		minAVX512F64(acc, x, y)
	case opMax:
		maxAVX512F64(acc, x, y)
	}
}
