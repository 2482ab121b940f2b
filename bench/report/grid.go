package report

import (
	"fmt"
	"math"
	"slices"

	"quarry/bench/curve"
)

// Grid is a table of words: every row is as long as the head.
type Grid struct {
	Head []string
	Rows [][]string
}

// none stands for a missing figure.
const none = "–"

// figuresOf is the table under a plot: a row for each x, a column for each series.
func figuresOf(t curve.Table) *Grid {
	g := &Grid{Head: []string{t.XLabel}}
	var xs []float64
	for _, s := range t.Series {
		g.Head = append(g.Head, s.Name)
		xs = append(xs, s.X...)
	}
	slices.Sort(xs)
	for _, x := range slices.Compact(xs) {
		if math.IsNaN(x) {
			continue
		}
		row := []string{exact(x)}
		for _, s := range t.Series {
			cell := none
			if i := slices.Index(s.X, x); i >= 0 && i < len(s.Y) {
				cell = measured(s.Y[i])
			}
			row = append(row, cell)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// measured prints a figure that was measured.
func measured(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	if math.Abs(v) >= 1000 {
		return exact(math.Round(v))
	}
	return fmt.Sprintf("%.4g", v)
}

// exact prints a whole number with commas between the thousands.
func exact(v float64) string {
	if v != math.Trunc(v) || math.Abs(v) >= 1e15 {
		return fmt.Sprintf("%.6g", v)
	}
	text, sign := fmt.Sprintf("%.0f", math.Abs(v)), ""
	if v < 0 {
		sign = "-"
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}
