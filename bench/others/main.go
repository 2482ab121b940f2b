package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // a test fails on our memory only, or counts differ
	exitError = 2 // bad arguments, or a command that could not be run
)

type options struct {
	trial    *trial
	race     bool
	cgo      bool
	guard    bool
	keep     bool
	dir      string
	load     bool
	rounds   int    // of -load
	reads    int    // of -load; 0: a number by the size of the cache
	sizes    []int  // of -load, in MiB
	tags     string // as -tags takes them
	packages []string
	tests    string // as -run of go test takes them; empty: all
	timeout  time.Duration
	stderr   io.Writer // progress, and the output of the go command
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{stderr: stderr}
	f := flag.NewFlagSet("others", flag.ContinueOnError)
	f.SetOutput(stderr)
	packages, sizes := "", ""
	f.BoolVar(&o.race, "race", false, "with the race detector, which needs cgo")
	f.BoolVar(&o.cgo, "cgo", false, "with cgo")
	f.BoolVar(&o.guard, "guard", false, "with a guard around our heap: see wrap.NewGuard")
	f.BoolVar(&o.keep, "keep", false, "keep the copies and say where they are")
	f.StringVar(&o.dir, "dir", "",
		"make the copies in this `folder`, so that the go command knows what it has compiled there before")
	f.BoolVar(&o.load, "load", false, "measure a program that fills and reads a database, instead of running tests")
	f.IntVar(&o.rounds, "rounds", 1, "of -load")
	f.IntVar(&o.reads, "reads", 0, "of random keys by -load; 0: a number by the size of the cache")
	f.StringVar(&sizes, "cache", "256", "`sizes` in MiB of the cache of -load, with commas")
	f.StringVar(&o.tags, "tags", "", "build tags of both copies, such as quarry_debug or the library's own")
	f.StringVar(&packages, "packages", "", "only these `packages`, with commas, such as ./internal/cache")
	f.StringVar(&o.tests, "run", "", "only tests and examples that match this `pattern`, as of go test")
	f.DurationVar(&o.timeout, "timeout", 20*time.Minute, "of each package's tests")
	f.Usage = func() {
		fmt.Fprintf(stderr, "usage: others [flags] library; there are %s\n", trialNames())
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() != 1 {
		return nil, fmt.Errorf("expected flags and then one library; there are %s", trialNames())
	}
	if o.trial = trialNamed(f.Arg(0)); o.trial == nil {
		return nil, fmt.Errorf("no such library %q; there are %s", f.Arg(0), trialNames())
	}
	if packages != "" {
		o.packages = strings.Split(packages, ",")
	}
	for _, size := range strings.Split(sizes, ",") {
		n := 0
		if _, err := fmt.Sscan(size, &n); err != nil || n < 1 {
			return nil, fmt.Errorf("-cache %s: expected sizes in MiB", sizes)
		}
		o.sizes = append(o.sizes, n)
	}
	if o.load && o.trial.program == nil {
		return nil, fmt.Errorf("-load: there is no program for %s", o.trial.name)
	}
	if o.rounds < 1 {
		return nil, fmt.Errorf("-rounds %d: expected at least 1", o.rounds)
	}
	if o.reads < 0 {
		return nil, fmt.Errorf("-reads %d: expected at least 0", o.reads)
	}
	o.cgo = o.cgo || o.race
	return o, nil
}

// arguments returns those of the go command that tests a group.
func (o *options) arguments(g group) []string {
	// One package at a time, so that the times of both copies compare.
	list := []string{"test", "-json", "-count=1", "-p=1", "-vet=off", "-timeout=" + o.timeout.String()}
	if o.race {
		list = append(list, "-race")
	}
	if o.tags != "" {
		list = append(list, "-tags="+o.tags)
	}
	if o.tests != "" {
		list = append(list, "-run="+o.tests)
	}
	return append(append(list, g.flags...), g.packages...)
}

func (o *options) env() []string {
	if o.cgo {
		return []string{"CGO_ENABLED=1"}
	}
	return []string{"CGO_ENABLED=0"}
}

// memory names our memory: a heap, or one with a guard around it.
func (o *options) memory() string {
	if o.guard {
		return "guard"
	}
	return "heap"
}

// side returns the environment in which a copy runs on a memory, where the trial has a variable.
func (o *options) side(memory string) []string {
	if o.trial.variable == "" {
		return nil
	}
	return []string{o.trial.variable + "=" + memory}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	same := true
	if err == nil {
		same, err = o.start(ctx, stdout)
	}
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "others: %v\n", err)
		return exitError
	case !same:
		return exitWrong
	}
	return exitOK
}

// start copies the module and runs its tests. It reports whether both copies did the same.
func (o *options) start(ctx context.Context, stdout io.Writer) (same bool, err error) {
	checkout, err := checkoutDir(ctx)
	if err != nil {
		return false, err
	}
	source, err := download(ctx, o.trial.module, o.trial.version)
	if err != nil {
		return false, err
	}
	s, err := newScratch(ctx, o.dir, source, checkout, o.trial.edits(o), o.trial.modules...)
	if err != nil {
		return false, err
	}
	if o.trial.variable != "" {
		if err := s.share(); err != nil {
			return false, errors.Join(err, s.remove())
		}
	}
	if o.keep {
		fmt.Fprintf(stdout, "copies: %s\n", s.dir)
	} else {
		defer func() { err = errors.Join(err, s.remove()) }()
	}
	if o.load {
		return true, o.measure(ctx, s, stdout)
	}
	return o.compare(ctx, s, stdout)
}

// compare runs the tests of each group in both copies and prints a table, after an error too: of
// what has been run.
func (o *options) compare(ctx context.Context, s *scratch, stdout io.Writer) (same bool, err error) {
	own, ours := runs{}, runs{}
	for _, g := range o.trial.chosen(o) {
		if o.guard && g.unguarded != "" {
			fmt.Fprintf(stdout, "%s: not with a guard: %s\n", strings.Join(g.packages, " "), g.unguarded)
			continue
		}
		began := time.Now()
		if err = own.test(ctx, s.own, g, o, o.side("")...); err == nil {
			err = ours.test(ctx, s.ours, g, o, o.side(o.memory())...)
		}
		if err != nil {
			break
		}
		fmt.Fprintf(o.stderr, "%s: %s\n", strings.Join(g.packages, " "), time.Since(began).Round(time.Second))
	}
	return printRuns(stdout, o.trial.module, own, ours), err
}
