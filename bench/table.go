package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"quarry/bench/curve"
	"quarry/bench/report"
	"quarry/bench/workload"
)

// result is one workload's sides.
type result struct {
	name  string
	unit  string // what an op counts: entities, calls
	plain workload.Side
	ours  workload.Side
}

// ok reports whether all sides came out right.
func (r *result) ok() bool {
	return r.plain.OK && r.ours.OK && (r.plain.Other == nil || r.plain.Other.OK)
}

// sides yields the sides by name: two, or three where plain Go is written in two ways.
func (r *result) sides(yield func(string, *workload.Side) bool) {
	_ = yield("go", &r.plain) && (r.plain.Other == nil || yield("go "+r.plain.OtherName, r.plain.Other)) &&
		yield("quarry", &r.ours)
}

// grid has one row per workload and side.
func grid(results []result) report.Grid {
	g := report.Grid{Head: []string{
		"workload", "side", "answer", "time", "per second", "ns/op", "off-heap committed", "Go heap",
	}}
	for _, r := range results {
		r.sides(func(side string, s *workload.Side) bool {
			rate := "-"
			if s.Time > 0 {
				rate = fmt.Sprintf("%s %s", count(float64(s.Ops)/s.Time.Seconds()), r.unit)
			}
			g.Rows = append(g.Rows, []string{r.name, side, answer(s), s.Time.Round(time.Millisecond).String(), rate,
				fmt.Sprintf("%.3g", s.NsPerOp()), size(s.Committed), size(max(0, s.Heap))})
			return true
		})
	}
	return g
}

func answer(s *workload.Side) string {
	if s.OK {
		return "right"
	}
	return "WRONG"
}

// lines returns what a side reports in words.
func lines(s *workload.Side) []string {
	return append(slices.Clone(s.Lines), answer(s)+": "+s.Detail)
}

// printGrid prints one line per row.
func printGrid(w io.Writer, g *report.Grid) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{g.Head}, g.Rows...) {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
}

// printTable prints the grid, then the workloads' reports in words.
func printTable(w io.Writer, results []result) {
	g := grid(results)
	printGrid(w, &g)
	for _, r := range results {
		r.sides(func(side string, s *workload.Side) bool {
			for _, line := range lines(s) {
				fmt.Fprintf(w, "\n%s, %s: %s", r.name, side, line)
			}
			return true
		})
	}
	fmt.Fprintln(w)
}

// count prints a rate with a decimal unit.
func count(v float64) string {
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%.3g G", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}

// printJSON prints an array with one object per workload and side, which has the common fields and
// the workload's own figures, and then one object per point of the microbenchmarks.
func printJSON(w io.Writer, results []result, tables []curve.Table) error {
	all := []map[string]any{}
	for _, r := range results {
		r.sides(func(side string, s *workload.Side) bool {
			o := map[string]any{}
			for k, v := range maps.All(s.Figures) {
				o[k] = v
			}
			o["workload"], o["side"], o["ok"], o["detail"] = r.name, side, s.OK, s.Detail
			o["ns_per_op"], o["ops"], o["seconds"] = s.NsPerOp(), s.Ops, s.Time.Seconds()
			o["committed"], o["heap"] = s.Committed, max(0, s.Heap)
			all = append(all, o)
			return true
		})
	}
	all = append(all, objects(tables)...)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}
