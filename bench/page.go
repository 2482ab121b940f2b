package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quarry/bench/curve"
	"quarry/bench/report"
	"quarry/bench/workload"
)

// report writes report.html and returns its path.
func (o *options) report(facts [][]string, results []result, tables []curve.Table) (string, error) {
	more, modules := origin()
	p := &report.Page{
		Machine: report.Grid{Rows: append(facts, more...)},
		Modules: report.Grid{Rows: modules},
		Command: strings.Join(append([]string{"go run ./bench"}, o.args...), " "),
		Date:    time.Now(),
		Results: grid(results),
		Tables:  tables,
		Peers:   o.rivals,
	}
	for _, r := range results {
		w := report.Workload{Name: r.name, Drawings: r.ours.Drawings}
		r.sides(func(side string, s *workload.Side) bool {
			for _, line := range lines(s) {
				w.Lines = append(w.Lines, side+": "+line)
			}
			return true
		})
		if r.ours.Picture != "" {
			png, err := os.ReadFile(r.ours.Picture)
			if err != nil {
				return "", err
			}
			w.PNG = png
		}
		p.Workloads = append(p.Workloads, w)
	}
	path := filepath.Join(o.dir, "report.html")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	if err := report.Write(f, p); err != nil {
		f.Close()
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return path, f.Close()
}
