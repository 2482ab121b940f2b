package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"quarry/bench/input"
)

// summary is the -json output of several runs side by side, as docs/performance.md prints them.
type summary struct {
	runs  [][]entry
	cases []benchCase
}

// benchCase is a workload at one n.
type benchCase struct {
	workload string
	n        int
}

// readSummary reads the files of runs, which must have measured the same.
func readSummary(files []string) (*summary, error) {
	s := &summary{}
	for _, name := range files {
		run, err := readRun(name)
		if err != nil {
			return nil, err
		}
		cases := casesOf(run)
		switch {
		case len(cases) == 0:
			return nil, fmt.Errorf("%s has no results", name)
		case s.runs == nil:
			s.cases = cases
		case !slices.Equal(cases, s.cases):
			return nil, fmt.Errorf("%s has other workloads than %s: summaries are of runs of one command",
				name, files[0])
		}
		s.runs = append(s.runs, run)
	}
	return s, nil
}

// readRun reads the output of -json.
func readRun(name string) ([]entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	run, err := input.Objects[entry](f)
	for i := 0; err == nil && i < len(run); i++ {
		if err = run[i].check(run); err != nil {
			err = fmt.Errorf("object %d%w", i+1, err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not what -json prints: %w", name, err)
	}
	return run, nil
}

// check returns an error if an entry of a run lacks a field that a summary needs.
func (e *entry) check(run []entry) error {
	switch {
	case e.Workload == "" || e.Entrant == "" || e.N < 1:
		return errors.New(": expected a workload, an entrant and n above 0")
	case e.HoldsFloor != nil && e.Figure == nil:
		return fmt.Errorf(" (%s, %s): expected a figure, for it has a verdict", e.Workload, e.Entrant)
	case e.FloorRatio != nil && e.FloorOf == nil:
		return fmt.Errorf(" (%s, %s): expected whose multiple the floor is, for it has a ratio", e.Workload, e.Entrant)
	case e.FloorRatio != nil && figureOf(run, *e.FloorOf, e) == nil:
		return fmt.Errorf(" (%s, %s): expected a figure of %s, whose multiple the floor is",
			e.Workload, e.Entrant, *e.FloorOf)
	}
	return nil
}

// figureOf is the figure of an entrant in the case of e, or nil.
func figureOf(run []entry, entrant string, e *entry) *float64 {
	for i := range run {
		if o := &run[i]; o.Workload == e.Workload && o.N == e.N && o.Entrant == entrant && o.Figure != nil {
			return o.Figure
		}
	}
	return nil
}

func casesOf(run []entry) []benchCase {
	var list []benchCase
	for _, e := range run {
		if c := (benchCase{e.Workload, e.N}); !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// of lists an entrant's entries of a case that have a figure, at most one per run.
func (s *summary) of(c benchCase, entrant string) []entry {
	var list []entry
	for _, run := range s.runs {
		for _, e := range run {
			if e.Workload == c.workload && e.N == c.n && e.Entrant == entrant && e.Figure != nil {
				list = append(list, e)
			}
		}
	}
	return list
}

// entrants lists the entrants of a library that were measured in every run.
func (s *summary) entrants(c benchCase, library string) []string {
	var list []string
	for _, e := range s.runs[0] {
		if e.Workload == c.workload && e.N == c.n && e.Library == library && len(s.of(c, e.Entrant)) == len(s.runs) {
			list = append(list, e.Entrant)
		}
	}
	return list
}

// best is the entrant of a library with the lowest median over the runs.
func (s *summary) best(c benchCase, library string) (entrant string, figure float64) {
	for _, e := range s.entrants(c, library) {
		if v := medianOf(s.of(c, e), func(e entry) *float64 { return e.Figure }); entrant == "" || v < figure {
			entrant, figure = e, v
		}
	}
	return entrant, figure
}

// medianOf is the median of a field over the entries in which it is not null.
func medianOf(list []entry, field func(entry) *float64) float64 {
	var values []float64
	for _, e := range list {
		if v := field(e); v != nil {
			values = append(values, *v)
		}
	}
	return median(values)
}

// inUnit prints a figure of an entry: bytes in MB, ns unchanged.
func inUnit(e entry, v float64) string {
	if e.Unit == "bytes" {
		return fmt.Sprintf("%.1f MB", v/1e6)
	}
	return figure(v)
}

// print writes Markdown: the targets, then every workload with every library.
func (s *summary) print(w io.Writer) {
	s.printTargets(w)
	fmt.Fprintln(w)
	s.printAll(w)
}

func (s *summary) printTargets(w io.Writer) {
	fmt.Fprintf(w,
		"| workload | n | ours | by run | best peer of the target, last run | ratio by run | floor | goal |\n|---|---|---|---|---|---|---|---|\n")
	floors, held, goals, reached := 0, 0, 0, 0
	for _, c := range s.cases {
		for _, list := range s.deciding(c) {
			floor, held1 := s.verdict(list, func(e entry) (*float64, *bool, *string) {
				return e.Floor, e.HoldsFloor, e.FloorOf
			})
			goal, held2 := s.verdict(list, func(e entry) (*float64, *bool, *string) {
				return e.Goal, e.HoldsGoal, e.GoalOf
			})
			floors, held, reached = floors+1, held+held1, reached+held2
			if list[0].Goal != nil {
				goals++
			}
			var by, ratios, names []string
			peer := "-"
			for _, e := range list {
				by = append(by, inUnit(e.entry, *e.Figure))
				if !slices.Contains(names, e.Entrant) {
					names = append(names, e.Entrant)
				}
				if e.FloorRatio != nil {
					ratios = append(ratios, fmt.Sprintf("%.3f", *e.FloorRatio))
					peer = fmt.Sprintf("%s %s", *e.FloorOf, inUnit(e.entry, e.peer))
				}
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
				c.workload, grouped(c.n), strings.Join(names, ", "),
				strings.Join(by, " "), peer, strings.Join(ratios, " "), floor, goal)
		}
	}
	fmt.Fprintf(w, "\n%d of %d floors hold in %d runs of %d, and %d of %d goals.\n",
		held, floors, len(s.runs), len(s.runs), reached, goals)
}

// decided is an entry of ours that decided a target in a run.
type decided struct {
	entry
	peer float64 // the figure of FloorOf in that run, if there is a FloorRatio
}

// deciding lists, for each target of a case, the entries of ours that decided it, one per run; the
// entrant may differ from run to run.
func (s *summary) deciding(c benchCase) [][]decided {
	var list [][]decided
	for i, run := range s.runs {
		k := 0
		for _, e := range run {
			if e.Workload != c.workload || e.N != c.n || e.HoldsFloor == nil {
				continue
			}
			if i == 0 {
				list = append(list, nil)
			}
			if k < len(list) {
				d := decided{entry: e}
				if e.FloorRatio != nil {
					d.peer = *figureOf(run, *e.FloorOf, &e)
				}
				list[k] = append(list[k], d)
			}
			k++
		}
	}
	return list
}

// verdict returns in how many runs a bound holds; all is 1 if it holds in each.
func (s *summary) verdict(list []decided, field func(entry) (*float64, *bool, *string)) (text string, all int) {
	times, bound, unit := 0, "-", ""
	for _, e := range list {
		limit, holds, of := field(e.entry)
		if limit == nil {
			return "-", 0
		}
		bound = inUnit(e.entry, *limit)
		if of != nil {
			bound, unit = fmt.Sprintf("%g", *limit), " x "+*of
		}
		if holds != nil && *holds {
			times++
		}
	}
	if times == len(s.runs) {
		return bound + unit + " holds", 1
	}
	return fmt.Sprintf("%s%s **missed** in %d of %d", bound, unit, len(s.runs)-times, len(s.runs)), 0
}

// printAll writes a line for each case: the best entrant of each library, and which peer is ahead
// of ours.
func (s *summary) printAll(w io.Writer) {
	fmt.Fprint(w, "| workload | n |")
	for _, l := range libraries {
		fmt.Fprintf(w, " %s |", l.name)
	}
	fmt.Fprintf(w,
		" ratio to the best peer | B/entity, ours and its | p99 of a pass in us, ours and its |\n|---|---|%s---|---|---|\n",
		strings.Repeat("---|", len(libraries)))
	for _, c := range s.cases {
		fmt.Fprintf(w, "| %s | %s |", c.workload, grouped(c.n))
		own, _ := s.best(c, ours)
		peer, least := "", 0.0
		for _, l := range libraries {
			entrant, v := s.best(c, l.name)
			if entrant == "" {
				fmt.Fprint(w, " - |")
				continue
			}
			way := strings.TrimLeft(strings.TrimPrefix(entrant, l.name), " ,")
			if l.name == plainGo {
				way = strings.TrimSpace(strings.TrimPrefix(entrant, goSlices))
			}
			if way != "" {
				way = " (" + way + ")"
			}
			fmt.Fprintf(w, " %s%s |", inUnit(s.of(c, entrant)[0], v), way)
			if l.name != ours && l.name != plainGo && (peer == "" || v < least) {
				peer, least = entrant, v
			}
		}
		s.printBeside(w, c, own, peer)
	}
}

// printBeside writes the ratio of ours to the best peer, and the two columns after it.
func (s *summary) printBeside(w io.Writer, c benchCase, own, peer string) {
	if own == "" || peer == "" {
		fmt.Fprintln(w, " - | - | - |")
		return
	}
	a, b := s.of(c, own), s.of(c, peer)
	figures := func(list []entry) float64 { return medianOf(list, func(e entry) *float64 { return e.Figure }) }
	held := func(list []entry) string {
		return figure(medianOf(list, func(e entry) *float64 { return e.BytesPerEntity }))
	}
	tail := func(list []entry) string {
		if list[0].P99 == nil {
			return "-"
		}
		return figure(medianOf(list, func(e entry) *float64 { return e.P99 }) / 1000)
	}
	times := figures(a) / figures(b)
	if p := a[0].BestPeer; p != nil && *p == peer {
		times = medianOf(a, func(e entry) *float64 { return e.Ratio })
	}
	ratio := fmt.Sprintf("%.2f", times)
	if times > 1 {
		ratio = "**" + ratio + "**"
	}
	fmt.Fprintf(w, " %s | %s %s | %s %s |\n", ratio, held(a), held(b), tail(a), tail(b))
}

// grouped prints 1000000 as 1,000,000.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
