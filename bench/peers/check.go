package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"quarry/bench/progress"
)

// tolerance is the greatest ratio of a peer's time here to its time in its own harness with which
// its figure still counts.
const tolerance = 1.2

// harnessWays maps the rest of our name for a way to use a library to the harness's name for it.
var harnessWays = map[string]string{"": "", "tables": " (tables)", "batch": " (batch)", "registered": " (cached)"}

// match is an entrant here and in the peers' harness.
type match struct {
	here           *contender
	workload, name string    // in the harness
	theirs         []float64 // ns per entity, by round
	skip           string    // why the harness has no figure, in words
}

// counterpart returns the harness's workload and name for an entrant; both are empty if it has
// none. Batches are workloads of their own here.
func (w *way) counterpart() (workload, name string) {
	l := libraryNamed(w.library())
	if l == nil || l.title == "" {
		return "", ""
	}
	kind, ok := harnessWays[strings.TrimSpace(strings.TrimPrefix(w.entrant, l.name))]
	if !ok {
		return "", ""
	}
	workload = strings.TrimSuffix(w.workload, "-batch")
	if strings.Contains(workload, "-") || !slices.Contains(harnessWorkloads, workload) {
		return "", ""
	}
	return workload, l.title + kind
}

var harnessWorkloads = []string{
	"query2comp", "query32arch", "query256arch", "random", "create2comp", "create2comp_alloc", "create10comp",
	"add_remove", "add_remove_large", "delete2comp", "delete10comp", "new_world",
}

// matches returns all entrants of the wanted workloads that the harness has too.
func (o *options) matches() []*match {
	var list []*match
	for i := range workloads {
		w := &workloads[i]
		if len(o.only) > 0 && !slices.Contains(o.only, w.name) {
			continue
		}
		n := o.n
		if n == 0 {
			if n = usual; !slices.Contains(w.sizes, n) {
				n = w.sizes[0]
			}
		}
		for _, way := range w.entrants(n) {
			if workload, name := way.counterpart(); name != "" {
				list = append(list,
					&match{here: &contender{way: way, n: min(n, w.most())}, workload: workload, name: name})
			}
		}
	}
	return list
}

// compare measures the peers here and in their own harness, and prints both. It reports whether a
// result was wrong.
func (o *options) compare(stdout io.Writer) (isWrong bool, err error) {
	list := o.matches()
	if len(list) == 0 {
		return false, fmt.Errorf("-check: the harness has none of %s", strings.Join(o.only, ", "))
	}
	b, sample := wholeBudget, 100*time.Millisecond
	if o.quick {
		b, sample = quickBudget, 10*time.Millisecond
	}
	h, err := openHarness(o.harness, harnessCommit, linked(), sample)
	if err != nil {
		return false, fmt.Errorf("-check: %w", err)
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := o.compareMatches(h, list, b); err != nil {
		return false, err
	}
	isWrong = slices.ContainsFunc(list, func(p *match) bool { return p.here.wrong != "" })
	if o.json {
		return isWrong, encode(stdout, comparisons(list))
	}
	return isWrong, printCheck(stdout, list, o.rounds)
}

func (o *options) compareMatches(h *harness, list []*match, b budget) (err error) {
	show, end := progress.Bar(os.Stderr, o.rounds*len(list))
	defer end()
	defer func() {
		for _, p := range list {
			err = errors.Join(err, p.here.end())
		}
	}()
	for round := range o.rounds {
		for i, p := range list {
			show(round*len(list)+i, p.here.way.workload)
			if err := p.round(h, b); err != nil {
				return fmt.Errorf("%s, n = %d: %w", p.here.way.workload, p.here.n, err)
			}
		}
	}
	return nil
}

// round measures in the harness, then here.
func (p *match) round(h *harness, b budget) error {
	if p.skip == "" {
		ns, err := h.measure(p.workload, p.name, p.here.n)
		if err != nil {
			p.skip = err.Error()
			return nil
		}
		p.theirs = append(p.theirs, ns)
	}
	return p.here.round(b)
}

// comparison is a match in JSON.
type comparison struct {
	Workload string   `json:"workload"`
	N        int      `json:"n"`
	Library  string   `json:"library"`
	Entrant  string   `json:"entrant"`
	Name     string   `json:"harness_entrant"`
	Theirs   *float64 `json:"harness_ns_per_entity"` // this and the next: least of the rounds
	Here     *float64 `json:"ns_per_entity"`
	Ratio    *float64 `json:"ratio"`  // here over theirs
	Counts   *bool    `json:"counts"` // the ratio is at most 1.2
	Rounds   int      `json:"rounds"`
	Wrong    string   `json:"wrong,omitempty"`
	Skip     string   `json:"not_measured,omitempty"`
}

func (p *match) comparison() comparison {
	c := p.here
	o := comparison{Workload: c.way.workload, N: c.n, Library: c.way.library(), Entrant: c.way.entrant, Name: p.name,
		Rounds: len(c.rounds), Wrong: c.wrong, Skip: p.skip}
	if p.skip == "" && c.wrong == "" && len(c.rounds) > 0 {
		theirs, here := slices.Min(p.theirs), slices.Min(c.rounds)
		o.Theirs, o.Here, o.Ratio, o.Counts = &theirs, &here, new(here/theirs), new(here <= tolerance*theirs)
	}
	return o
}

func comparisons(list []*match) []comparison {
	var all []comparison
	for _, p := range list {
		all = append(all, p.comparison())
	}
	return all
}

// verdict returns the comparison in words.
func (o comparison) verdict() string {
	switch {
	case o.Skip != "":
		return "not measured: " + o.Skip
	case o.Counts == nil:
		return "WRONG: " + o.Wrong
	case !*o.Counts:
		return "SLOWER: does not count"
	case *o.Ratio < 2-tolerance:
		return "faster"
	}
	return "within 20 %"
}

// printCheck prints the least figures: disturbances only add to the time of a process.
func printCheck(stdout io.Writer, list []*match, rounds int) error {
	out := &firstError{w: stdout}
	printMachine(out)
	fmt.Fprintf(out, "the peers beside go-ecs-benchmarks at %.12s; ns per entity, the least of %d rounds in turns\n\n",
		harnessCommit, rounds)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "workload\tn\tentrant\ttheirs\there\tratio\t")
	for _, o := range comparisons(list) {
		theirs, here, ratio := "-", "-", "-"
		if o.Ratio != nil {
			theirs, here, ratio = figure(*o.Theirs), figure(*o.Here), fmt.Sprintf("%.2f", *o.Ratio)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", o.Workload, o.N, o.Entrant, theirs, here, ratio, o.verdict())
	}
	t.Flush()
	return out.err
}
