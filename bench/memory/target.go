package main

import (
	"fmt"
	"slices"
	"strings"
)

// nsPerOp is the figure that most targets are about.
const nsPerOp = "ns_per_op"

// target is a bound on one of Quarry's figures. The floor must hold, the goal is what the project
// aims for; 0 is no bound.
type target struct {
	workload    string
	allocators  []string
	figure      string
	floor, goal float64
	least       bool // the figure must be at least the bound, not at most
	whole       bool // the bound is an amount, so it does not hold for less work
}

// targets are bounds in ns, except for ratios, utilisation, millions of bytes (_mb) and numbers of
// blocks. They were set on one machine against the allocators of C measured on it. Those of
// utilisation_lean are older than those of utilisation, which are of a heap with its defaults.
var targets = []target{
	{workload: "chunk-pair", allocators: []string{"universe"}, figure: nsPerOp, floor: 20, goal: 10},
	{workload: "chunk-batch", allocators: []string{"universe"}, figure: nsPerOp, goal: 51},
	{workload: "chunk-two", allocators: []string{"universe"}, figure: "ratio", floor: 1.3, goal: 1.1},
	{workload: "chunk-churn", allocators: []string{"universe"}, figure: nsPerOp, floor: 90, goal: 60},
	{workload: "chunk-search", allocators: []string{"universe"}, figure: "search_ns", goal: 5},
	{workload: "heap-pair", allocators: []string{"heap"}, figure: nsPerOp, floor: 20, goal: 12},
	{workload: "heap-pair", allocators: []string{"local"}, figure: nsPerOp, goal: 5},
	{workload: tracesName, allocators: []string{"heap"}, figure: nsPerOp, floor: 12},
	{workload: tracesName, allocators: []string{"local"}, figure: nsPerOp, floor: 12, goal: 5},
	{workload: tracesName, allocators: []string{"heap"}, figure: "to_glibc", floor: 1},
	{workload: tracesName, allocators: []string{"heap"}, figure: "to_mimalloc", goal: 2},
	{workload: tracesName, allocators: []string{"local"}, figure: "to_mimalloc", floor: 1.5, goal: 1},
	{workload: tracesName, allocators: []string{"heap", "local"}, figure: utilisation, floor: 0.88, least: true},
	{workload: tracesName, allocators: []string{"heap", "local"}, figure: "worst_utilisation",
		floor: 0.70, least: true},
	{workload: tracesName, allocators: []string{"heap", "local"}, figure: leanUtilisation, floor: 0.75,
		goal: 0.85, least: true},
	{workload: "larson", allocators: []string{"heap"}, figure: nsPerOp, floor: 40, goal: 24},
	{workload: "larson", allocators: []string{"local"}, figure: nsPerOp, floor: 17},
	{workload: "fragment", allocators: []string{"heap", "local"}, figure: "trimmed_mb", floor: 80, whole: true},
	{workload: "fragment", allocators: []string{"heap", "local"}, figure: "itself_mb", floor: 100, whole: true},
	{workload: "fragment/small", allocators: []string{"heap", "local"}, figure: "trimmed_mb", floor: 430,
		goal: 310, whole: true},
	{workload: "huge/16KiB", allocators: []string{"local"}, figure: nsPerOp, floor: 12},
	{workload: "huge/48KiB", allocators: []string{"local"}, figure: nsPerOp, floor: 12},
	{workload: "huge/64KiB", allocators: []string{"local"}, figure: nsPerOp, floor: 12},
	{workload: "huge/256KiB", allocators: []string{"heap", "local"}, figure: rssPerByte, floor: 1.02},
	{workload: "huge/1MiB", allocators: []string{"heap", "local"}, figure: rssPerByte, floor: 1.02},
	{workload: "huge/1MiB+1", allocators: []string{"heap", "local"}, figure: rssPerByte, floor: 1.02},
	{workload: "huge/1.5MiB", allocators: []string{"heap", "local"}, figure: rssPerByte, floor: 1.02},
	{workload: "huge/4MiB+4KiB", allocators: []string{"heap", "local"}, figure: rssPerByte, floor: 1.02},
	{workload: "huge/16MiB", allocators: []string{"heap", "local"}, figure: rssPerByte, floor: 1.02},
	{workload: "huge/16MiB", allocators: []string{"heap", "local"}, figure: nsPerOp, floor: 5000},
	{workload: "huge/64MiB", allocators: []string{"heap", "local"}, figure: rssPerByte, floor: 1.02},
	{workload: "huge/count", allocators: []string{"heap", "local"}, figure: "live_blocks", floor: 100_000,
		least: true, whole: true},
	{workload: "growth", allocators: []string{"heap", "local"}, figure: "peak_per_byte", floor: 1.1},
}

// verdict is a target with the measured figure.
type verdict struct {
	target
	got float64
}

// judge finds the targets of a row and whether they hold.
func (r *row) judge(isQuick bool) {
	for _, t := range targets {
		if t.workload != r.workload || !slices.Contains(t.allocators, r.allocator) || t.whole && isQuick {
			continue
		}
		if got, ok := r.figure(t.figure); ok {
			r.verdicts = append(r.verdicts, verdict{t, got})
		}
	}
}

func (v *verdict) holds(bound float64) bool {
	if v.least {
		return v.got >= bound
	}
	return v.got <= bound
}

// into adds the verdict to a JSON object: the figure as target, floor, goal, holds_floor and
// holds_goal. For a row's second target these names begin with the figure's name.
func (v *verdict) into(o map[string]any) {
	prefix := ""
	if _, taken := o["target"]; taken {
		prefix = v.figure + "_"
	} else {
		o["target"] = v.figure
	}
	if v.floor > 0 {
		o[prefix+"floor"], o[prefix+"holds_floor"] = v.floor, v.holds(v.floor)
	}
	if v.goal > 0 {
		o[prefix+"goal"], o[prefix+"holds_goal"] = v.goal, v.holds(v.goal)
	}
}

// String returns the verdict in words: "ratio 1.05: floor 1.3 holds, goal 1.1 holds".
func (v *verdict) String() string {
	var parts []string
	for _, b := range []struct {
		name  string
		bound float64
	}{{"floor", v.floor}, {"goal", v.goal}} {
		if b.bound == 0 {
			continue
		}
		word := "MISSED"
		if v.holds(b.bound) {
			word = "holds"
		}
		parts = append(parts, fmt.Sprintf("%s %g %s", b.name, b.bound, word))
	}
	text := strings.Join(parts, ", ")
	if v.figure != nsPerOp {
		text = fmt.Sprintf("%s %.3g: %s", strings.TrimSuffix(v.figure, "_ns"), v.got, text)
	}
	return text
}
