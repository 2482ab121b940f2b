package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"quarry/bench/report"
)

// options has the values of the flags.
type options struct {
	args                                        []string
	only, rle, rule, catalog, trace, dir, peers string
	gens, records                               int
	json, quick, full                           bool
	rivals                                      []report.Peer // what the file of -peers holds
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{args: args}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.only, "only", "", "run only this: "+names())
	f.StringVar(&o.rle, "rle", "", "life: run the pattern in this RLE `file`")
	f.IntVar(&o.gens, "gens", 0, "life: run this many generations (0: up to the known answers, 1000 for a file)")
	f.IntVar(&o.records, "records", 0,
		"churn: have this many records live (0: 1,000,000, with -full 4,000,000, with -quick 200,000)")
	f.StringVar(&o.rule, "rule", "", "life: break the rule on purpose, as in B36/S23; the answers stay those of B3/S23")
	f.StringVar(&o.catalog, "catalog", "", "orbits: read bodies from this MPCORB `file`, plain or .gz")
	f.StringVar(&o.trace, "trace", "", "trace: replay this `file`: malloclab .rep, AOSP text or zip, wee_alloc")
	f.StringVar(&o.dir, "o", "out", "write report.html and pictures into this `folder`; empty: write none")
	f.StringVar(&o.peers, "peers", "", "draw this `file` in the report, too: what go run ./bench/peers -json wrote")
	f.BoolVar(&o.quick, "quick", false, "measure less of everything: under 20 s in all")
	f.BoolVar(&o.full, "full", false,
		"measure everything at the sizes that the pages have figures of: five minutes in all")
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
	return strings.Join(append(all, benchmarks), ", ")
}

// check refuses bad options before anything runs, and makes the folder.
func (o *options) check() error {
	if o.only != "" && o.only != benchmarks &&
		!slices.ContainsFunc(jobs, func(j job) bool { return j.name == o.only }) {
		return fmt.Errorf("-only %s: no such workload; there are %s", o.only, names())
	}
	for _, in := range []struct{ flag, path, workload string }{
		{"-rle", o.rle, "life"}, {"-rule", o.rule, "life"}, {"-catalog", o.catalog, "orbits"},
		{"-trace", o.trace, "trace"},
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
		if err := ordinary(in.path); err != nil {
			return err
		}
	}
	if o.records != 0 && o.only != "" && o.only != "churn" {
		return fmt.Errorf("-records is input for churn, but -only %s leaves that out", o.only)
	}
	if o.quick && o.full {
		return errors.New("-quick and -full: expected one of them")
	}
	if o.records < 0 {
		return fmt.Errorf("-records %d: expected a number of records", o.records)
	}
	if o.dir != "" {
		if err := os.MkdirAll(o.dir, 0o755); err != nil {
			return fmt.Errorf("%w (another folder: -o DIR; no report: -o \"\")", err)
		}
	}
	return o.readPeers()
}

// ordinary refuses a path that is not a regular file: reading it might never end.
func ordinary(path string) error {
	s, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case s.IsDir():
		return fmt.Errorf("%s is a folder, expected a file", path)
	case !s.Mode().IsRegular():
		return fmt.Errorf("%s is not an ordinary file", path)
	}
	return nil
}

// readPeers reads the file of -peers.
func (o *options) readPeers() error {
	if o.peers == "" {
		return nil
	}
	if o.dir == "" {
		return errors.New("-peers is drawn in the report, but -o \"\" leaves that out")
	}
	if err := ordinary(o.peers); err != nil {
		return err
	}
	f, err := os.Open(o.peers)
	if err != nil {
		return err
	}
	defer f.Close()
	if o.rivals, err = report.ReadPeers(f); err != nil {
		return fmt.Errorf("-peers %s: %w", o.peers, err)
	}
	return nil
}
