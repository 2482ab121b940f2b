package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"text/tabwriter"
	"time"

	"quarry/bench/workload"
)

// result is one workload's two sides.
type result struct {
	name  string
	unit  string // what an op is: entities, calls
	plain workload.Side
	ours  workload.Side
}

func (r *result) ok() bool { return r.plain.OK && r.ours.OK }

// sides yields the two sides by name.
func (r *result) sides(yield func(string, *workload.Side) bool) {
	_ = yield("go", &r.plain) && yield("quarry", &r.ours)
}

// printTable prints one line per workload and side, then what the workloads
// have to say.
func printTable(w io.Writer, results []result) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "workload\tside\tanswer\ttime\tper second\tns/op\toff-heap committed\tGo heap")
	for _, r := range results {
		r.sides(func(side string, s *workload.Side) bool {
			answer := "right"
			if !s.OK {
				answer = "WRONG"
			}
			rate := "-"
			if s.Time > 0 {
				rate = fmt.Sprintf("%s %s", count(float64(s.Ops)/s.Time.Seconds()), r.unit)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%v\t%s\t%.3g\t%s\t%s\n",
				r.name, side, answer, s.Time.Round(time.Millisecond), rate, s.NsPerOp(), size(s.Committed), size(max(0, s.Heap)))
			return true
		})
	}
	t.Flush()
	for _, r := range results {
		r.sides(func(side string, s *workload.Side) bool {
			for _, line := range s.Lines {
				fmt.Fprintf(w, "\n%s, %s: %s", r.name, side, line)
			}
			verdict := "right"
			if !s.OK {
				verdict = "WRONG"
			}
			fmt.Fprintf(w, "\n%s, %s: %s: %s", r.name, side, verdict, s.Detail)
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

// printJSON prints an array with one object per workload and side: the common
// fields and the workload's own figures beside them.
func printJSON(w io.Writer, results []result) error {
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
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}
