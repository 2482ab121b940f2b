package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"quarry/asm"
)

// row is a cache with what its children found, one per round.
type row struct {
	Cache   string   `json:"cache"`
	Counts  string   `json:"counts"`
	Samples []sample `json:"samples"`
	c       *contender
}

// wrong is the first thing that was wrong in any round.
func (r *row) wrong() string {
	for i := range r.Samples {
		if w := r.Samples[i].Wrong; w != "" {
			return w
		}
	}
	return ""
}

// spread is the figures of the rounds, in rising order; not a number where one is not known.
type spread []float64

func (r *row) spread(figure func(*sample) float64) spread {
	var list spread
	for i := range r.Samples {
		list = append(list, figure(&r.Samples[i]))
	}
	slices.Sort(list)
	return list
}

// median is the middle of the figures, or the lower of the two in the middle.
func (s spread) median() float64 { return s[(len(s)-1)/2] }

// String is the median alone, or with the least and the most.
func (s spread) String() string {
	mid := figure(s.median())
	if len(s) == 1 || mid == unknown {
		return mid
	}
	return fmt.Sprintf("%s (%s-%s)", mid, figure(s[0]), figure(s[len(s)-1]))
}

const unknown = "-"

// figure prints three digits, and all digits of a greater number.
func figure(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return unknown
	case math.Abs(v) >= 1000:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// known is a figure that the system reports, or not a number.
func known(v int64, unit float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return float64(v) / unit
}

func (p *phase) perWall() float64 { return 1e3 * float64(p.Ops) / float64(p.Wall) }
func (p *phase) perCPU() float64  { return 1e3 * float64(p.Ops) / known(p.CPU, 1) }
func (p *phase) hits() float64    { return 1e3 * float64(p.Hits) / float64(p.Wall) }
func (p *phase) ratio() float64   { return 100 * float64(p.Hits) / float64(p.Ops) }
func (p *phase) peak() float64    { return known(p.Peak, 1e6) }
func getP99(p *phase) float64     { return float64(p.P99) }

// gcShare is the collector's share. The runtime counts the time that its threads should have run:
// on a machine with other work, where they waited for a core, the share can exceed 100.
func (p *phase) gcShare() float64 { return 100 * float64(p.GC) / known(p.CPU, 1) }

// column is a figure of a phase.
type column struct {
	title  string
	figure func(*phase) float64
	spread bool // the least and the most are printed, too
}

var columns = []column{
	{"Mop/s", (*phase).perWall, false},
	{"Mop/CPU s", (*phase).perCPU, true},
	{"Mhit/s", (*phase).hits, true},
	{"hits %", (*phase).ratio, false},
	{"p50 ns", func(p *phase) float64 { return float64(p.P50) }, false},
	{"p99 ns", getP99, true},
	{"p99.9 ns", func(p *phase) float64 { return float64(p.P999) }, false},
	{"GC CPU s", func(p *phase) float64 { return float64(p.GC) / 1e9 }, false},
	{"GC % of CPU", (*phase).gcShare, false},
	{"cycles", func(p *phase) float64 { return float64(p.Cycles) }, false},
	{"pause us", func(p *phase) float64 { return float64(p.Pause) / 1e3 }, false},
	{"peak MB", (*phase).peak, true},
	{"end MB", func(p *phase) float64 { return known(p.End, 1e6) }, false},
}

// print prints the machine, a table for each phase, one of the memory, and how the caches count.
func (o *options) print(w io.Writer, rows []*row) {
	fmt.Fprintf(w, "cpu        %s, %d of %d cores, %s %s/%s; a pair of clock readings takes %v\n",
		asm.CPUName(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH, clockCost())
	for _, m := range linked(rows) {
		fmt.Fprintf(w, "           %s\n", m)
	}
	sp := o.spec(rows[0].c)
	fmt.Fprintf(w,
		"workload   %d keys, Zipf %v; %d MiB of keys and values; %d operations fill, %d are timed, by %d goroutines; rounds: %d\n",
		sp.Keys, exponent, o.mib, sp.Fill, sp.Timed, clients, o.rounds)
	printPhase(w, "\nwithout garbage", rows, func(m *sample) *phase { return &m.Quiet })
	printPhase(w, "\nwith 2 KiB of garbage for each operation", rows, func(m *sample) *phase { return &m.Garbage })
	printMemory(w, rows)
	fmt.Fprintln(w, "\nwhat counts for the bound, and what goes first")
	for _, r := range rows {
		fmt.Fprintf(w, "  %-20s %s\n", r.Cache, r.Counts)
	}
	for _, r := range rows {
		if wrong := r.wrong(); wrong != "" {
			fmt.Fprintf(w, "%s: WRONG: %s\n", r.Cache, wrong)
		}
	}
}

// ours is the first row of ours, nil if it did not run.
func ours(rows []*row) *row {
	if i := slices.IndexFunc(rows, func(r *row) bool { return r.c.ours }); i >= 0 {
		return rows[i]
	}
	return nil
}

func printPhase(w io.Writer, title string, rows []*row, of func(*sample) *phase) {
	fmt.Fprintf(w, "%s: medians (least-most of the rounds)\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "  cache\t")
	for _, c := range columns {
		fmt.Fprintf(t, "%s\t", c.title)
	}
	fmt.Fprintln(t, "op/CPU s to ours\tp99 to ours\tpeak to ours\t")
	first := ours(rows)
	for _, r := range rows {
		fmt.Fprintf(t, "  %s\t", r.Cache)
		for _, c := range columns {
			got := r.spread(func(m *sample) float64 { return c.figure(of(m)) })
			if !c.spread {
				got = spread{got.median()}
			}
			fmt.Fprintf(t, "%v\t", got)
		}
		for _, figureOf := range []func(*phase) float64{(*phase).perCPU, getP99, (*phase).peak} {
			fmt.Fprintf(t, "%s\t", toOurs(r, first, func(m *sample) float64 { return figureOf(of(m)) }))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// toOurs is the median of the ratios to ours in the same round.
func toOurs(r, first *row, figureOf func(*sample) float64) string {
	if first == nil || r.c.null {
		return unknown
	}
	var list spread
	for i := range r.Samples {
		list = append(list, figureOf(&r.Samples[i])/figureOf(&first.Samples[i]))
	}
	slices.Sort(list)
	return figure(list.median())
}

func printMemory(w io.Writer, rows []*row) {
	fmt.Fprintln(w, "\nmemory: what hits find at the end, and resident bytes for each of them, under garbage")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t,
		"  cache\tkeys and values, MB\tentries, M\tGo heap, MB\tpeak / byte held\tend / byte held\tsets refused, %\t")
	for _, r := range rows {
		if r.c.null {
			continue
		}
		fmt.Fprintf(t, "  %s\t", r.Cache)
		for _, f := range []func(*sample) float64{
			func(m *sample) float64 { return float64(m.Held) / 1e6 },
			func(m *sample) float64 { return float64(m.Entries) / 1e6 },
			func(m *sample) float64 { return float64(m.Heap) / 1e6 },
			func(m *sample) float64 { return known(m.Garbage.Peak, float64(m.Held)) },
			func(m *sample) float64 { return known(m.Garbage.End, float64(m.Held)) },
			func(m *sample) float64 {
				return 100 * float64(m.Garbage.Refused) / float64(m.Garbage.Ops-m.Garbage.Hits)
			},
		} {
			fmt.Fprintf(t, "%v\t", r.spread(f))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// linked lists the libraries of the rows as module@version.
func linked(rows []*row) (list []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, m := range info.Deps {
		if slices.ContainsFunc(rows, func(r *row) bool { return strings.EqualFold(r.c.module, m.Path) }) {
			list = append(list, m.Path+"@"+m.Version)
		}
	}
	return list
}

// clockCost is the median time between two readings of the clock.
func clockCost() time.Duration {
	var list [1001]time.Duration
	for i := range list {
		start := time.Now()
		list[i] = time.Since(start)
	}
	slices.Sort(list[:])
	return list[len(list)/2]
}
