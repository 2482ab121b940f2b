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
	"quarry/bench/server/units"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // sides differ
	exitError = 2 // bad arguments, or no memory
)

// Sizes.
const (
	usualUnits, quickUnits   = 1_000_000, 20_000
	usualFrames, quickFrames = 240, 48
	usualRounds, quickRounds = 3, 1
	maxUnits                 = 16_000_000
	maxRounds, maxFrames     = 1000, 100_000
	childTime                = 20 * time.Minute
)

var (
	sides = []string{units.PlainSide, units.ArkSide, units.CommandsSide, units.DirectSide}
	modes = []units.Mode{
		units.Alone, units.Littered, units.Observed, units.Both, units.Spawning, units.Journaled,
	}
)

// result is what -json prints.
type result struct {
	host.Host
	Units    int    `json:"units"`
	Frames   int    `json:"frames"`
	Fresh    bool   `json:"fresh,omitempty"`
	Pointers bool   `json:"pointers,omitempty"`
	Sides    []*row `json:"sides"`
}

// row is a side with what its children found, one a round.
type row struct {
	Side  string                        `json:"side"`
	Modes map[units.Mode][]units.Sample `json:"modes"`
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == child.Flag {
		return child.Serve(args[1], stdout, stderr, units.Spec.Measure)
	}
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.SetOutput(stderr)
	r := &result{Host: host.Here()}
	f.IntVar(&r.Units, "units", usualUnits, "units in the world")
	f.IntVar(&r.Frames, "frames", usualFrames, "frames")
	f.BoolVar(&r.Pointers, "pointers", false, "also plain Go that links units by pointers")
	f.BoolVar(&r.Fresh, "fresh", false, "plain Go and ark copy states to new memory")
	rounds := f.Int("rounds", usualRounds, "run everything this many times and print medians")
	quick := f.Bool("quick", false, "20,000 units, 48 frames, one round")
	asJSON := f.Bool("json", false, "print an object instead of the table")
	sidesOnly := f.String("side", "", "only sides whose `name` contains this")
	only := f.String("only", "", "only these `modes`: frame,garbage,reader,both,spawns,journal")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitError
	}
	if *quick {
		r.Units, r.Frames, *rounds = quickUnits, quickFrames, quickRounds
	}
	list, err := r.list(*sidesOnly, *only)
	if f.NArg() > 0 || r.Units < units.MinUnits || r.Units > maxUnits || *rounds < 1 || *rounds > maxRounds ||
		r.Frames < units.StateEach || r.Frames > maxFrames || err != nil {
		fmt.Fprintf(stderr,
			"server: expected -units of %d to %d, -rounds of 1 to %d, -frames of %d to %d, modes of %v, and nothing else\n",
			units.MinUnits, maxUnits, maxRounds, units.StateEach, maxFrames, modes)
		return exitError
	}
	if err := r.measure(list, *rounds); err != nil {
		fmt.Fprintf(stderr, "server: %v\n", err)
		return exitError
	}
	out := bufio.NewWriter(stdout)
	defer out.Flush()
	if *asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		_ = e.Encode(r) // an error is the writer's, and Flush keeps it
	} else {
		r.print(out)
	}
	if side := r.differs(); side != "" {
		fmt.Fprintf(stderr, "server: %s ends in another state than %s\n", side, r.Sides[0].Side)
		return exitWrong
	}
	return exitOK
}

// list returns the children of a round, and makes the rows of their sides.
func (r *result) list(side, only string) (list []units.Spec, err error) {
	wanted := modes
	if only != "" {
		wanted = nil
		for _, name := range strings.Split(only, ",") {
			if !slices.Contains(modes, units.Mode(name)) {
				return nil, fmt.Errorf("no mode %q", name)
			}
			wanted = append(wanted, units.Mode(name))
		}
	}
	named := sides
	if r.Pointers {
		named = append(slices.Clone(sides), units.PointersSide)
	}
	for _, name := range named {
		if strings.Contains(name, side) {
			r.Sides = append(r.Sides, &row{name, map[units.Mode][]units.Sample{}})
		}
	}
	for _, m := range wanted {
		for _, s := range r.Sides {
			if m != units.Journaled || s.Side == units.CommandsSide || s.Side == units.DirectSide {
				list = append(list, units.Spec{Side: s.Side, Mode: m, Units: r.Units, Frames: r.Frames, Fresh: r.Fresh})
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no side %q with %q", side, only)
	}
	return list, nil
}

// measure runs all children in turns.
func (r *result) measure(list []units.Spec, rounds int) error {
	show, done := progress.Bar(os.Stderr, rounds*len(list))
	defer done()
	for round := range rounds {
		for i, sp := range list {
			show(round*len(list)+i, sp.Side+", "+string(sp.Mode))
			m, err := child.Start[units.Spec, units.Sample](sp, childTime)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", sp.Side, sp.Mode, err)
			}
			s := r.side(sp.Side)
			s.Modes[sp.Mode] = append(s.Modes[sp.Mode], m)
		}
	}
	return nil
}

// side returns the row of a side, or nil.
func (r *result) side(name string) *row {
	for _, s := range r.Sides {
		if s.Side == name {
			return s
		}
	}
	return nil
}

// differs names a side whose sums are not those of the first with the same frames, or is "".
func (r *result) differs() string {
	first := map[units.Mode]units.Sample{}
	for _, s := range r.Sides {
		for mode, samples := range s.Modes {
			for _, m := range samples {
				if _, ok := first[mode]; !ok {
					first[mode] = m
				}
				if m.Outcome() != first[mode].Outcome() {
					return s.Side
				}
			}
		}
	}
	return ""
}

// read returns what a run with -json has printed.
func read(name string) (*result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
