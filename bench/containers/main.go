package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

var errDiffer = errors.New("the maps differ")

func main() {
	n := flag.Int("n", 10_000_000, "entries")
	rounds := flag.Int("rounds", 3, "rounds")
	small := flag.Bool("small", false, "pages of 4 KiB below the heap")
	flag.Parse()
	if err := run(os.Stdout, *n, *rounds, *small); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// figures are what one round found of one map.
type figures struct {
	insert, hit, miss, many, iterate, remove float64 // ns an entry or look-up
	bytes                                    float64 // of memory an entry
	collect                                  time.Duration
	slowest                                  []time.Duration // the slowest Sets: 1st, 10th, 100th
	fresh, kept                              time.Duration   // see repeated
	sum                                      uint64          // of what was found
}

func run(w io.Writer, n, rounds int, small bool) error {
	if n < 1 || rounds < 1 {
		return fmt.Errorf("-n %d -rounds %d: want 1 at least", n, rounds)
	}
	runtime.LockOSThread()
	var plain, ours []figures
	for range rounds {
		plain = append(plain, goMap(n))
		f, err := quarryMap(n, small)
		if err != nil {
			return err
		}
		if ours = append(ours, f); f.sum != plain[0].sum {
			return fmt.Errorf("%w: sums of values %d and %d", errDiffer, plain[0].sum, f.sum)
		}
	}
	fmt.Fprintf(w, "%d entries of uint64, %d rounds, %s\n", n, rounds, runtime.Version())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tGo's map\tcontainer.Map\tratio\t")
	for _, row := range rows {
		a, b := median(plain, row.of), median(ours, row.of)
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.2f\t\n", row.name, a, b, b/a)
	}
	for i, name := range []string{"slowest Set, us", "10th slowest", "100th slowest"} {
		of := func(f figures) float64 { return float64(f.slowest[i]) / 1e3 }
		a, b := least(plain, of), least(ours, of)
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.2f\t\n", name, a, b, b/a)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "the same Set in all of %d fillings, least at its slowest: %.1f us in memory fresh from the system, %.1f us in memory that is there\n",
		fillings, least(ours, func(f figures) float64 { return float64(f.fresh) / 1e3 }), least(ours, func(f figures) float64 { return float64(f.kept) / 1e3 }))
	return err
}

var rows = []struct {
	name string
	of   func(f figures) float64
}{
	{"insert, ns", func(f figures) float64 { return f.insert }},
	{"Get of a key that is there", func(f figures) float64 { return f.hit }},
	{"the same by GetMany", func(f figures) float64 { return f.many }},
	{"Get of another", func(f figures) float64 { return f.miss }},
	{"iterate", func(f figures) float64 { return f.iterate }},
	{"remove", func(f figures) float64 { return f.remove }},
	{"memory, B an entry", func(f figures) float64 { return f.bytes }},
	{"a collection, us", func(f figures) float64 { return float64(f.collect) / 1e3 }},
}

func median(all []figures, of func(figures) float64) float64 {
	list := make([]float64, len(all))
	for i, f := range all {
		list[i] = of(f)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func least(all []figures, of func(figures) float64) float64 {
	best := of(all[0])
	for _, f := range all {
		best = min(best, of(f))
	}
	return best
}

// mix makes keys of numbers, no two equal.
func mix(x uint64) uint64 {
	x *= 0x9E3779B97F4A7C15
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	return x ^ x>>32
}

// lookups is how many look-ups are timed.
const lookups = 4 << 20

// picked returns the number of the entry that look-up i is of.
func picked(i, n int) uint64 { return mix(uint64(i)) % uint64(n) }

// each returns the ns that f took for each of n.
func each(n int, f func()) float64 {
	began := time.Now()
	f()
	return float64(time.Since(began)) / float64(n)
}

// collection returns how long a collection takes, the least of some.
func collection() time.Duration {
	best := time.Duration(1 << 62)
	for range 4 {
		best = min(best, time.Duration(each(1, runtime.GC)))
	}
	return best
}

// timed calls a function for 0 to n-1 and lowers times[i] to what call i took.
func timed(times []time.Duration, call func(i uint64)) {
	last := time.Now()
	for i := range times {
		call(uint64(i))
		now := time.Now()
		times[i], last = min(times[i], now.Sub(last)), now
	}
}

// never is longer than all calls.
const never = time.Duration(1 << 62)

// slowest returns the 1st, 10th and 100th of the times of n calls.
func slowest(n int, call func(i uint64)) []time.Duration {
	times := slices.Repeat([]time.Duration{never}, n)
	timed(times, call)
	slices.Sort(times)
	return []time.Duration{times[n-1], times[max(n-10, 0)], times[max(n-100, 0)]}
}

// fillings is how often repeated fills a map.
const fillings = 4

// repeated fills a map in the same way several times, with a function called before each, and
// returns the slowest call by the least that it took. What else the machine does hits another call
// each time; what a call costs, it costs each time.
func repeated(n int, before func(), call func(i uint64)) time.Duration {
	times := slices.Repeat([]time.Duration{never}, n)
	for range fillings {
		before()
		timed(times, call)
	}
	return slices.Max(times)
}
