//go:build goexperiment.simd && amd64 && !go1.27

package vectors

import (
	"simd/archsimd"

	"quarry/layout"
)

// MoveVectors is Move with vectors of four float64. It needs AVX; CanMove reports whether the CPU
// has it.
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

// DecayVectors is Decay with vectors of four float64. It needs AVX.
func DecayVectors(energy, cost []float64) {
	d, s, k := energy, cost[:len(energy)], archsimd.BroadcastFloat64x4(kept)
	for len(d) >= 4 && len(s) >= 4 {
		at := (*[4]float64)(d)
		left := archsimd.LoadFloat64x4(at).Mul(k).Sub(archsimd.LoadFloat64x4((*[4]float64)(s)))
		left.Max(archsimd.Float64x4{}).Store(at)
		d, s = d[4:], s[4:]
	}
	archsimd.ClearAVXUpperBits()
	Decay(d, s)
}

// CanMove reports whether MoveVectors and DecayVectors may be called.
func CanMove() bool { return archsimd.X86.AVX() }
