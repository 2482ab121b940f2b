package orbits

import "math"

// The slow, obviously right twins. They share no step with the fast forms: they solve the equations
// by halving an interval, and rotate the place about three axes one by one.

// SolveSlow is Solve by bisection: about 60 halvings, 1 microsecond.
func SolveSlow(m, e float64) float64 {
	m = math.Remainder(m, twoPi)
	root := bisect(math.Abs(m), math.Pi, func(x float64) float64 { return x - e*math.Sin(x) })
	return math.Copysign(root, m)
}

// SolveHyperbolicSlow is SolveHyperbolic by bisection. The root is below
// asinh((m+c)/e) for any c above the root, of which 1 + m/(e-1) is one.
func SolveHyperbolicSlow(m, e float64) float64 {
	top := 1 + math.Abs(m)/(e-1)
	root := bisect(math.Abs(m), min(top, 700), func(x float64) float64 { return e*math.Sinh(x) - x })
	return math.Copysign(root, m)
}

// bisect finds where the rising function f reaches y in [0, hi], to the last bit.
func bisect(y, hi float64, f func(float64) float64) float64 {
	lo := 0.0
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if f(mid) < y {
			lo = mid
		} else {
			hi = mid
		}
	}
	if y-f(lo) <= f(hi)-y {
		return lo
	}
	return hi
}

// AtSlow is At by way of the true anomaly and three rotations.
func (el Elements) AtSlow(jd float64) Position {
	m := el.M + el.N*(jd-el.Epoch)
	var x, y float64 // in the plane of the orbit, x towards perihelion
	if el.E < 1 {
		e := SolveSlow(m, el.E)
		x = el.A * (math.Cos(e) - el.E)
		y = el.A * math.Sqrt(1-el.E*el.E) * math.Sin(e)
	} else {
		f := SolveHyperbolicSlow(m, el.E)
		x = -el.A * (el.E - math.Cosh(f))
		y = -el.A * math.Sqrt(el.E*el.E-1) * math.Sinh(f)
	}
	x, y = rotate(x, y, el.Peri)
	y, z := rotate(y, 0, el.I)
	x, y = rotate(x, y, el.Node)
	return Position{x, y, z}
}

// rotate turns a vector of the plane by an angle, counterclockwise.
func rotate(x, y, angle float64) (float64, float64) {
	s, c := math.Sin(angle), math.Cos(angle)
	return x*c - y*s, x*s + y*c
}
