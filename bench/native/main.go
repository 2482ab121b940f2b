package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"quarry/asm"
	"quarry/bench/progress"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // a result was wrong
	exitError = 2 // bad arguments, or a requested library is missing
)

// Time for the passes of an entrant in a round.
const (
	wholeBudget = 20 * time.Millisecond
	quickBudget = 2 * time.Millisecond
	maxRounds   = 1000
)

type options struct {
	entt, flecs string
	only        []string
	rounds      int
	quick, json bool
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	only := ""
	f := flag.NewFlagSet("native", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.entt, "entt", "", "the `folder` of EnTT")
	f.StringVar(&o.flecs, "flecs", "", "the `folder` of flecs.h and flecs.c")
	f.StringVar(&only, "only", "", "run only these `rows`, with commas: "+nameList())
	f.IntVar(&o.rounds, "rounds", 7, "run everything this many times; 1 where -quick is given alone")
	f.BoolVar(&o.quick, "quick", false, "see that it works: samples of 2 ms, at most 16,000 entities")
	f.BoolVar(&o.json, "json", false, "print an array of objects instead of a table")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	set := map[string]bool{}
	f.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if o.quick && !set["rounds"] {
		o.rounds = 1
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q; flags begin with -", f.Arg(0))
	case o.rounds < 1 || o.rounds > maxRounds:
		return nil, fmt.Errorf("-rounds %d: expected 1 to %d", o.rounds, maxRounds)
	case set["only"]:
		o.only = strings.Split(only, ",")
	}
	for _, name := range o.only {
		if rowNamed(name) == nil {
			return nil, fmt.Errorf("-only %s: no such row %q; there are %s", only, name, nameList())
		}
	}
	return o, nil
}

func nameList() string {
	var list []string
	for i := range rows {
		list = append(list, rows[i].name)
	}
	return strings.Join(list, ", ")
}

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	isWrong := false
	if err == nil {
		isWrong, err = o.measure(stdout, stderr)
	}
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "native: %v\n", err)
		return exitError
	case isWrong:
		return exitWrong
	}
	return exitOK
}

// programs compiles a program for each library found, and reports which are missing. It is an error
// if a folder given by a flag has no library.
func (o *options) programs(dir string, stderr io.Writer) (list []*program, compiler string, err error) {
	if err := writeSources(dir); err != nil {
		return nil, "", err
	}
	t, err := findToolchain()
	if err != nil {
		fmt.Fprintf(stderr, "native: %v: the rows of Go stand alone\n", err)
		return nil, "none", nil
	}
	found := []library{{name: "arrays"}}
	for _, l := range []struct {
		dir  string
		find func(string) (library, error)
	}{{o.entt, findEnTT}, {o.flecs, findFlecs}} {
		lib, err := l.find(l.dir)
		switch {
		case err == nil:
			found = append(found, lib)
		case l.dir != "":
			return nil, "", err
		default:
			fmt.Fprintf(stderr, "native: %v\n", err)
		}
	}
	for _, l := range found {
		p, err := t.compile(dir, l)
		if err != nil {
			return nil, "", fmt.Errorf("compiling the program of %s: %w", l.name, err)
		}
		list = append(list, p)
	}
	return list, t.version(), nil
}

// measure runs the wanted rows and prints them. It reports whether a result was wrong.
func (o *options) measure(stdout, stderr io.Writer) (isWrong bool, err error) {
	dir, err := os.MkdirTemp("", "quarry-native-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	programs, compiler, err := o.programs(dir, stderr)
	if err != nil {
		return false, err
	}
	g, err := buildGoRows(dir)
	if err != nil {
		return false, err
	}
	results := o.results(g, programs)
	budget := wholeBudget
	if o.quick {
		budget = quickBudget
	}
	show, end := progress.Bar(os.Stderr, len(results))
	var list []entry
	for i, r := range results {
		show(i, fmt.Sprintf("%s, n = %d", r.row.name, r.n))
		if err := r.measure(o.rounds, budget); err != nil {
			end()
			return false, err
		}
		list = append(list, r.entries()...)
	}
	end()
	isWrong = slices.ContainsFunc(list, func(e entry) bool { return e.Wrong != "" })
	if o.json {
		return isWrong, printJSON(stdout, list)
	}
	versions := []string{g.ark}
	for _, p := range programs {
		versions = append(versions, p.version)
	}
	fmt.Fprintf(stdout, "cpu        %s, %d of %d cores, %s\ncompiler   %s\nlibraries  %s\n\n", asm.CPUName(),
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), compiler, strings.Join(versions, ", "))
	return isWrong, printTable(stdout, list)
}

// results returns the wanted rows at their sizes.
func (o *options) results(g *goRows, programs []*program) (list []*result) {
	for i := range rows {
		r := &rows[i]
		if o.only != nil && !slices.Contains(o.only, r.name) {
			continue
		}
		var sizes []int
		for _, n := range r.sizes {
			if o.quick {
				n = min(n, usual)
			}
			if !slices.Contains(sizes, n) {
				sizes = append(sizes, n)
				list = append(list, newResult(r, n, g, programs))
			}
		}
	}
	return list
}
