package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// lastLines is how many lines are printed of the output of a test that failed.
const lastLines = 40

// printRuns prints a table of both runs and how they differ. It reports whether they are the same:
// some test passed, and no package differs.
func printRuns(w io.Writer, module string, own, ours runs) (same bool) {
	names := maps.Clone(own)
	maps.Copy(names, ours)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "package\town: passed\tskipped\tfailed\tours: passed\tskipped\tfailed\town\tours")
	var sum, top [6]int
	var times [2]time.Duration
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := own.of(name), ours.of(name)
		n := tally(a, b, false)
		if n == [6]int{} && a.verdict != failed && b.verdict != failed {
			continue // no tests there
		}
		short := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
		if short == "" {
			short = "(top)"
		}
		printRow(t, short, n, a.time, b.time)
		for i, c := range tally(a, b, true) {
			top[i] += c
			sum[i] += n[i]
		}
		times[0], times[1] = times[0]+a.time, times[1]+b.time
		faults = append(faults, faultsOf(short, a, b)...)
	}
	printRow(t, "all", sum, times[0], times[1])
	printRow(t, "without subtests", top, times[0], times[1])
	t.Flush()
	for _, line := range faults {
		fmt.Fprint(w, line)
	}
	if sum[0] == 0 {
		fmt.Fprintln(w, "no test passed on the library's own memory")
	}
	return len(faults) == 0 && sum[0] > 0
}

func tally(own, ours *result, top bool) (n [6]int) {
	for i, v := range []verdict{passed, skipped, failed} {
		n[i], n[3+i] = own.count(v, top), ours.count(v, top)
	}
	return n
}

func printRow(w io.Writer, name string, n [6]int, own, ours time.Duration) {
	fmt.Fprint(w, name)
	for _, c := range n {
		fmt.Fprintf(w, "\t%d", c)
	}
	fmt.Fprintf(w, "\t%.1f s\t%.1f s\n", own.Seconds(), ours.Seconds())
}

// faultsOf returns how a package differs, and what was printed by the tests that failed on our
// memory only.
func faultsOf(name string, own, ours *result) (list []string) {
	differs := difference(own, ours)
	if len(differs) == 0 {
		return nil
	}
	tests := changed(own, ours)
	if more := len(tests) - lastLines; more > 0 { // names may hold a seed
		tests = append(tests[:lastLines], fmt.Sprintf("and %d more tests", more))
	}
	for _, line := range append(differs, tests...) {
		list = append(list, fmt.Sprintf("%s: %s\n", name, line))
	}
	for _, test := range slices.Sorted(maps.Keys(ours.output)) {
		if test != "" && (ours.verdicts[test] != failed || own.verdicts[test] == failed) {
			continue
		}
		lines := ours.output[test]
		for _, line := range lines[max(0, len(lines)-lastLines):] {
			list = append(list, "    "+line)
		}
	}
	return list
}
