//go:build goexperiment.simd && go1.27

package vectors

import (
	"simd"

	"quarry/layout"
)

// MoveVectors is Move with vectors of the length that the CPU has.
func MoveVectors(p []Place, v []Speed) {
	d, s := layout.Flat[float64](p), layout.Flat[float64](v[:len(p)])
	n := simd.Float64s{}.Len()
	for len(d) >= n && len(s) >= n {
		simd.LoadFloat64s(d).Add(simd.LoadFloat64s(s)).Store(d)
		d, s = d[n:], s[n:]
	}
	x, _ := simd.LoadFloat64sPart(d)
	y, _ := simd.LoadFloat64sPart(s)
	x.Add(y).StorePart(d)
}

// DecayVectors is Decay with vectors of the length that the CPU has.
func DecayVectors(energy, cost []float64) {
	d, s, k := energy, cost[:len(energy)], simd.BroadcastFloat64s(kept)
	zero := simd.Float64s{}
	n := zero.Len()
	for len(d) >= n && len(s) >= n {
		simd.LoadFloat64s(d).Mul(k).Sub(simd.LoadFloat64s(s)).Max(zero).Store(d)
		d, s = d[n:], s[n:]
	}
	x, _ := simd.LoadFloat64sPart(d)
	y, _ := simd.LoadFloat64sPart(s)
	x.Mul(k).Sub(y).Max(zero).StorePart(d)
}

// CanMove reports whether MoveVectors and DecayVectors may be called: package simd computes without
// vectors where the CPU has none.
func CanMove() bool { return true }
