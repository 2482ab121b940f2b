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
	"text/tabwriter"
	"time"

	"quarry/bench/child"
	"quarry/bench/host"
	"quarry/bench/progress"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

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
	maxUnits, maxRounds      = 16_000_000, 1000
	childTime                = 20 * time.Minute
)

var sides = []string{plainSide, arkSide, quarrySide}

// result is what -json prints.
type result struct {
	host.Host
	Units  int    `json:"units"`
	Frames int    `json:"frames"`
	Sides  []*row `json:"sides"`
}

// row is a side with what its children found, one a round.
type row struct {
	Side    string   `json:"side"`
	Samples []sample `json:"samples"`
}

func command(args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == child.Flag {
		return child.Serve(args[1], stdout, stderr, spec.measure)
	}
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.SetOutput(stderr)
	r := &result{Host: host.Here(), Units: usualUnits, Frames: usualFrames}
	f.IntVar(&r.Units, "units", usualUnits, "units at the beginning")
	rounds := f.Int("rounds", usualRounds, "run everything this many times and print medians")
	quick := f.Bool("quick", false, "20,000 units, 48 frames, one round")
	asJSON := f.Bool("json", false, "print an object instead of the table")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitError
	}
	if *quick {
		r.Units, r.Frames, *rounds = quickUnits, quickFrames, quickRounds
	}
	if f.NArg() > 0 || r.Units < stunned+removed+hits || r.Units > maxUnits || *rounds < 1 || *rounds > maxRounds {
		fmt.Fprintf(stderr, "server: expected -units of %d to %d, -rounds of 1 to %d, and nothing else\n",
			stunned+removed+hits, maxUnits, maxRounds)
		return exitError
	}
	if err := r.measure(*rounds); err != nil {
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
		fmt.Fprintf(stderr, "server: %s ends in another state than %s\n", side, sides[0])
		return exitWrong
	}
	return exitOK
}

// measure runs all sides in turns.
func (r *result) measure(rounds int) error {
	for _, side := range sides {
		r.Sides = append(r.Sides, &row{Side: side})
	}
	show, done := progress.Bar(os.Stderr, rounds*len(sides))
	defer done()
	for round := range rounds {
		for i, s := range r.Sides {
			show(round*len(sides)+i, s.Side)
			m, err := child.Start[spec, sample](spec{s.Side, r.Units, r.Frames}, childTime)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Side, err)
			}
			s.Samples = append(s.Samples, m)
		}
	}
	return nil
}

// differs names a side whose sums are not those of the first, or is "".
func (r *result) differs() string {
	first := r.Sides[0].Samples[0]
	for _, s := range r.Sides {
		for _, m := range s.Samples {
			if m.Last != first.Last || m.States != first.States {
				return s.Side
			}
		}
	}
	return ""
}

// median is the middle of a figure over the rounds.
func (s *row) median(figure func(sample) int64) float64 {
	var list []int64
	for _, m := range s.Samples {
		list = append(list, figure(m))
	}
	slices.Sort(list)
	return float64(list[len(list)/2])
}

// columns of the table.
var columnsOf = []struct {
	head, format string
	unit         float64
	figure       func(sample) int64
}{
	{"resident, MB", "%.0f", 1e6, func(m sample) int64 { return m.Resident }},
	{"with states, MB", "%.0f", 1e6, func(m sample) int64 { return m.End }},
	{"state, us", "%.0f", 1e3, func(m sample) int64 { return m.State }},
	{"frame p50, ms", "%.1f", 1e6, func(m sample) int64 { return m.P50 }},
	{"p99, ms", "%.1f", 1e6, func(m sample) int64 { return m.P99 }},
	{"CPU, s", "%.2f", 1e9, func(m sample) int64 { return m.CPU }},
	{"collector, s", "%.2f", 1e9, func(m sample) int64 { return m.GC }},
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

// table returns the table of docs/performance.md.
func (r *result) table() string {
	var b strings.Builder
	b.WriteString("| side |")
	for _, c := range columnsOf {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columnsOf)) + "\n")
	for _, s := range r.Sides {
		b.WriteString("| " + s.Side + " |")
		for _, c := range columnsOf {
			fmt.Fprintf(&b, " "+c.format+" |", s.median(c.figure)/c.unit)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n%d units, %d frames, a state in each %dth, medians of %d rounds\n\n",
		r.Host, r.Units, r.Frames, stateEach, len(r.Sides[0].Samples))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := []string{"side"}
	for _, c := range columnsOf {
		head = append(head, c.head)
	}
	fmt.Fprintln(t, strings.Join(head, "\t")+"\t")
	for _, s := range r.Sides {
		line := []string{s.Side}
		for _, c := range columnsOf {
			line = append(line, fmt.Sprintf(c.format, s.median(c.figure)/c.unit))
		}
		fmt.Fprintln(t, strings.Join(line, "\t")+"\t")
	}
	_ = t.Flush() // an error is the writer's, and is reported there
}
