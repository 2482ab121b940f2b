package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"quarry/asm"
)

// printMachine says what the figures depend on.
func printMachine(w io.Writer) {
	fmt.Fprintf(w, "cpu        %s, %d of %d cores, %s %s/%s\n\n",
		asm.CPUName(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// print writes one result: a line an entrant, then its targets.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "%s, n = %d: %s\n", r.w.name, r.n, r.w.what)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "  \t%s\t\n", r.heading())
	for _, c := range r.list {
		fmt.Fprintf(t, "  %s\t%s\t\n", c.way.entrant, r.line(c))
	}
	t.Flush()
	for _, c := range r.list {
		if c.wrong != "" {
			fmt.Fprintf(w, "  %s: WRONG: %s\n", c.way.entrant, c.wrong)
		}
	}
	for i := range r.verdicts {
		v := &r.verdicts[i]
		name := v.whose
		if name == "" {
			name = v.ours[0]
		}
		fmt.Fprintf(w, "  %s: floor %v; goal %v\n", name, v.floor, v.goal)
	}
	fmt.Fprintln(w)
}

func (r *result) heading() string {
	switch {
	case r.w.child:
		return "peak MB\tat rest MB\tB/entity"
	case r.w.each:
		return "max ns\tleast\tmost\tp99.99\tp99\tallocs\tGo heap B"
	}
	return "ns\tleast\tmost\tp99\tpasses\tallocs/pass\tGo heap B/entity"
}

func (r *result) line(c *contender) string {
	if c.wrong != "" || len(c.rounds) == 0 {
		return "-"
	}
	mid := median(c.rounds)
	switch {
	case r.w.child:
		return fmt.Sprintf("%.1f\t%.1f\t%.1f", mid/1e6, median(c.samples)/1e6, mid/float64(r.entities()))
	case r.w.each:
		return fmt.Sprintf("%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f", mid, quantile(c.rounds, 0), quantile(c.rounds, 1),
			median(c.tails), median(c.samples), c.allocs, c.bytes)
	}
	return fmt.Sprintf("%.4g\t%.4g\t%.4g\t%.4g\t%d\t%.4g\t%.3g", mid, quantile(c.rounds, 0), quantile(c.rounds, 1),
		quantile(c.samples, 0.99), c.times, c.allocs, c.bytes/float64(c.n))
}

// entities is how many there are where memory is measured.
func (r *result) entities() int {
	if r.w.name == "archetypes" {
		return r.n * archetypeRows
	}
	return r.n
}

// object is an entrant in JSON.
func (r *result) object(c *contender) map[string]any {
	o := map[string]any{
		"workload": r.w.name, "n": r.n, "entrant": c.way.entrant, "right": c.wrong == "", "rounds": len(c.rounds),
	}
	if c.wrong != "" {
		o["wrong"] = c.wrong
		return o
	}
	mid := median(c.rounds)
	switch {
	case r.w.child:
		o["peak_bytes"], o["rest_bytes"], o["bytes_per_entity"] = mid, median(c.samples), mid/float64(r.entities())
	case r.w.each:
		o["max_ns"], o["p9999_ns"], o["p99_ns"] = mid, median(c.tails), median(c.samples)
		o["go_allocs"], o["go_bytes"] = c.allocs, c.bytes
	default:
		o["ns_per_entity"], o["p99_ns"], o["passes_per_sample"] = mid, quantile(c.samples, 0.99), c.times
		o["min_ns"], o["max_ns"] = quantile(c.rounds, 0), quantile(c.rounds, 1)
		o["go_allocs_per_pass"], o["go_bytes_per_entity"] = c.allocs, c.bytes/float64(c.n)
	}
	for i := range r.verdicts {
		if v := &r.verdicts[i]; v.whose == c.way.entrant {
			v.floor.into(o, "floor")
			v.goal.into(o, "goal")
		}
	}
	return o
}

// into adds a bound to an object: floor, floor_of, floor_ratio and floor_holds.
func (j judged) into(o map[string]any, name string) {
	if !j.known {
		return
	}
	o[name], o[name+"_holds"] = j.factor, j.holds
	if j.whose != "" {
		o[name+"_of"], o[name+"_ratio"] = j.whose, j.ratio
	}
}

// printJSON writes an array with one object an entrant, workload and n.
func printJSON(w io.Writer, results []*result) error {
	list := []map[string]any{}
	for _, r := range results {
		for _, c := range r.list {
			list = append(list, r.object(c))
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(list)
}
