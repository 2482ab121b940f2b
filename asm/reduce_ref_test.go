package asm

import "math"

// The obvious twins of the reductions. Lane i%32 accumulates element i, in the order of i; then the
// upper half of the lanes is folded into the lower, five times. Tests and fuzzers compare against
// them.

// SumRef is the twin of Sum.
func SumRef[F Float](x []F) F {
	var acc [lanes]F
	for i, v := range x {
		acc[i%lanes] = acc[i%lanes] + v
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			acc[i] = acc[i] + acc[i+half]
		}
	}
	return acc[0]
}

// DotRef is the twin of Dot.
func DotRef[F Float](x, y []F) F {
	products := make([]F, len(x))
	for i := range x {
		products[i] = x[i] * y[i]
	}
	return SumRef(products)
}

// MinRef is the twin of Min.
func MinRef[F Float](x []F) F {
	least := F(math.Inf(1))
	for _, v := range x {
		least = lesser(least, v)
	}
	return least
}

// MaxRef is the twin of Max.
func MaxRef[F Float](x []F) F {
	least := F(math.Inf(1))
	for _, v := range x {
		least = lesser(least, -v)
	}
	return -least
}
