package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"quarry/bench/curve"
	"quarry/bench/input"
)

// Peer is what go run ./bench/peers -json prints for one entrant in one workload with one number of
// entities. A nil figure was not measured or not requested.
type Peer struct {
	Workload, Library, Entrant string
	N                          float64
	Wrong                      string   // why the result was wrong; "" = right
	NsPerEntity                *float64 `json:"ns_per_entity"`
	BytesPerEntity             *float64 `json:"bytes_per_entity"`
	P99Ns                      *float64 `json:"p99_ns"`
	Figure                     *float64 // the figure that the workload is about, in Unit
	Unit                       string
	Ratio                      *float64 // to BestPeer
	BestPeer                   string   `json:"best_peer"`
	Floor, Goal                *float64
	FloorOf                    string   `json:"floor_of"` // the entrant that it is a multiple of; "" = a figure
	GoalOf                     string   `json:"goal_of"`
	FloorRatio                 *float64 `json:"floor_ratio"` // to FloorOf
	GoalRatio                  *float64 `json:"goal_ratio"`
	HoldsFloor                 *bool    `json:"holds_floor"`
	HoldsGoal                  *bool    `json:"holds_goal"`
}

// ErrPeers is the error for input that go run ./bench/peers -json did not write.
var ErrPeers = errors.New("report: not the output of go run ./bench/peers -json")

// ReadPeers reads the array of objects that go run ./bench/peers -json writes. An error is ErrPeers
// with the place and what was expected, and wraps the error of r. Time and memory are bounded as in
// package input.
func ReadPeers(r io.Reader) ([]Peer, error) {
	list, err := input.Objects[Peer](r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPeers, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: expected an array of objects, got none", ErrPeers)
	}
	for i, p := range list {
		switch {
		case p.Workload == "":
			return nil, fmt.Errorf("%w: object %d: expected a workload, got none", ErrPeers, i+1)
		case p.Entrant == "":
			return nil, fmt.Errorf("%w: object %d (%s): expected an entrant, got none", ErrPeers, i+1, p.Workload)
		case !drawable(p.N):
			return nil, fmt.Errorf("%w: object %d (%s, %s): expected n above 0, got %g",
				ErrPeers, i+1, p.Workload, p.Entrant, p.N)
		}
	}
	return list, nil
}

// metric is a figure of a peer that can be drawn.
type metric struct {
	label string
	of    func(*Peer) *float64
}

// metrics in order of preference: a plot takes the first metric that the most entrants have.
var metrics = []metric{
	{"", func(p *Peer) *float64 { return p.Figure }}, // named by its unit
	{"ns per entity", func(p *Peer) *float64 { return p.NsPerEntity }},
	{"bytes per entity", func(p *Peer) *float64 { return p.BytesPerEntity }},
	{"99th percentile, ns", func(p *Peer) *float64 { return p.P99Ns }},
}

// peerFigures draws each workload: as curves if it has several n, else as bars.
func peerFigures(list []Peer) ([]figure, error) {
	var figures []figure
	for len(list) > 0 {
		name := list[0].Workload
		var mine, rest []Peer
		for _, p := range list {
			if p.Workload == name {
				mine = append(mine, p)
			} else {
				rest = append(rest, p)
			}
		}
		f, err := peerFigure(mine)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
		list = rest
	}
	return figures, nil
}

// peerFigure draws one workload.
func peerFigure(list []Peer) (figure, error) {
	m, known := metrics[0], 0
	for _, other := range metrics {
		n := 0
		for i := range list {
			if list[i].Wrong == "" && other.of(&list[i]) != nil {
				n++
			}
		}
		if n > known {
			m, known = other, n
		}
	}
	t := curve.Table{Name: list[0].Workload, XLabel: "entities", YLabel: cmp.Or(m.label, list[0].Unit)}
	several := slices.ContainsFunc(list, func(p Peer) bool { return p.N != list[0].N })
	if !several {
		t.What = exact(list[0].N) + " entities"
	}
	slices.SortStableFunc(list, func(a, b Peer) int { return cmp.Compare(a.N, b.N) })
	for i := range list {
		p := &list[i]
		at := slices.IndexFunc(t.Series, func(s curve.Series) bool { return s.Name == p.Entrant })
		if at < 0 {
			at = len(t.Series)
			t.Series = append(t.Series, curve.Series{Name: p.Entrant, Roof: p.Library == "go"})
		}
		if v := m.of(p); v != nil && p.Wrong == "" {
			s := &t.Series[at]
			s.X, s.Y = append(s.X, p.N), append(s.Y, *v)
		}
	}
	draw := bars
	if several {
		draw = curves
	}
	f, err := draw(t)
	f.Figures, f.Verdicts = peerGrid(list), verdicts(list)
	return f, err
}

// peerGrid is a table of all figures of a workload.
func peerGrid(list []Peer) *Grid {
	g := &Grid{Head: []string{"entities", "entrant", "ns per entity", "bytes per entity", "p99, ns",
		"of the best peer"}}
	for i := range list {
		p := &list[i]
		row := []string{exact(p.N), p.Entrant}
		for _, v := range []*float64{p.NsPerEntity, p.BytesPerEntity, p.P99Ns, p.Ratio} {
			cell := none
			switch {
			case p.Wrong != "":
				cell = "WRONG"
			case v != nil:
				cell = measured(*v)
			}
			row = append(row, cell)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// verdicts returns which floors and goals hold; nil if the run has neither.
func verdicts(list []Peer) *Grid {
	g := &Grid{Head: []string{"entities", "entrant", "floor", "goal"}}
	for i := range list {
		p := &list[i]
		if p.HoldsFloor != nil || p.HoldsGoal != nil {
			g.Rows = append(g.Rows, []string{exact(p.N), p.Entrant,
				p.verdict(p.Floor, p.FloorRatio, p.FloorOf, p.HoldsFloor),
				p.verdict(p.Goal, p.GoalRatio, p.GoalOf, p.HoldsGoal)})
		}
	}
	if len(g.Rows) == 0 {
		return nil
	}
	return g
}

// verdict is a bound in words: "0.98 of ark, at most 1.05: holds".
func (p *Peer) verdict(bound, ratio *float64, of string, holds *bool) string {
	if holds == nil {
		return none
	}
	words := "missed"
	if *holds {
		words = "holds"
	}
	if bound != nil {
		words = "at most " + measured(*bound) + ": " + words
	}
	switch {
	case ratio != nil && of != "":
		words = measured(*ratio) + " of " + of + ", " + words
	case p.Figure != nil:
		words = measured(*p.Figure) + " " + p.Unit + ", " + words
	}
	return words
}

// tally counts the floors and goals of a file in words; "" if there are none.
func tally(list []Peer) string {
	var floors, goals, held, met int
	for _, p := range list {
		for _, b := range []struct {
			holds      *bool
			all, right *int
		}{{p.HoldsFloor, &floors, &held}, {p.HoldsGoal, &goals, &met}} {
			if b.holds == nil {
				continue
			}
			*b.all++
			if *b.holds {
				*b.right++
			}
		}
	}
	if floors+goals == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d floors hold, %d of %d goals are met.", held, floors, met, goals)
}
