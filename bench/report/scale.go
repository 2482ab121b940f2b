package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// least and most bound the values on a logarithmic axis; beyond them, powers of ten leave the range
// of a float64.
const (
	least = 1e-290
	most  = 1e290
)

// drawable reports whether a logarithmic axis can show v.
func drawable(v float64) bool { return v >= least && v <= most }

// maxLabels is how many labels an axis has room for.
const maxLabels = 8

// rounded returns the greatest 1, 2 or 5 times a power of ten that is not above v (up = false), or
// the least that is not below v.
func rounded(v float64, up bool) float64 {
	const slack = 1e-9 // 0.1 and 3 * 0.1/3 are the same place
	for k := math.Floor(math.Log10(v)) - 1; ; k++ {
		for _, m := range []float64{1, 2, 5} {
			at := m * math.Pow(10, k)
			if up && at >= v*(1-slack) {
				return at
			}
			next := map[float64]float64{1: 2, 2: 5, 5: 10}[m] * math.Pow(10, k)
			if !up && next > v*(1+slack) {
				return at
			}
		}
	}
}

// logRange widens lo and hi to round places, at least a factor of two apart.
func logRange(lo, hi float64) (float64, float64) {
	a, b := rounded(lo, false), rounded(hi, true)
	if b/a < 1.5 {
		a, b = rounded(a/1.2, false), rounded(b*1.2, true)
	}
	return a, b
}

// logTicks labels 1, 2 and 5 of each decade, or every k-th decade of a long axis.
func logTicks(lo, hi float64) (ticks []plot.Tick) {
	decades := math.Log10(hi) - math.Log10(lo) // hi / lo may be more than a float64 holds
	short := decades <= 2.05
	step := max(1, int(math.Ceil(decades/maxLabels)))
	if decades > 12 { // labels like 1e+100
		step = int(math.Ceil(decades / 5))
	}
	first, last := int(math.Floor(math.Log10(lo)+1e-9)), int(math.Ceil(math.Log10(hi)-1e-9))
	for k := first; k <= last; k++ {
		for m := 1.0; m < 10; m++ {
			t := plot.Tick{Value: m * math.Pow(10, float64(k))}
			if t.Value < lo*(1-1e-9) || t.Value > hi*(1+1e-9) {
				continue
			}
			labelled := m == 1 && k%step == 0 || short && (m == 2 || m == 5)
			if labelled {
				t.Label = number(t.Value)
			} else if step > 1 {
				continue
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// linearTicks labels round places from lo to hi.
func linearTicks(lo, hi float64) (ticks []plot.Tick) {
	step := rounded((hi-lo)/6, true)
	first := math.Ceil(lo/step - 1e-9)
	for k := range maxLabels { // bounded, in case float64 has no next place
		if at := (first + float64(k)) * step; at <= hi+1e-9*step {
			ticks = append(ticks, plot.Tick{Value: at, Label: number(at)})
		}
	}
	return ticks
}

// number prints four digits and a decimal unit: 0.61, 16 k, 1.5 M.
func number(v float64) string {
	if v == 0 { // -0 too
		return "0"
	}
	units := []string{"", " k", " M", " G", " T"}
	i, w := 0, v
	for math.Abs(w) >= 999.95 && i < len(units)-1 {
		w, i = w/1000, i+1
	}
	if math.Abs(w) >= 1e6 {
		return fmt.Sprintf("%.4g", v)
	}
	return fmt.Sprintf("%.4g%s", w, units[i])
}
