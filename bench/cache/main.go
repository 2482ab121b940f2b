// Command cache measures Quarry's example of a cache off the heap (alloc/examples/cache) beside
// caches of other libraries and beside a map with a list, on a stream of keys that follow Zipf's
// law. It exits with 1 if a hit had another value than the one that was set, if a cache held
// another amount than its bound, or if an entry outlived its time; and with 2 if it could not run.
//
//	go run ./bench/cache                      1 GiB of keys and values, three rounds, about eight minutes
//	go run ./bench/cache -quick               32 MiB, one round
//	go run ./bench/cache -mib 256 -rounds 5
//	go run ./bench/cache -only quarry,otter,"map + list"
//	go run ./bench/cache -json                what each process found
//
// Each cache runs in a process of its own, one after the other, in each round again. Two goroutines
// read through it: Get, and on a miss Set. Keys are strings of 16 to 39 bytes, values have 100 B to
// 2 KiB, and all caches are bound to the same bytes of keys and values; the last table shows how
// each counts. There are 20 million keys for a GiB, which has room for a tenth of them. An eighth
// of the keys has a lifetime, which is longer than a run; that entries go when their time is over
// is checked in a small cache.
//
// The caches are first filled by part of the stream. Then the next part is timed as it is, and one
// more while each operation also makes 2 KiB of garbage, as the rest of a server does. Keys and
// values come in buffers that are used again: a cache that keeps objects makes them, one that
// copies copies. One get of 64 is timed, with the cost of a reading of the clock, which the first
// line states. A Get, with the Set after a miss, is one operation. Processor time is all of the
// process's, with the collector and what a cache does in goroutines of its own. The collector's is
// the runtime's estimate.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"quarry/bench/child"
	"quarry/bench/host"
	"quarry/bench/progress"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // a wrong value, a bound that was not kept, an entry that outlived its time
	exitError = 2 // bad arguments, or no memory
)

// Sizes. Keys and draws are in proportion to the bound.
const (
	usualMiB    = 1024
	quickMiB    = 32
	leastMiB    = 4
	mostMiB     = 4096
	keysPerMiB  = 20_000_000 / 1024
	fillPerMiB  = 12_000_000 / 1024
	timedPerMiB = 6_000_000 / 1024
	maxRounds   = 1000
	childTime   = 20 * time.Minute
)

// result is what -json prints.
type result struct {
	host.Host
	Caches []*row `json:"caches"`
}

type options struct {
	only   []string // contenders; empty: all
	mib    int
	rounds int
	json   bool
}

func command(args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == child.Flag {
		return child.Serve(args[1], stdout, stderr, spec.measure)
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	r := &result{Host: host.Here()}
	if err == nil {
		r.Caches, err = o.measure()
	}
	rows := r.Caches
	if err == nil {
		out := bufio.NewWriter(stdout)
		if o.json {
			e := json.NewEncoder(out)
			e.SetIndent("", "  ")
			err = e.Encode(r)
		} else {
			o.print(out, rows)
		}
		err = errors.Join(err, out.Flush())
	}
	if err != nil {
		fmt.Fprintf(stderr, "cache: %v\n", err)
		return exitError
	}
	if slices.ContainsFunc(rows, func(r *row) bool { return r.wrong() != "" }) {
		return exitWrong
	}
	return exitOK
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	only, quick := "", false
	f := flag.NewFlagSet("cache", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&only, "only", "", "run only these `caches`, with commas: "+strings.Join(names(), ", "))
	f.IntVar(&o.mib, "mib", usualMiB, "the bound, in MiB of keys and values")
	f.IntVar(&o.rounds, "rounds", 3, "run everything this many times and print medians; 1 where -quick is given alone")
	f.BoolVar(&o.json, "json", false, "print an object instead of tables")
	f.BoolVar(&quick, "quick", false, "32 MiB, unless -mib is given")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; flags begin with -", f.Arg(0))
	}
	set := map[string]bool{}
	f.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if set["only"] {
		o.only = strings.Split(only, ",")
	}
	for _, name := range o.only {
		if contenderNamed(name) == nil {
			return nil, fmt.Errorf("-only %s: no such cache %q; there are %s", only, name, strings.Join(names(), ", "))
		}
	}
	if quick && !set["mib"] {
		o.mib = quickMiB
	}
	if quick && !set["rounds"] {
		o.rounds = 1
	}
	if o.mib < leastMiB || o.mib > mostMiB {
		return nil, fmt.Errorf("-mib %d: expected %d to %d", o.mib, leastMiB, mostMiB)
	}
	if o.rounds < 1 || o.rounds > maxRounds {
		return nil, fmt.Errorf("-rounds %d: expected 1 to %d", o.rounds, maxRounds)
	}
	return o, nil
}

func names() (list []string) {
	for _, c := range contenders {
		list = append(list, c.name)
	}
	return list
}

// spec is what a child of a contender has to do.
func (o *options) spec(c *contender) spec {
	return spec{c.name, o.mib << 20, o.mib * keysPerMiB, o.mib * fillPerMiB, o.mib * timedPerMiB}
}

// measure starts all children, one after the other, and returns the rows.
func (o *options) measure() (rows []*row, err error) {
	for i := range contenders {
		c := &contenders[i]
		if len(o.only) == 0 || slices.Contains(o.only, c.name) {
			rows = append(rows, &row{Cache: c.name, Counts: c.counts, c: c})
		}
	}
	show, done := progress.Bar(os.Stderr, o.rounds*len(rows))
	defer done()
	for round := range o.rounds {
		for i, r := range rows {
			show(round*len(rows)+i, r.Cache)
			m, err := child.Start[spec, sample](o.spec(r.c), childTime)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Cache, err)
			}
			r.Samples = append(r.Samples, m)
		}
	}
	return rows, nil
}
