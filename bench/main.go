// Command bench runs real workloads on Quarry and on plain Go, checks both against known answers,
// and prints what they cost. It writes a page with plots of all measurements. It exits with 1 if an
// answer is wrong and with 2 if it could not run.
//
//	go run ./bench                    all workloads on built-in input, out/report.html, in two minutes
//	go run ./bench -full              with the sizes that the pages have figures of, in five
//	go run ./bench -quick             less of each, in under 20 s
//	go run ./bench -peers peers.json  draws what go run ./bench/peers -json wrote, too
//	go run ./bench -only life -rle glider.rle -gens 1000
//	go run ./bench -only orbits -catalog MPCORB.DAT.gz -o out
//	go run ./bench -only trace -trace amptjp.rep
//	go run ./bench -only churn -records 1000000
//	go run ./bench -only rollback
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

	"quarry/bench/child"
	"quarry/bench/churn"
	"quarry/bench/city"
	"quarry/bench/dashboard"
	"quarry/bench/iterate"
	"quarry/bench/life"
	"quarry/bench/micro"
	"quarry/bench/orbits"
	"quarry/bench/rollback"
	"quarry/bench/server/units"
	"quarry/bench/snapshot"
	"quarry/bench/trace"
	"quarry/bench/undo"
	"quarry/bench/workload"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // an answer was wrong
	exitError = 2 // bad arguments or input, or no memory
)

// Sizes of orbits and life that are not full.
const (
	usualPlaces, quickPlaces = 8_000_000, 4_000_000
	usualRepeat, quickRepeat = 2, 1
)

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
	{"churn", "requests", runChurn},
	{"snapshot", "rounds", func(o *options, p workload.Progress) (workload.Side, workload.Side, error) {
		return snapshot.Run(pick(o, snapshot.Options{}, snapshot.Usual, snapshot.Quick), p)
	}},
	{"rollback", "frames", func(o *options, p workload.Progress) (workload.Side, workload.Side, error) {
		return rollback.Run(pick(o, rollback.Options{}, rollback.Usual, rollback.Quick), p)
	}},
	{"undo", "steps", func(o *options, p workload.Progress) (workload.Side, workload.Side, error) {
		return undo.Run(pick(o, undo.Options{}, undo.Usual, undo.Quick), p)
	}},
	{"dashboard", "frames", func(o *options, p workload.Progress) (workload.Side, workload.Side, error) {
		return dashboard.Run(pick(o, dashboard.Options{}, dashboard.Usual, dashboard.Quick), p)
	}},
	{"city", "frames", func(o *options, p workload.Progress) (workload.Side, workload.Side, error) {
		return city.Run(pick(o, city.Options{}, city.Usual, city.Quick), p)
	}},
	{"server", "units", func(o *options, p workload.Progress) (workload.Side, workload.Side, error) {
		return units.Run(pick(o, units.Options{}, units.Usual, units.Quick), p)
	}},
}

// pick returns the value for -full, -quick or neither.
func pick[O any](o *options, full, usual, quick O) O {
	switch {
	case o.full:
		return full
	case o.quick:
		return quick
	}
	return usual
}

func runChurn(o *options, p workload.Progress) (plain, ours workload.Side, err error) {
	opts := churn.Options{Records: o.records}
	if opts.Records == 0 {
		opts.Records = pick(o, churn.Records, churn.UsualRecords, churn.QuickRecords)
	}
	if o.dir != "" {
		opts.PNG = filepath.Join(o.dir, "churn.png")
	}
	plain, ours, err = churn.Run(opts, p)
	if ours.Picture != "" {
		ours.Lines = append(ours.Lines, "drawn to "+ours.Picture)
	}
	return plain, ours, err
}

func runLife(o *options, p workload.Progress) (plain, ours workload.Side, err error) {
	opts := life.Options{RLE: o.rle, Gens: o.gens}
	if o.rle == "" { // a file is played once
		opts.Repeat = pick(o, 0, usualRepeat, quickRepeat)
	}
	if o.rule != "" {
		if opts.Rule, err = life.ParseRule(o.rule); err != nil {
			return plain, ours, fmt.Errorf("-rule: %w", err)
		}
	}
	return life.Run(opts, p)
}

func runOrbits(o *options, p workload.Progress) (plain, ours workload.Side, err error) {
	opts := orbits.Options{Catalog: o.catalog, Places: pick(o, 0, usualPlaces, quickPlaces)}
	if o.dir != "" {
		opts.PNG = filepath.Join(o.dir, "orbits.png")
	}
	plain, ours, err = orbits.Run(opts, p)
	if ours.Picture != "" {
		ours.Lines = append(ours.Lines, "drawn to "+ours.Picture)
	}
	return plain, ours, err
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == child.Flag { // one way of churn, in a process of its own
		return churn.Serve(args[1], stdout, stderr)
	}
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
	results, err := o.measure(stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		if errors.Is(err, micro.ErrWrong) {
			return exitWrong
		}
		return exitError
	}
	if slices.ContainsFunc(results, func(r result) bool { return !r.ok() }) {
		return exitWrong
	}
	return exitOK
}

// measure runs everything, prints it, and writes the report.
func (o *options) measure(stdout, stderr io.Writer) ([]result, error) {
	facts, err := machine()
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(stdout)
	if !o.json {
		printMachine(out, facts)
		if err := out.Flush(); err != nil { // the table is read while the workloads run
			return nil, err
		}
	}
	results, err := o.runAll()
	if err != nil {
		return nil, err
	}
	tables, err := o.benchmarks()
	if err != nil {
		return nil, err
	}
	if o.json {
		err = printJSON(out, results, tables)
	} else {
		if len(results) > 0 {
			printTable(out, results)
		}
		printBenchmarks(out, tables)
	}
	path := ""
	if err == nil && o.dir != "" {
		path, err = o.report(facts, results, tables)
	}
	switch {
	case path != "" && o.json:
		fmt.Fprintf(stderr, "report: %s\n", path) // out holds at most one array
	case path != "":
		fmt.Fprintf(out, "\nreport: %s\n", path)
	}
	return results, errors.Join(err, out.Flush())
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
		show, done := bar(j.name)
		plain, ours, err := j.run(o, show)
		done()
		if err != nil {
			return nil, named(j.name, err)
		}
		results = append(results, result{j.name, j.unit, plain, ours})
	}
	return results, nil
}
