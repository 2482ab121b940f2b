package asm

// lanesGo is the portable code. It handles 32 elements at a time through array pointers, which
// leaves the body without bounds checks, in 32 sums, none of which waits for the previous one.
func lanesGo[F Float](op laneOp, acc *[lanes]F, x, y []F) {
	for ; len(x) >= lanes && len(y) >= lanes; x, y = x[lanes:], y[lanes:] {
		lanesStep(op, acc, (*[lanes]F)(x)[:], (*[lanes]F)(y)[:])
	}
	lanesStep(op, acc, x, y)
}

// lanesStep accumulates len(x) <= lanes elements into acc.
func lanesStep[F Float](op laneOp, acc *[lanes]F, x, y []F) {
	a := acc[:len(x)]
	y = y[:len(x)]
	switch op {
	case opSum:
		for i, v := range x {
			a[i] += v
		}
	case opDot:
		for i, v := range x {
			a[i] += F(v * y[i]) // the conversion rounds, so no compiler may fuse
		}
	case opMin:
		for i, v := range x {
			a[i] = min(a[i], v)
		}
	case opMax:
		for i, v := range x {
			a[i] = min(a[i], -v)
		}
	}
}
