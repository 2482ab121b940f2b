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
	sum                                      uint64 // of what was found
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
	if err := t.Flush(); err != nil {
		return err
	}
	return reportWaits(w, n, small)
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
