package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"quarry/bench/progress"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // the programs print different text
	exitError = 2 // bad arguments, or a build failed
)

const (
	maxTypes  = 200
	maxRounds = 100
)

var errDiffer = errors.New("compile: the programs print something else")

type options struct {
	types, rounds int
	json          bool
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("compile", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.types, "types", 20, "component types of a program")
	f.IntVar(&o.rounds, "rounds", 5, "build everything this many times")
	f.BoolVar(&o.json, "json", false, "print an array of objects instead of a table")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q; flags begin with -", f.Arg(0))
	case o.types < 1 || o.types > maxTypes:
		return nil, fmt.Errorf("-types %d: expected 1 to %d", o.types, maxTypes)
	case o.rounds < 1 || o.rounds > maxRounds:
		return nil, fmt.Errorf("-rounds %d: expected 1 to %d", o.rounds, maxRounds)
	}
	return o, nil
}

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var rows []row
	if err == nil {
		rows, err = measure(o)
	}
	if err == nil {
		err = report(stdout, o, rows)
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDiffer):
		fmt.Fprintln(stderr, err)
		return exitWrong
	}
	fmt.Fprintln(stderr, "compile:", err)
	return exitError
}

// A row is one way to build, with a sample for each library and round.
type row struct {
	name    string
	samples [][]time.Duration // by library, then round
}

// measure builds the programs in all rounds and compares what they print.
func measure(o *options) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "quarry-compile-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	l, err := newLab(dir, o.types)
	if err != nil {
		return nil, err
	}
	show, end := progress.Bar(os.Stderr, 2+2*o.rounds*len(libraries))
	defer end()
	done := 0
	step := func(name string) {
		show(done, name)
		done++
	}
	step("the standard library")
	standard, built := filepath.Join(dir, "standard"), filepath.Join(dir, "built")
	if err := l.standard(standard); err != nil {
		return nil, err
	}
	step("what the programs import")
	if err := l.warm(built); err != nil {
		return nil, err
	}
	cold := row{"cold", make([][]time.Duration, len(libraries))}
	edit := row{"edit", make([][]time.Duration, len(libraries))}
	for round := range o.rounds {
		for i := range libraries {
			i := (i + round) % len(libraries)
			lib := libraries[i]
			step(lib.name + ", cold")
			took, err := l.cold(lib, standard)
			if err != nil {
				return nil, err
			}
			cold.samples[i] = append(cold.samples[i], took)
			step(lib.name + ", edited")
			if err = l.edit(lib); err == nil {
				took, err = l.build(lib, built)
			}
			if err != nil {
				return nil, err
			}
			edit.samples[i] = append(edit.samples[i], took)
		}
	}
	return []row{edit, cold}, nil
}

// warm builds both programs, so that the cache has their imports, and compares what they print.
func (l *lab) warm(cache string) error {
	var first string
	for i, lib := range libraries {
		if _, err := l.build(lib, cache); err != nil {
			return err
		}
		printed, err := l.run(lib)
		if err != nil {
			return err
		}
		if i == 0 {
			first = printed
		} else if printed != first {
			return fmt.Errorf("%w: %s %q, %s %q", errDiffer, libraries[0].name, first, lib.name, printed)
		}
	}
	return nil
}

// cold builds a program in a copy of the cache that holds only the standard library.
func (l *lab) cold(lib library, standard string) (time.Duration, error) {
	cache := filepath.Join(l.dir, "cold")
	if err := os.RemoveAll(cache); err != nil {
		return 0, err
	}
	if err := os.CopyFS(cache, os.DirFS(standard)); err != nil {
		return 0, err
	}
	return l.build(lib, cache)
}

// figure is the printed result for one library in one row.
type figure struct {
	Build   string  `json:"build"`
	Library string  `json:"library"`
	Types   int     `json:"types"`
	Seconds float64 `json:"seconds"` // processor time: the median
	Least   float64 `json:"least"`
	Ratio   float64 `json:"ratio"` // to ark, the median of the rounds' ratios
}

func figures(o *options, rows []row) (all []figure) {
	for _, r := range rows {
		peer := r.samples[len(libraries)-1]
		for i, lib := range libraries {
			var seconds, ratios []float64
			for round, took := range r.samples[i] {
				seconds = append(seconds, took.Seconds())
				ratios = append(ratios, float64(took)/float64(peer[round]))
			}
			slices.Sort(seconds)
			slices.Sort(ratios)
			all = append(all, figure{r.name, lib.name, o.types, seconds[len(seconds)/2], seconds[0],
				ratios[len(ratios)/2]})
		}
	}
	return all
}

func report(out io.Writer, o *options, rows []row) error {
	all := figures(o, rows)
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	fmt.Fprintf(out, "%s %s/%s, programs of %d component types, %d rounds; seconds of processor time\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, o.types, o.rounds)
	for _, f := range all {
		if _, err := fmt.Fprintf(out, "%-6s %-8s %6.2f (least %.2f)  %.2f of ark\n",
			f.Build, f.Library, f.Seconds, f.Least, f.Ratio); err != nil {
			return err
		}
	}
	return nil
}
