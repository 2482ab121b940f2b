package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"quarry/bench/child"
	"quarry/bench/progress"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // an entrant's result was wrong
	exitError = 2 // bad arguments, or no memory
)

// Limits of the flags.
const (
	maxRounds = 1000
	maxN      = 64 * million
)

type options struct {
	only   []string // workloads; empty: all
	n      int      // 0: the sizes of the workload
	rounds int
	json   bool
	quick  bool

	check   bool
	harness string // where the peers' harness is cloned from

	summary []string // files of runs to print side by side
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == child.Flag {
		return child.Serve(args[1], stdout, stderr, spec.run)
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	isWrong := false
	switch {
	case err != nil:
	case o.summary != nil:
		var s *summary
		if s, err = readSummary(o.summary); err == nil {
			s.print(stdout)
		}
	case o.check:
		isWrong, err = o.compare(stdout)
	default:
		isWrong, err = o.measure(stdout)
	}
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return exitError
	case isWrong:
		return exitWrong
	}
	return exitOK
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	only, files := "", ""
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&only, "only", "", "run only these `workloads`, with commas: "+nameList())
	f.IntVar(&o.n, "n", 0, "run with this many `entities` instead of each workload's sizes, or as many as it can")
	f.IntVar(&o.rounds, "rounds", 15, "run everything this many times and print medians; 1 where -quick is given alone")
	f.BoolVar(&o.json, "json", false, "print an array of objects instead of tables")
	f.BoolVar(&o.quick, "quick", false, "see that it works: samples of 2 ms, at most 16,000 entities")
	f.BoolVar(&o.check, "check", false,
		"compare the peers with what their own harness, go-ecs-benchmarks, makes of them")
	f.StringVar(&o.harness, "harness", harnessURL, "clone the harness of -check from this `folder` or URL")
	f.StringVar(&files, "summary", "",
		"measure nothing: print the `files` of several runs with -json, with commas, side by side in Markdown")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if files != "" {
		o.summary = strings.Split(files, ",")
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
		if workloadNamed(name) == nil {
			return nil, fmt.Errorf("-only %s: no such workload %q; there are %s", only, name, nameList())
		}
	}
	if o.rounds < 1 || o.rounds > maxRounds {
		return nil, fmt.Errorf("-rounds %d: expected 1 to %d", o.rounds, maxRounds)
	}
	if set["n"] && (o.n < 1 || o.n > maxN) {
		return nil, fmt.Errorf("-n %d: expected 1 to %d", o.n, maxN)
	}
	if set["harness"] && !o.check {
		return nil, fmt.Errorf("-harness %s: it is for -check", o.harness)
	}
	if o.quick && !set["rounds"] {
		o.rounds = 1
	}
	return o, nil
}

// sizes returns the sizes to run a workload with.
func (o *options) sizes(w *workload) []int {
	if o.n > 0 {
		return []int{min(o.n, w.most())}
	}
	if !o.quick {
		return w.sizes
	}
	var list []int
	for _, n := range w.sizes {
		if n = min(n, usual); !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// measure runs the wanted workloads and prints the results; for a table, each result as soon as it
// is there. It reports whether a result was wrong.
func (o *options) measure(stdout io.Writer) (isWrong bool, err error) {
	b := wholeBudget
	if o.quick {
		b = quickBudget
	}
	out := stdout
	if o.json {
		out = io.Discard
	}
	printed := &firstError{w: out}
	printMachine(printed)
	var results []*result
	for i := range workloads {
		w := &workloads[i]
		if len(o.only) > 0 && !slices.Contains(o.only, w.name) || len(waysOf(w.name)) == 0 {
			continue
		}
		for _, n := range o.sizes(w) {
			r := newResult(w, n, o.rounds)
			show, end := progress.Bar(os.Stderr, o.rounds*len(r.list))
			err := r.measure(b, show)
			end()
			if err != nil {
				return false, fmt.Errorf("%s, n = %d: %w", w.name, n, err)
			}
			isWrong = isWrong || slices.ContainsFunc(r.list, func(c *contender) bool { return c.wrong != "" })
			results = append(results, r)
			r.print(printed)
		}
	}
	if o.json {
		return isWrong, printJSON(stdout, results)
	}
	return isWrong, printed.err
}

// firstError is a writer that keeps the first error.
type firstError struct {
	w   io.Writer
	err error
}

// Write continues after an error.
func (f *firstError) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if f.err == nil {
		f.err = err
	}
	return n, err
}
