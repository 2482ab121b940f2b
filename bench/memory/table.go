package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"quarry/asm"
)

// printMachine prints the machine, the versions and the settings that the figures depend on.
func printMachine(w io.Writer) {
	fmt.Fprintf(w, "cpu        %s, %d of %d cores, %s %s/%s\n",
		asm.CPUName(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(w, "huge pages %s; reading the clock costs %v\n\n", hugePages(), clockCost())
}

// printRows prints the workloads that have no table of their own, then what an operation is.
func printRows(w io.Writer, rows []*row) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *row) bool {
		return family(r.workload) == tracesName || heldTableOf(r.workload) != nil
	})
	if len(rows) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t,
		"workload\tallocator\tns/op\tless null\tp50\tp99\tp99.9\tmeans of\tpeak RSS\tend RSS\tcommitted\tend\tfaults/op\tGo allocs/op\t")
	last := ""
	for _, r := range rows {
		if last != "" && r.workload != last {
			fmt.Fprintln(t, strings.Repeat("\t", 14))
		}
		last = r.workload
		printRow(t, r)
	}
	t.Flush()
	fmt.Fprintln(w, "\np50 to p99.9 are of single steps, or of the means of so many (see sampler.go); an operation is")
	for i := range workloads {
		for _, r := range rows {
			if r.workload == workloads[i].name {
				fmt.Fprintf(w, "  %-13s %s\n", r.workload, workloads[i].what)
				break
			}
		}
	}
	fmt.Fprintln(w)
}

func printRow(w io.Writer, r *row) {
	m := &r.mid
	perOp := func(n int64) string {
		if n < 0 || m.Ops == 0 {
			return "-"
		}
		return fmt.Sprintf("%.3g", float64(n)/float64(m.Ops))
	}
	faulted := perOp(m.MinorFaults)
	if m.MajorFaults > 0 {
		faulted += fmt.Sprintf(" (%d major)", m.MajorFaults)
	}
	net, ok := r.lessHarness()
	spread := "-\t-\t-\t-"
	if m.SampledBy > 0 {
		spread = fmt.Sprintf("%.4g\t%.4g\t%.4g\t%d", m.P50, m.P99, m.P999, m.SampledBy)
	}
	fmt.Fprintf(w, "%s\t%s\t%.4g\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
		r.workload, r.allocator, m.NsPerOp, three(net, ok), spread, size(m.PeakRSS), size(m.EndRSS),
		size(m.CommittedPeak), size(m.CommittedEnd), faulted, perOp(m.GoAllocs), r.remarks())
}

// remarks are a wrong answer, the targets and the workload's own figures.
func (r *row) remarks() string {
	var list []string
	if r.wrong != "" {
		list = append(list, "WRONG: "+r.wrong)
	}
	for i := range r.verdicts {
		list = append(list, r.verdicts[i].String())
	}
	if len(r.verdicts) == 0 {
		for _, name := range []string{"ratio", "bare_ns", "search_ns", "crossed"} {
			if v, ok := r.mid.More[name]; ok {
				list = append(list, fmt.Sprintf("%s %.3g", strings.ReplaceAll(name, "_ns", ""), v))
			}
		}
	}
	return strings.Join(list, "; ")
}

// printTraces prints ns/op of the traces next to REFERENCE.csv, then utilisation.
func printTraces(w io.Writer, rows []*row, ref *reference) {
	var traces []string
	cells := map[[2]string]*row{}
	for _, r := range rows {
		if !strings.HasPrefix(r.workload, tracesName) {
			continue
		}
		if n := len(traces); n == 0 || traces[n-1] != r.workload {
			traces = append(traces, r.workload)
		}
		cells[[2]string{r.workload, r.allocator}] = r
	}
	if len(traces) == 0 {
		return
	}
	ran := replayers(rows)
	fmt.Fprintln(w, "traces: ns/op of the best pass; the columns after | are those of REFERENCE.csv")
	printGrid(w, traces, ran, ref, func(trace, allocator string) (float64, bool) {
		r := cells[[2]string{trace, allocator}]
		return figureOf(r, nsPerOp)
	}, func(f figure) float64 { return f.nsPerOp }, false)
	fmt.Fprintln(w, "\ntraces: utilisation, live bytes at the peak / growth of resident memory, every byte written")
	fmt.Fprintf(w, "(the mean is of the traces above %s at the peak that REFERENCE.csv has)\n", size(largePeak))
	printGrid(w, traces, ran, ref, func(trace, allocator string) (float64, bool) {
		r := cells[[2]string{trace, allocator}]
		return figureOf(r, utilisation)
	}, func(f figure) float64 { return f.utilisation }, true)
	fmt.Fprintln(w)
	for _, r := range rows {
		if strings.HasPrefix(r.workload, tracesName) && (r.wrong != "" || len(r.verdicts) > 0) {
			fmt.Fprintf(w, "%s, %s: %s\n", r.workload, r.allocator, r.remarks())
		}
	}
}

func figureOf(r *row, name string) (float64, bool) {
	if r == nil {
		return 0, false
	}
	return r.figure(name)
}

// printGrid prints one line per trace: the allocators that ran, then the allocators of
// REFERENCE.csv. The last line has the means.
func printGrid(w io.Writer, traces, ran []string, ref *reference,
	measured func(trace, allocator string) (float64, bool), column func(figure) float64, large bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "trace")
	for _, name := range ran {
		fmt.Fprint(t, "\t", name)
	}
	fmt.Fprint(t, "\t|")
	for _, a := range ref.allocators {
		fmt.Fprint(t, "\t", a)
	}
	fmt.Fprintln(t)
	for _, trace := range traces {
		name, isTrace := strings.CutPrefix(trace, tracesName+"/")
		if !isTrace {
			name = "geometric mean"
		}
		fmt.Fprint(t, name)
		for _, allocator := range ran {
			v, ok := measured(trace, allocator)
			fmt.Fprint(t, "\t", three(v, ok))
		}
		fmt.Fprint(t, "\t|")
		for _, a := range ref.allocators {
			v := ref.mean(a, column, large)
			if isTrace {
				v = column(ref.rows[[2]string{name, a}])
			}
			fmt.Fprint(t, "\t", three(v, v > 0))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func three(v float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3g", v)
}

// size prints bytes with three figures and a binary unit, "-" for unknown.
func size(n int64) string {
	if n < 0 {
		return "-"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1000 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}
