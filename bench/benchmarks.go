package main

import (
	"fmt"
	"io"

	"quarry/bench/curve"
	"quarry/bench/micro"
	"quarry/bench/report"
)

// benchmarks is the name that -only takes for the microbenchmarks.
const benchmarks = "micro"

// benchmarks measures the microbenchmarks, unless -only leaves them out.
func (o *options) benchmarks() ([]curve.Table, error) {
	if o.only != "" && o.only != benchmarks {
		return nil, nil
	}
	budget := pick(o, micro.Budget, micro.UsualBudget, micro.QuickBudget)
	show, done := bar(benchmarks)
	defer done()
	tables, err := micro.Tables(budget, show)
	if err != nil {
		return nil, named(benchmarks, err)
	}
	return tables, nil
}

// printBenchmarks prints each table with one row per way and one column per size.
func printBenchmarks(w io.Writer, tables []curve.Table) {
	for _, t := range tables {
		fmt.Fprintf(w, "\n%s, %s: %s, %s\n", t.Package, t.Name, t.What, t.YLabel)
		printGrid(w, waysOf(t))
	}
}

// waysOf returns a grid with a row for each way. All ways have the sizes of the first.
func waysOf(t curve.Table) *report.Grid {
	g := &report.Grid{Head: []string{t.XLabel}}
	for i, s := range t.Series {
		if i == 0 {
			for _, x := range s.X {
				g.Head = append(g.Head, fmt.Sprintf("%.0f", x))
			}
		}
		row := []string{s.Name}
		for _, y := range s.Y {
			row = append(row, fmt.Sprintf("%.3g", y))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// objects returns one object for each point of each way.
func objects(tables []curve.Table) (all []map[string]any) {
	for _, t := range tables {
		for _, s := range t.Series {
			for i := range s.X {
				all = append(all, map[string]any{
					"workload": benchmarks, "package": t.Package, "benchmark": t.Name, "way": s.Name,
					"n": s.X[i], "of": t.XLabel, "value": s.Y[i], "unit": t.YLabel,
				})
			}
		}
	}
	return all
}
