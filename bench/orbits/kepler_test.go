package orbits_test

import (
	"math"
	"testing"

	"quarry/bench/orbits"
)

// eps is the distance from 1 to the next float64.
const eps = 0x1p-52

// eccentricities range from circles to the limit of ellipses.
var eccentricities = []float64{
	0, 1e-16, 1e-8, 0.001, 0.05, 0.1, 0.2, 0.3, 0.399, 0.4, 0.401, 0.5, 0.7, 0.8897, 0.95, 0.99, 0.999,
	0.99999, 0.9999999, 0.999999999999,
}

// anomalies are mean anomalies from 0 to pi, dense near both ends.
func anomalies() (ms []float64) {
	ms = append(ms, 0, math.Pi, math.Nextafter(math.Pi, 0))
	for m := 1e-300; m < 1; m *= 10 {
		ms = append(ms, m, math.Pi-m)
	}
	for i := range 500 {
		ms = append(ms, math.Pi*float64(i)/500)
	}
	return ms
}

var solvers = map[string]func(m, e float64) float64{"fast": orbits.Solve, "slow": orbits.SolveSlow}

// The equation itself: the residual is the rounding of its three terms.
func TestSolveResidual(t *testing.T) {
	for name, solve := range solvers {
		for _, e := range eccentricities {
			for _, m := range anomalies() {
				x := solve(m, e)
				left := math.Abs(x - e*math.Sin(x) - m)
				if !(left <= 4*eps*max(x, m)) || x < 0 || x > math.Pi {
					t.Errorf("%s(%g, %g): got %v, residual %.2g want at most %.2g",
						name, m, e, x, left, 4*eps*max(x, m))
				}
			}
		}
	}
}

// The fast solver against its twin: they differ by no more than the rounding that the slope of the
// equation magnifies.
func TestSolveTwins(t *testing.T) {
	for _, e := range eccentricities {
		for _, m := range anomalies() {
			got, want := orbits.Solve(m, e), orbits.SolveSlow(m, e)
			half := math.Sin(want / 2)
			slope := 1 - e + 2*e*half*half // 1 - e cos E without cancellation
			if !(math.Abs(got-want) <= 4*eps*want/slope) {
				t.Errorf("Solve(%g, %g): got %v want %v", m, e, got, want)
			}
			if down := orbits.Solve(-m, e); down != -got && m != math.Pi {
				t.Errorf("Solve(-%g, %g): got %v want %v", m, e, down, -got)
			}
		}
	}
}

// Whole turns do not change the result, up to their own rounding.
func TestSolveTurns(t *testing.T) {
	for _, turns := range []float64{-1000, -3, -1, 1, 2, 17, 1000} {
		for _, m := range []float64{-3, -1, 0.001, 0.5, 1, 2, 3} {
			for _, e := range []float64{0, 0.2, 0.6, 0.9} {
				got, want := orbits.Solve(m+turns*2*math.Pi, e), orbits.Solve(m, e)
				if !(math.Abs(got-want) <= 20*eps*(1+math.Abs(turns)*2*math.Pi)/(1-e)) {
					t.Errorf("Solve(%g turns + %g, %g): got %v want %v", turns, m, e, got, want)
				}
			}
		}
	}
}

func TestSolveHyperbolic(t *testing.T) {
	var ms []float64
	for m := 1e-12; m < 1e9; m *= 3 {
		ms = append(ms, m)
	}
	for name, solve := range map[string]func(m, e float64) float64{
		"fast": orbits.SolveHyperbolic, "slow": orbits.SolveHyperbolicSlow,
	} {
		for _, e := range []float64{1 + 1e-9, 1.000001, 1.001, 1.01, 1.1, 1.2011, 1.5, 2, 3.36, 10, 1000} {
			if got := solve(0, e); got != 0 {
				t.Errorf("%s(0, %g): got %v want 0", name, e, got)
			}
			for _, m := range ms {
				x := solve(m, e)
				left := math.Abs(e*math.Sinh(x) - x - m)
				// The slope multiplies a rounding of x itself.
				bound := 4 * eps * (x + m + x*(e*math.Cosh(x)-1))
				if !(left <= bound) {
					t.Errorf("%s(%g, %g): got %v, residual %.2g want at most %.2g", name, m, e, x, left, bound)
				}
				if got := solve(-m, e); got != -x {
					t.Errorf("%s(-%g, %g): got %v want %v", name, m, e, got, -x)
				}
			}
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	for name, solve := range solvers {
		b.Run("impl="+name, func(b *testing.B) {
			sum, m := 0.0, 0.0
			for b.Loop() {
				m += 0.7
				sum += solve(m, 0.15)
			}
			if math.IsNaN(sum) {
				b.Fatal("got NaN")
			}
		})
	}
}
