package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"quarry/bench/server/units"
)

// median is the middle of a figure over the rounds; false if the side was not run so.
func (s *row) median(m units.Mode, figure func(units.Sample) int64) (float64, bool) {
	var list []int64
	for _, m := range s.Modes[m] {
		list = append(list, figure(m))
	}
	if len(list) == 0 {
		return 0, false
	}
	slices.Sort(list)
	return float64(list[len(list)/2]), true
}

func p50(m units.Sample) int64      { return m.P50 }
func p99(m units.Sample) int64      { return m.P99 }
func mean(m units.Sample) int64     { return m.Mean }
func build(m units.Sample) int64    { return m.Build }
func spawn(m units.Sample) int64    { return m.Spawn }
func cpu(m units.Sample) int64      { return m.CPU }
func state50(m units.Sample) int64  { return m.State }
func resident(m units.Sample) int64 { return m.Resident }
func end(m units.Sample) int64      { return m.End }

// columnsOf are the columns of the tables.
var columnsOf = []struct {
	head, format string
	unit         float64
	mode         units.Mode
	figure       func(units.Sample) int64
}{
	{"frame p50, ms", "%.1f", 1e6, units.Alone, p50},
	{"p99", "%.1f", 1e6, units.Alone, p99},
	{"CPU, s", "%.2f", 1e9, units.Alone, cpu},
	{"garbage p50", "%.1f", 1e6, units.Littered, p50},
	{"p99", "%.1f", 1e6, units.Littered, p99},
	{"reader p50", "%.1f", 1e6, units.Observed, p50},
	{"p99", "%.1f", 1e6, units.Observed, p99},
	{"both p99", "%.1f", 1e6, units.Both, p99},
	{"state, us", "%.0f", 1e3, units.Observed, state50},
	{"spawns, ms", "%.0f", 1e6, units.Spawning, spawn},
	{"built, ms", "%.0f", 1e6, units.Alone, build},
	{"journal mean", "%.1f", 1e6, units.Journaled, mean},
	{"MB", "%.0f", 1e6, units.Alone, resident},
	{"with states, MB", "%.0f", 1e6, units.Observed, end},
}

// cells returns the cells of a side: a figure and, in parentheses, what that is to plain Go's; of a
// journal to that of the side's frames without.
func (r *result) cells(s *row) (cells []string) {
	plain := r.side(units.PlainSide)
	for _, c := range columnsOf {
		v, ok := s.median(c.mode, c.figure)
		if !ok {
			cells = append(cells, "-")
			continue
		}
		cell := fmt.Sprintf(c.format, v/c.unit)
		base, m := plain, c.mode
		if m == units.Journaled {
			base, m = s, units.Alone
		}
		if s != plain && base != nil {
			if p, ok := base.median(m, c.figure); ok && p > 0 {
				cell += fmt.Sprintf(" (%.2f)", v/p)
			}
		}
		cells = append(cells, cell)
	}
	return cells
}

// table returns the table of docs/performance.md.
func (r *result) table() string {
	var b strings.Builder
	b.WriteString("| side |")
	for _, c := range columnsOf {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columnsOf)) + "\n")
	for _, s := range r.Sides {
		b.WriteString("| " + s.Side + " | " + strings.Join(r.cells(s), " | ") + " |\n")
	}
	return b.String()
}

func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n%d units, %d frames, a state in each %dth, medians; in parentheses to plain Go, "+
		"of the journal to the frame without\n\n", r.Host, r.Units, r.Frames, units.StateEach)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\t")
	for _, s := range r.Sides {
		fmt.Fprint(t, s.Side, "\t")
	}
	fmt.Fprintln(t)
	for i, c := range columnsOf {
		fmt.Fprint(t, c.head, "\t")
		for _, s := range r.Sides {
			fmt.Fprint(t, r.cells(s)[i], "\t")
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // an error is the writer's, and is reported there
	for _, s := range r.Sides {
		for _, m := range s.Modes[units.Journaled] {
			j := m.Journal
			fmt.Fprintf(w, "%s: %d of %d commits have a record; at the end %d of %d B in the log, "+
				"opened in %.0f ms (a base of %d B alone %.0f)\n", s.Side, j.Records, j.Commits, j.InLog, j.Log,
				float64(j.Reopen)/1e6, j.Base, float64(j.Reload)/1e6)
		}
	}
}
