package life_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/bench/life"
)

// reference is the slow, obviously right twin of both sides: a set of places whose neighbours are
// counted anew in each generation.
type reference struct {
	rule           life.Rule
	live           map[life.Cell]bool
	births, deaths uint64
}

func newReference(p life.Pattern) *reference {
	r := &reference{rule: p.Rule, live: map[life.Cell]bool{}}
	for _, c := range p.Cells {
		r.live[c] = true
	}
	return r
}

func (r *reference) step() {
	count := map[life.Cell]int{}
	for c := range r.live {
		for dy := int32(-1); dy <= 1; dy++ {
			for dx := int32(-1); dx <= 1; dx++ {
				if dx != 0 || dy != 0 {
					count[life.Cell{X: c.X + dx, Y: c.Y + dy}]++
				}
			}
		}
	}
	next := map[life.Cell]bool{}
	for c := range r.live {
		if r.rule.Survives(count[c]) {
			next[c] = true
		} else {
			r.deaths++
		}
	}
	for c, n := range count {
		if !r.live[c] && r.rule.Births(n) {
			next[c] = true
			r.births++
		}
	}
	r.live = next
}

func (r *reference) cells() (cells []life.Cell) {
	for c := range r.live {
		cells = append(cells, c)
	}
	return sorted(cells)
}

func sorted(cells []life.Cell) []life.Cell {
	slices.SortFunc(cells, func(a, b life.Cell) int {
		return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X))
	})
	return cells
}

// soup fills a w x h box at random, a share of it alive.
func soup(seed uint64, w, h int32, share float64, rule life.Rule) life.Pattern {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := life.Pattern{Name: "soup", Rule: rule, W: int(w), H: int(h)}
	for y := range h {
		for x := range w {
			if rng.Float64() < share {
				p.Cells = append(p.Cells, life.Cell{X: x, Y: y})
			}
		}
	}
	return p
}

// The reference itself against three well-known facts.
func TestReference(t *testing.T) {
	blinker := newReference(life.Pattern{Rule: life.Conway, Cells: []life.Cell{{X: 0}, {X: 1}, {X: 2}}})
	blinker.step()
	if want := []life.Cell{{X: 1, Y: -1}, {X: 1}, {X: 1, Y: 1}}; !slices.Equal(blinker.cells(), want) {
		t.Errorf("blinker: got %v want %v", blinker.cells(), want)
	}
	if blinker.births != 2 || blinker.deaths != 2 {
		t.Errorf("blinker: got %d births and %d deaths want 2 and 2", blinker.births, blinker.deaths)
	}
	g := newReference(life.Pattern{Rule: life.Conway, Cells: glider})
	for range 40 {
		g.step()
	}
	for i, c := range g.cells() {
		if want := (life.Cell{X: glider[i].X + 10, Y: glider[i].Y + 10}); c != want {
			t.Errorf("glider after 40: got %v want %v", c, want)
		}
	}
	r := newReference(life.RPentomino())
	for range 1103 {
		r.step()
	}
	if len(r.live) != 116 {
		t.Errorf("R-pentomino at 1103: got %d want 116", len(r.live))
	}
}
