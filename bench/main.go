// Command bench runs real workloads on Quarry and on plain Go, checks both
// against known answers, and prints what they cost. It exits with 1 when an
// answer is wrong and with 2 when it could not do what was asked.
//
//	go run ./bench                    all workloads on built-in input
//	go run ./bench -only life -rle glider.rle -gens 1000
//	go run ./bench -only orbits -catalog MPCORB.DAT.gz -o out
//	go run ./bench -only trace -trace amptjp.rep
//	go run ./bench -json
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/bench/iterate"
	"quarry/bench/life"
	"quarry/bench/orbits"
	"quarry/bench/trace"
	"quarry/bench/workload"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // an answer was wrong
	exitError = 2 // bad arguments or input, or no memory
)

type options struct {
	only, rle, rule, catalog, trace, dir string
	gens                                 int
	json                                 bool
}

// job is one workload as the command knows it.
type job struct {
	name, unit string
	run        func(o *options, p workload.Progress) (plain, ours workload.Side, err error)
}

var jobs = []job{
	{"iterate", "entities", func(_ *options, p workload.Progress) (workload.Side, workload.Side, error) {
		return iterate.Run(p)
	}},
	{"life", "cells", runLife},
	{"orbits", "places", runOrbits},
	{"trace", "calls", func(o *options, p workload.Progress) (workload.Side, workload.Side, error) {
		return trace.Run(trace.Options{File: o.trace}, p)
	}},
}

func runLife(o *options, p workload.Progress) (plain, ours workload.Side, err error) {
	opts := life.Options{RLE: o.rle, Gens: o.gens}
	if o.rule != "" {
		if opts.Rule, err = life.ParseRule(o.rule); err != nil {
			return plain, ours, fmt.Errorf("-rule: %w", err)
		}
	}
	return life.Run(opts, p)
}

func runOrbits(o *options, p workload.Progress) (plain, ours workload.Side, err error) {
	opts := orbits.Options{Catalog: o.catalog}
	if o.dir != "" {
		if err := os.MkdirAll(o.dir, 0o755); err != nil {
			return plain, ours, fmt.Errorf("%w (another folder: -o DIR; no picture: -o \"\")", err)
		}
		opts.PNG = filepath.Join(o.dir, "orbits.png")
	}
	plain, ours, err = orbits.Run(opts, p)
	if opts.PNG != "" {
		ours.Lines = append(ours.Lines, "drawn to "+opts.PNG)
	}
	return plain, ours, err
}

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil {
		err = o.check()
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return exitError
	}
	if !o.json {
		if err := printMachine(stdout); err != nil {
			fmt.Fprintf(stderr, "bench: %v\n", err)
			return exitError
		}
		fmt.Fprintln(stdout)
	}
	results, err := o.runAll()
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return exitError
	}
	if o.json {
		err = printJSON(stdout, results)
	} else {
		out := bufio.NewWriter(stdout)
		printTable(out, results)
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return exitError
	}
	if slices.ContainsFunc(results, func(r result) bool { return !r.ok() }) {
		return exitWrong
	}
	return exitOK
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.only, "only", "", "run only this workload: "+names())
	f.StringVar(&o.rle, "rle", "", "life: run the pattern in this RLE `file`")
	f.IntVar(&o.gens, "gens", 0, "life: run this many generations (0: up to the known answers, 1000 for a file)")
	f.StringVar(&o.rule, "rule", "", "life: break the rule on purpose, as in B36/S23; the answers stay those of B3/S23")
	f.StringVar(&o.catalog, "catalog", "", "orbits: read bodies from this MPCORB `file`, plain or .gz")
	f.StringVar(&o.trace, "trace", "", "trace: replay this `file`: malloclab .rep, AOSP text or zip, wee_alloc")
	f.StringVar(&o.dir, "o", "out", "write pictures into this `folder`; empty: draw none")
	f.BoolVar(&o.json, "json", false, "print an array of objects instead of a table")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; flags begin with -", f.Arg(0))
	}
	return o, nil
}

func names() string {
	var all []string
	for _, j := range jobs {
		all = append(all, j.name)
	}
	return strings.Join(all, ", ")
}

// check refuses options before anything runs.
func (o *options) check() error {
	if o.only != "" && !slices.ContainsFunc(jobs, func(j job) bool { return j.name == o.only }) {
		return fmt.Errorf("-only %s: no such workload; there are %s", o.only, names())
	}
	for _, in := range []struct{ flag, path, workload string }{
		{"-rle", o.rle, "life"}, {"-rule", o.rule, "life"}, {"-catalog", o.catalog, "orbits"}, {"-trace", o.trace, "trace"},
	} {
		if in.path == "" {
			continue
		}
		if o.only != "" && o.only != in.workload {
			return fmt.Errorf("%s is input for %s, but -only %s leaves that out", in.flag, in.workload, o.only)
		}
		if in.flag == "-rule" {
			continue
		}
		if s, err := os.Stat(in.path); err != nil {
			return err
		} else if s.IsDir() {
			return fmt.Errorf("%s is a folder, expected a file", in.path)
		} else if !s.Mode().IsRegular() {
			return fmt.Errorf("%s is not an ordinary file", in.path)
		}
	}
	return nil
}

// named puts the workload's name before an error that does not begin with it.
func named(name string, err error) error {
	if strings.HasPrefix(err.Error(), name+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (o *options) runAll() ([]result, error) {
	var results []result
	for _, j := range jobs {
		if o.only != "" && o.only != j.name {
			continue
		}
		show, done := bar(os.Stderr, j.name)
		plain, ours, err := j.run(o, show)
		done()
		if err != nil {
			return nil, named(j.name, err)
		}
		results = append(results, result{j.name, j.unit, plain, ours})
	}
	return results, nil
}
