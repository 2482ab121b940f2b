package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRounded(t *testing.T) {
	for _, c := range []struct{ v, down, up float64 }{
		{1, 1, 1}, {1.1, 1, 2}, {0.61, 0.5, 1}, {16_000, 10_000, 20_000}, {999, 500, 1000}, {5, 5, 5}, {0.3 / 0.1, 2, 5},
	} {
		require.InEpsilon(t, c.down, rounded(c.v, false), 1e-9, "%g", c.v)
		require.InEpsilon(t, c.up, rounded(c.v, true), 1e-9, "%g", c.v)
	}
}

// TestLogAxis tries ranges of every size: the axis covers its range, and has some labels but never
// more than fit.
func TestLogAxis(t *testing.T) {
	for lo := -280.0; lo < 280; lo += 7.3 {
		for _, span := range []float64{0, 0.001, 0.3, 1, 2, 3, 6.7, 9, 40, 250} {
			low := math.Pow(10, lo)
			high := min(low*math.Pow(10, span), most)
			a, b := logRange(low, high)
			require.LessOrEqual(t, a, low*(1+1e-6))
			require.GreaterOrEqual(t, b, high*(1-1e-6))
			labels := 0
			for _, tick := range logTicks(a, b) {
				require.GreaterOrEqual(t, tick.Value, a*(1-1e-6))
				require.LessOrEqual(t, tick.Value, b*(1+1e-6))
				if tick.Label != "" {
					labels++
				}
			}
			require.GreaterOrEqual(t, labels, 2, "%g to %g", a, b)
			require.LessOrEqual(t, labels, maxLabels+1, "%g to %g", a, b)
		}
	}
}

func TestLinearTicks(t *testing.T) {
	for _, c := range []struct{ lo, hi float64 }{
		{0, 1}, {0, 5e6}, {-20, 20}, {-1e290, 1e290}, {0, 1e-200}, {1e18, 1e18 + 1000},
	} {
		ticks := linearTicks(c.lo, c.hi)
		require.NotEmpty(t, ticks, "%v", c)
		require.LessOrEqual(t, len(ticks), maxLabels)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.61: "0.61", 1000: "1 k", 16_000: "16 k", 1.5e6: "1.5 M", -2000: "-2 k", 999.99: "1 k", 1e12: "1 T", 1e20: "1e+20",
	} {
		require.Equal(t, want, number(v))
	}
	for v, want := range map[float64]string{0: "0", 262_144: "262,144", 0.61: "0.61", -1234: "-1,234", 1e20: "1e+20"} {
		require.Equal(t, want, exact(v))
	}
	require.Equal(t, none, measured(math.NaN()))
}
