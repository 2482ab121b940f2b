package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// entrant is one side of a row: a Go entrant, or a program with a variant.
type entrant struct {
	name    string
	turn    func(n int, budget time.Duration) (float64, error)
	rounds  []float64 // ns an entity
	wrong   string
	missing bool // the library does not do the row
}

// result is a row at one n.
type result struct {
	row  *row
	n    int
	list []*entrant
}

func newResult(r *row, n int, g *goRows, programs []*program) *result {
	s := &result{row: r, n: n}
	for _, name := range r.entrants {
		s.list = append(s.list, &entrant{name: name, turn: func(n int, b time.Duration) (float64, error) {
			return g.turn(r, name, n, b)
		}})
	}
	if r.want == nil {
		return s
	}
	for _, p := range programs {
		variants := []string{"-"}
		if name, way, ok := strings.Cut(r.variant, " "); ok && name == p.name {
			variants = append(variants, way)
		}
		for _, v := range variants {
			name := p.name
			if v != "-" {
				name += " " + v
			}
			s.list = append(s.list, &entrant{name: name, turn: func(n int, b time.Duration) (float64, error) {
				return p.checked(r, v, n, b)
			}})
		}
	}
	return s
}

// checked is a turn that compares its sum with the expected one.
func (p *program) checked(r *row, variant string, n int, budget time.Duration) (float64, error) {
	a, err := p.turn(r, variant, n, budget)
	if err != nil {
		return 0, err
	}
	if want := r.want(n, a.passes); a.sum != want {
		return 0, fmt.Errorf("%w: got a sum of %v after %d passes, want %v", errWrong, a.sum, a.passes, want)
	}
	return a.ns, nil
}

// measure gives each entrant its turn in every round; each round begins with a different entrant.
func (s *result) measure(rounds int, budget time.Duration) error {
	for k := range rounds {
		for i := range s.list {
			e := s.list[(i+k)%len(s.list)]
			if e.wrong != "" || e.missing {
				continue
			}
			ns, err := e.turn(s.n, budget)
			switch {
			case errors.Is(err, errNoRow):
				e.missing = true
			case errors.Is(err, errWrong):
				e.wrong, e.rounds = err.Error(), nil
			case err != nil:
				return err
			default:
				e.rounds = append(e.rounds, ns)
			}
		}
	}
	s.list = slices.DeleteFunc(s.list, func(e *entrant) bool { return e.missing })
	return nil
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[(len(sorted)-1)/2]
}

// entry is an entrant in JSON.
type entry struct {
	Workload string   `json:"row"`
	N        int      `json:"n"`
	Entrant  string   `json:"entrant"`
	Median   *float64 `json:"ns_per_entity"`
	Least    *float64 `json:"least"`
	Ratio    *float64 `json:"ratio_to_quarry"` // the median of the rounds' ratios to the row's first entrant
	Rounds   int      `json:"rounds"`
	Wrong    string   `json:"wrong,omitempty"`
}

// entries returns the entries of a result.
func (s *result) entries() []entry {
	list := []entry{}
	base := s.list[0].rounds
	for _, e := range s.list {
		o := entry{Workload: s.row.name, N: s.n, Entrant: e.name, Rounds: len(e.rounds), Wrong: e.wrong}
		if len(e.rounds) > 0 {
			o.Median, o.Least = new(median(e.rounds)), new(slices.Min(e.rounds))
			var ratios []float64
			for i := range min(len(base), len(e.rounds)) {
				ratios = append(ratios, e.rounds[i]/base[i])
			}
			if len(ratios) > 0 {
				o.Ratio = new(median(ratios))
			}
		}
		list = append(list, o)
	}
	return list
}

// printTable prints all results as one table.
func printTable(w io.Writer, list []entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tn\tentrant\tns/entity\tleast\tto quarry\t")
	for _, o := range list {
		switch {
		case o.Median == nil:
			fmt.Fprintf(t, "%s\t%d\t%s\tWRONG: %s\n", o.Workload, o.N, o.Entrant, o.Wrong)
		case o.Ratio == nil:
			fmt.Fprintf(t, "%s\t%d\t%s\t%.4g\t%.4g\t-\t\n", o.Workload, o.N, o.Entrant, *o.Median, *o.Least)
		default:
			fmt.Fprintf(t, "%s\t%d\t%s\t%.4g\t%.4g\t%.2f\t\n",
				o.Workload, o.N, o.Entrant, *o.Median, *o.Least, *o.Ratio)
		}
	}
	return t.Flush()
}

func printJSON(w io.Writer, list []entry) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(list)
}
