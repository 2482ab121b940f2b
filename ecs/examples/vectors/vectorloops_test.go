//go:build goexperiment.simd && amd64

package vectors

import (
	"simd/archsimd"

	"quarry/layout"
)

// MoveVectors is Move with vectors of four float64. It needs AVX; CanMove says whether the CPU has
// it.
func MoveVectors(p []Place, v []Speed) {
	d, s := layout.Flat[float64](p), layout.Flat[float64](v[:len(p)])
	for len(d) >= 4 && len(s) >= 4 {
		at := (*[4]float64)(d)
		archsimd.LoadFloat64x4(at).Add(archsimd.LoadFloat64x4((*[4]float64)(s))).Store(at)
		d, s = d[4:], s[4:]
	}
	archsimd.ClearAVXUpperBits() // plain Go that follows would stall on some CPUs
	for i := range d {
		d[i] += s[i]
	}
}

// CanMove reports whether MoveVectors may be called.
func CanMove() bool { return archsimd.X86.AVX() }
