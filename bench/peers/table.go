package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"quarry/asm"
)

// printMachine prints the machine, the versions and the settings that the figures depend on.
func printMachine(w io.Writer) {
	fmt.Fprintf(w, "cpu        %s, %d of %d cores, %s %s/%s\n",
		asm.CPUName(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for i, m := range linked() {
		name := ""
		if i == 0 {
			name = "libraries"
		}
		fmt.Fprintf(w, "%-10s %s\n", name, m)
	}
	fmt.Fprintln(w)
}

// print writes one result: a line per entrant, then its targets.
func (r *result) print(w io.Writer) {
	note := ""
	if r.done < r.asked {
		note = ", the time was up"
	}
	fmt.Fprintf(w, "%s, n = %d: %s (rounds: %d of %d%s)\n", r.w.name, r.n, r.w.what, r.done, r.asked, note)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "  \t%s\tratio\t\n", r.heading())
	for _, c := range r.list {
		fmt.Fprintf(t, "  %s\t%s\t\n", c.way.entrant, r.line(c))
	}
	t.Flush()
	for _, c := range r.list {
		switch {
		case c.wrong != "":
			fmt.Fprintf(w, "  %s: WRONG: %s\n", c.way.entrant, c.wrong)
		case c.out != "":
			fmt.Fprintf(w, "  %s: left out: %s\n", c.way.entrant, c.out)
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
		return "peak MB\tleast\tmost\tat rest\tB/entity"
	case r.w.garbage:
		return collectorHeading
	case r.w.each:
		return "max ns\tleast\tmost\tmean\tp99\tp99.99\tB/entity\tallocs"
	}
	return "ns/entity\tleast\tmost\tB/entity\tallocs/pass\tp99 of a pass, ns"
}

func (r *result) line(c *contender) string {
	if c.idle() || len(c.rounds) == 0 {
		return "-"
	}
	mid, least, most := median(c.rounds), quantile(c.rounds, 0), quantile(c.rounds, 1)
	ratio := "-"
	if v, _, ok := r.ratio(c); ok {
		ratio = fmt.Sprintf("%.3f", v)
	}
	held := figure(r.bytesPerEntity(c))
	switch {
	case r.w.child:
		return fmt.Sprintf("%.1f\t%.1f\t%.1f\t%.1f\t%s\t%s",
			mid/1e6, least/1e6, most/1e6, median(c.samples)/1e6, held, ratio)
	case r.w.garbage:
		return fmt.Sprintf("%s\t%s\t%s", c.collectorLine(), held, ratio)
	case r.w.each:
		return fmt.Sprintf("%.0f\t%.0f\t%.0f\t%.1f\t%.0f\t%.0f\t%s\t%.0f\t%s",
			mid, least, most, median(c.means), r.p99(c),
			median(c.tails), held, c.allocs, ratio)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%.4g\t%s\t%s", figure(mid), figure(least), figure(most), held, c.allocs,
		figure(r.p99(c)), ratio)
}

// figure prints four digits, and all digits of a greater number.
func figure(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
