package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// pageColumns are the columns of the table of docs/performance.md.
var pageColumns = []struct {
	head, format string
	figure       func(*phase) float64
}{
	{"CPU of an operation, us", "%.1f", func(p *phase) float64 { return 1 / p.perCPU() }},
	{"p99 of a Get, us", "%.1f", func(p *phase) float64 { return getP99(p) / 1e3 }},
	{"collector, CPU s", "%.1f", func(p *phase) float64 { return float64(p.GC) / 1e9 }},
	{"hits, %", "%.1f", (*phase).ratio},
	{"peak, MB", "%.0f", (*phase).peak},
}

// read returns what a run with -json has printed.
func read(name string) (*result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// table returns the page's table: medians with garbage, in parentheses without, and in the last row
// Quarry's divided by those of the map.
func (r *result) table() (string, error) {
	var b strings.Builder
	b.WriteString("| cache |")
	for _, c := range pageColumns {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(pageColumns)) + "\n")
	var sides []*row
	for _, name := range []string{"quarry", "map + list"} {
		i := slices.IndexFunc(r.Caches, func(r *row) bool { return r.Cache == name })
		if i < 0 {
			return "", fmt.Errorf("the run has no cache %q", name)
		}
		sides = append(sides, r.Caches[i])
		fmt.Fprintf(&b, "| %s |", name)
		for _, c := range pageColumns {
			garbage, quiet := r.Caches[i].medians(c.figure)
			fmt.Fprintf(&b, " "+c.format+" ("+c.format+") |", garbage, quiet)
		}
		b.WriteString("\n")
	}
	b.WriteString("| quarry / map + list |")
	for _, c := range pageColumns {
		garbage, quiet := sides[0].medians(c.figure)
		byGarbage, byQuiet := sides[1].medians(c.figure)
		fmt.Fprintf(&b, " %s (%s) |", part(garbage/byGarbage), part(quiet/byQuiet))
	}
	b.WriteString("\n")
	return b.String(), nil
}

// medians returns a figure of both phases.
func (r *row) medians(figure func(*phase) float64) (garbage, quiet float64) {
	return r.spread(func(m *sample) float64 { return figure(&m.Garbage) }).median(),
		r.spread(func(m *sample) float64 { return figure(&m.Quiet) }).median()
}

// part prints a ratio.
func part(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	return fmt.Sprintf("%.2f", v)
}
