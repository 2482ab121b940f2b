package orbits

import "math"

// Kepler's equation, E - e sin E = M, has no closed solution. Both solvers here start near the root
// and take steps of fourth order (Danby and Burkardt, "The solution of Kepler's equation, I",
// Celestial Mechanics 31, 1983): once the relative step is at most 1e-5, the relative error after
// it is about 1e-20, below rounding. Most orbits of asteroids take two steps. The start is
//
//	e < 0.4   the series E = M + e sin M (1 + e cos M), wrong by e^3 at most
//	else      the root of the cubic that comes of sin E = E - E^3/6 (Mikkola,
//	          Celestial Mechanics 40, 1987, has the idea): right at the corner
//	          e -> 1, M -> 0, where Newton's method from E = M goes astray
//
// The root lies in [M, M+e] for 0 <= M <= pi, and no step leaves that.

const (
	lowEccentricity = 0.4
	closeEnough     = 1e-5 // relative step after which the solver has converged
	maxSteps        = 50   // never reached in the tests, which see 5 at most
)

// Solve returns the eccentric anomaly E in [-pi, pi] for mean anomaly m (rad, any) and eccentricity
// 0 <= e < 1, so that E - e sin E - m is 0 to rounding, up to whole turns. SolveSlow is its twin.
func Solve(m, e float64) float64 {
	m -= float64(twoPi * math.RoundToEven(m/twoPi))
	if m < 0 {
		return -solve(-m, e)
	}
	return solve(m, e)
}

// solve is Solve for 0 <= m <= pi.
func solve(m, e float64) float64 {
	if m == 0 || e == 0 {
		return m
	}
	lo, hi := m, min(m+e, math.Pi)
	x := 0.0
	if e < lowEccentricity {
		sin, cos := math.Sincos(m)
		x = m + e*sin*(1+e*cos)
	} else {
		x = cubic(6*(1-e)/e, 6*m/e)
	}
	x = min(max(x, lo), hi)
	for range maxSteps {
		sin, cos := math.Sincos(x)
		next := min(max(x+danby(x-e*sin-m, 1-e*cos, e*sin, e*cos), lo), hi)
		step := math.Abs(next - x)
		x = next
		if step <= closeEnough*x {
			break
		}
	}
	return x
}

// SolveHyperbolic returns F with e sinh F - F = m to rounding, for any m and e > 1.
// SolveHyperbolicSlow is its twin.
//
// The start is above the root: sinh F >= F + F^3/6 puts the root of the cubic
// above it, and F -> asinh((m+F)/e) then leads down towards it.
func SolveHyperbolic(m, e float64) float64 {
	if m == 0 {
		return 0
	}
	sign := math.Copysign(1, m)
	m = math.Abs(m)
	lo := math.Asinh(m / e)
	x := math.Asinh((m + cubic(6*(e-1)/e, 6*m/e)) / e)
	for range maxSteps {
		sinh, cosh := math.Sinh(x), math.Cosh(x)
		next := max(x+danby(e*sinh-x-m, e*cosh-1, e*sinh, e*cosh), lo)
		step := math.Abs(next - x)
		x = next
		if step <= closeEnough*x {
			break
		}
	}
	return sign * x
}

// danby is the step of fourth order to a root, from a function's value and its
// first three derivatives.
func danby(f, f1, f2, f3 float64) float64 {
	d := -f / f1
	d = -f / (f1 + d*f2/2)
	return -f / (f1 + d*(f2/2+d*f3/6))
}

// cubic returns the real root of x^3 + p x = q for p >= 0, q > 0, by Cardano's formula in the form
// that does not subtract: with w v = p/3 and w^3 - v^3 = q, w - v = q / (w^2 + w v + v^2).
func cubic(p, q float64) float64 {
	w := math.Cbrt(q/2 + math.Sqrt(q*q/4+p*p*p/27))
	v := p / (3 * w)
	return q / (w*w + p/3 + v*v)
}
