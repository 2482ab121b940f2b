package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// program is a program that uses a library, for -load. It takes -dir, -cache, -keys, -reads,
// -fill and -ascending, and prints figures as one object a phase.
type program struct {
	text string // of its main.go
}

// Sizes of the databases, in entries of about 1 KiB. A cache of up to smallCache MiB reads one that
// each build has filled in random order. A larger one reads one of the cache's size and a tenth,
// which is filled once, in order, so that it takes little of the disk.
const (
	smallKeys  = 500_000
	smallReads = 300_000
	smallCache = 256
	perMiB     = 1024 * 11 / 10
	reads      = 1_000_000
)

// builds of -load, in the order in which each round runs them.
var builds = []build{
	{name: "own, cgo", cgo: "1"},
	{name: "own, no cgo", cgo: "0"},
	{name: "ours, no cgo", cgo: "0", ours: true},
}

type build struct {
	name string
	cgo  string
	ours bool
}

// figures are those of one phase.
type figures struct {
	Phase      string
	Seconds    float64
	CPUSeconds float64
	Peak       float64 // resident bytes
	Heap, Goal float64 // bytes of the Go heap: objects at the end, where the next collection begins
	Cycles     float64 // of the collector
	GCSeconds  float64 // of CPU, with those of one collection at the end
	Cached     float64 // bytes that the block cache held at the end
	Blocks     float64
}

// sample is a run of one phase by one build.
type sample struct {
	build string
	cache int // MiB
	figures
}

// measure builds the program in three ways, runs them in turns and prints a table.
func (o *options) measure(ctx context.Context, s *scratch, stdout io.Writer) error {
	var paths []string
	for i, b := range builds {
		dir := s.own
		if b.ours {
			dir = s.ours
		}
		folder := filepath.Join(dir, "cmd", "others_load")
		if err := apply(folder, []edit{{path: "main.go", text: o.trial.program.text}}); err != nil {
			return err
		}
		path := filepath.Join(s.own, fmt.Sprintf("load%d", i))
		if _, err := command(ctx, folder, append(slices.Clone(alone), "CGO_ENABLED="+b.cgo), "go", "build", "-o", path,
			"."); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	var all []sample
	defer func() { printSamples(stdout, all) }() // after an error too: of what has been run
	for _, cache := range o.sizes {
		list, err := o.measureCache(ctx, s, paths, cache)
		all = append(all, list...)
		if err != nil {
			return err
		}
	}
	return nil
}

// measureCache runs the builds in turns with one size of the cache.
func (o *options) measureCache(ctx context.Context, s *scratch, paths []string, cache int) (all []sample, err error) {
	dir := filepath.Join(s.own, "database")
	keys, n, isShared := smallKeys, smallReads, cache > smallCache
	if isShared {
		keys, n = cache*perMiB, reads
	}
	if o.reads != 0 {
		n = o.reads
	}
	toRead := fmt.Sprintf("-reads=%d", n)
	if isShared {
		if _, err := load(ctx, paths[0], dir, cache, keys, "-fill", "-ascending"); err != nil {
			return nil, err
		}
	}
	for range o.rounds {
		for i, b := range builds {
			var phases []figures
			if !isShared {
				if err := os.RemoveAll(dir); err != nil {
					return all, err
				}
				if phases, err = load(ctx, paths[i], dir, cache, keys, "-fill"); err != nil {
					return all, err
				}
			}
			read, err := load(ctx, paths[i], dir, cache, keys, toRead)
			if err != nil {
				return all, err
			}
			for _, f := range append(phases, read...) {
				all = append(all, sample{b.name, cache, f})
				fmt.Fprintf(o.stderr, "%s, %d MiB: %+v\n", b.name, cache, f)
			}
		}
	}
	return all, os.RemoveAll(dir)
}

// load runs a build of the program once.
func load(ctx context.Context, path, dir string, cache, keys int, flags ...string) ([]figures, error) {
	args := append([]string{"-dir=" + dir, fmt.Sprintf("-cache=%d", cache), fmt.Sprintf("-keys=%d", keys)}, flags...)
	out, err := command(ctx, "", nil, path, args...)
	if err != nil {
		return nil, err
	}
	var list []figures
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var f figures
		switch err := d.Decode(&f); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w: %q", filepath.Base(path), err, out)
		}
		list = append(list, f)
	}
}

// printSamples prints the medians of each phase and build, and beside them what part of the first
// build's they are.
func printSamples(w io.Writer, all []sample) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t,
		"cache\tphase\tbuild\tN\ttime\tof cgo's\tCPU\tpeak RSS\tof cgo's\tGo heap\tcollections\tCPU of GC\tcached\tblocks")
	var firsts []sample
	for _, s := range all {
		isSame := func(f sample) bool { return f.cache == s.cache && f.Phase == s.Phase }
		if slices.ContainsFunc(firsts, isSame) {
			continue
		}
		firsts = append(firsts, s)
		var first figures
		for i, b := range builds {
			f, n := medians(all, func(o sample) bool { return isSame(o) && o.build == b.name })
			if n == 0 {
				continue
			}
			if i == 0 {
				first = f
			}
			fmt.Fprintf(t, "%d MiB\t%s\t%s\t%d\t%.2f s\t%s\t%.2f s\t%s\t%s\t%s\t%.0f\t%.1f %%\t%s\t%.0f\n",
				s.cache, s.Phase, b.name, n, f.Seconds, ratio(f.Seconds, first.Seconds), f.CPUSeconds,
				mib(f.Peak), ratio(f.Peak, first.Peak), mib(f.Heap), f.Cycles, 100*f.GCSeconds/max(f.CPUSeconds, 1e-9),
				mib(f.Cached), f.Blocks)
		}
	}
	t.Flush()
}

func mib(bytes float64) string { return fmt.Sprintf("%.0f MiB", bytes/(1<<20)) }

func ratio(a, b float64) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// medians returns the median of each figure of the samples that are wanted, and their number.
func medians(all []sample, wanted func(sample) bool) (m figures, n int) {
	fields := func(f *figures) []*float64 {
		return []*float64{&f.Seconds, &f.CPUSeconds, &f.Peak, &f.Heap, &f.Goal, &f.Cycles, &f.GCSeconds,
			&f.Cached, &f.Blocks}
	}
	columns := make([][]float64, len(fields(&m)))
	for _, s := range all {
		if wanted(s) {
			n++
			for i, v := range fields(&s.figures) {
				columns[i] = append(columns[i], *v)
			}
		}
	}
	if n == 0 {
		return m, 0
	}
	for i, v := range fields(&m) {
		slices.Sort(columns[i])
		*v = (columns[i][(n-1)/2] + columns[i][n/2]) / 2
	}
	return m, n
}
