// Command memory measures Quarry's universe and heap next to Go's make, sync.Pool,
// modernc.org/memory, allocators of C and null allocators, and reports which targets hold. Each
// workload and allocator runs in a process of its own, several times, in turns; figures are medians
// of the rounds. It exits with 1 if a byte was not as written or sums did not add up, and with 2
// if it could not run; a target that does not hold is reported but is not a failure.
//
//	go run ./bench/memory                      everything, about ten minutes
//	go run ./bench/memory -quick               everything, smaller
//	go run ./bench/memory -only chunk-pair,traces -rounds 5
//	go run ./bench/memory -only fragment,huge,growth
//	go run ./bench/memory -only blocks,pages
//	go run ./bench/memory -only larson,xmalloc,mstress
//	go run ./bench/memory -json
//
// Recorded traces are read from alloc in the folder that QUARRY_DATA names, or in shared/data of
// the nearest folder above that has one. Without them only the trace that bench/trace generates is
// replayed.
//
// Where there is a C compiler ($CC or cc), on Linux, a small program of C makes the same calls as
// the Go side in traces, fragment, huge, growth, larson, xmalloc and mstress, on glibc's malloc
// and, preloaded, on jemalloc, mimalloc 2 and 3 and tcmalloc where their libraries are found: in
// the folders of LD_LIBRARY_PATH and in those where systems keep libraries. What is not there is
// left out, with a line on standard error.
//
// The null allocator hands out places that were made before: its rows are the cost of the harness.
// C has one of its own. Percentiles are of single steps, sampled as described in sampler.go, and of
// the Go side only. Resident memory and faults are known on Linux only. Under -quick, amounts of
// memory and numbers of blocks are not judged.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"quarry/bench/child"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // a byte was not as written, blocks overlapped, books did not add up
	exitError = 2 // bad arguments or input, or no memory
)

// maxRounds bounds -rounds: all rounds are listed before the first one runs.
const maxRounds = 1000

type options struct {
	only   []string // workloads; empty: all
	rounds int
	json   bool
	quick  bool
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == child.Flag {
		return child.Serve(args[1], stdout, stderr, spec.runAsAsked)
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var rows []*row
	var ref *reference
	if err == nil {
		rows, ref, err = o.measure(stderr)
	}
	if err == nil && o.json {
		err = printJSON(stdout, rows)
	}
	if err != nil {
		fmt.Fprintf(stderr, "memory: %v\n", err)
		return exitError
	}
	if !o.json {
		out := bufio.NewWriter(stdout)
		printMachine(out)
		printRows(out, rows)
		printHeld(out, rows)
		printTraces(out, rows, ref)
		if err := out.Flush(); err != nil {
			fmt.Fprintf(stderr, "memory: %v\n", err)
			return exitError
		}
	}
	if slices.ContainsFunc(rows, func(r *row) bool { return r.wrong != "" }) {
		return exitWrong
	}
	return exitOK
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	only := ""
	f := flag.NewFlagSet("memory", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&only, "only", "", "run only these `workloads`, with commas: "+strings.Join(names(), ", "))
	f.IntVar(&o.rounds, "rounds", 3, "run everything this many times and print medians; 1 where -quick is given alone")
	f.BoolVar(&o.json, "json", false, "print an array of objects instead of tables")
	f.BoolVar(&o.quick, "quick", false, "less work: under 0.2 s each, large recordings left out")
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
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("-only %s: no such workload %q; there are %s",
				only, name, strings.Join(names(), ", "))
		}
	}
	if o.rounds < 1 || o.rounds > maxRounds {
		return nil, fmt.Errorf("-rounds %d: expected 1 to %d", o.rounds, maxRounds)
	}
	if o.quick && !set["rounds"] {
		o.rounds = 1
	}
	return o, nil
}

// wants reports whether a workload is to run.
func (o *options) wants(name string) bool {
	return len(o.only) == 0 || slices.Contains(o.only, family(name))
}

// wantsPeers reports whether a workload is to run that the allocators of C take part in.
func (o *options) wantsPeers() bool {
	return o.wants(tracesName) ||
		slices.ContainsFunc(workloads, func(w workload) bool { return w.args != nil && o.wants(w.name) })
}
