package life_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"quarry/bench/life"
)

// side is an implementation under test.
type side interface {
	life.Board
	Cells(dst []life.Cell) []life.Cell
	BreakLinks()
}

var sides = map[string]func(life.Pattern) (side, error){
	"plain": func(p life.Pattern) (side, error) {
		s, err := life.NewPlain(p)
		return s, err
	},
	"world": func(p life.Pattern) (side, error) {
		w, err := life.NewWorld(p)
		return w, err
	},
}

// eachSide runs body for both sides.
func eachSide(t *testing.T, body func(t *testing.T, open func(life.Pattern) side)) {
	for name, open := range sides {
		t.Run(name, func(t *testing.T) {
			body(t, func(p life.Pattern) side {
				s, err := open(p)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				return s
			})
		})
	}
}

func step(t *testing.T, s side, n int) {
	t.Helper()
	for range n {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

func verify(t *testing.T, s side) {
	t.Helper()
	if err := s.Verify(); err != nil {
		t.Fatal(err)
	}
}

func TestRPentomino(t *testing.T) { testAnswer(t, life.RPentomino(), 1103, 116) }
func TestAcorn(t *testing.T)      { testAnswer(t, life.Acorn(), 5206, 633) }

func testAnswer(t *testing.T, p life.Pattern, generation, want int) {
	eachSide(t, func(t *testing.T, open func(life.Pattern) side) {
		s := open(p)
		for g := range generation {
			step(t, s, 1)
			if g%97 == 0 {
				verify(t, s)
			}
		}
		verify(t, s)
		if got := s.Population(); got != want {
			t.Errorf("population at %d: got %d want %d", generation, got, want)
		}
		if got := uint64(len(p.Cells)) + s.Births() - s.Deaths(); got != uint64(want) {
			t.Errorf("%d cells + %d births - %d deaths: got %d want %d",
				len(p.Cells), s.Births(), s.Deaths(), got, want)
		}
	})
}

// Random soups under several rules: places, births and deaths match the slow twin in every
// generation.
func TestSoups(t *testing.T) {
	type soupCase struct {
		name  string
		rule  string
		w, h  int32
		share float64
		gens  int
	}
	for _, c := range []soupCase{
		{"conway", "B3/S23", 40, 30, 0.35, 60},
		{"dense", "B3/S23", 25, 25, 0.9, 30},
		{"full", "B3/S23", 9, 9, 1, 30},
		{"sparse", "B3/S23", 60, 60, 0.05, 20},
		{"none", "B3/S23", 9, 9, 0, 3},
		{"highlife", "B36/S23", 30, 30, 0.3, 40},
		{"seeds", "B2/S", 10, 10, 0.2, 20},
		{"all born", "B12345678/S012345678", 5, 5, 0.3, 12},
		{"all die", "B/S", 20, 20, 0.5, 2},
		{"one", "B1/S1", 6, 6, 0.1, 20},
	} {
		rule, err := life.ParseRule(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		p := soup(7, c.w, c.h, c.share, rule)
		t.Run(c.name, func(t *testing.T) {
			eachSide(t, func(t *testing.T, open func(life.Pattern) side) {
				s, ref := open(p), newReference(p)
				for g := range c.gens {
					same(t, g, s, ref)
					step(t, s, 1)
					ref.step()
				}
				same(t, c.gens, s, ref)
			})
		})
	}
}

func same(t *testing.T, generation int, s side, ref *reference) {
	t.Helper()
	verify(t, s)
	if got, want := sorted(s.Cells(nil)), ref.cells(); !slices.Equal(got, want) {
		t.Fatalf("generation %d: got %v want %v", generation, got, want)
	}
	if s.Population() != len(ref.live) || s.Births() != ref.births || s.Deaths() != ref.deaths {
		t.Fatalf("generation %d: got %d cells, %d births, %d deaths want %d, %d, %d", generation,
			s.Population(), s.Births(), s.Deaths(), len(ref.live), ref.births, ref.deaths)
	}
}

// All 512 ways to fill a 3 x 3 box, too far apart to meet.
func TestAllSmallPatterns(t *testing.T) {
	const apart = 40 // places; 3 + 2 * 8 would do for 8 generations
	p := life.Pattern{Rule: life.Conway}
	for fill := range int32(512) {
		for i := range int32(9) {
			if fill>>i&1 != 0 {
				p.Cells = append(p.Cells, life.Cell{X: fill%32*apart + i%3, Y: fill/32*apart + i/3})
			}
		}
	}
	eachSide(t, func(t *testing.T, open func(life.Pattern) side) {
		s, ref := open(p), newReference(p)
		for g := range 8 {
			same(t, g, s, ref)
			step(t, s, 1)
			ref.step()
		}
		same(t, 8, s, ref)
	})
}

func TestTwice(t *testing.T) {
	p := life.Pattern{Rule: life.Conway, Cells: []life.Cell{{X: 1}, {X: 2}, {X: 1}}}
	for name, open := range sides {
		if _, err := open(p); err == nil || !strings.Contains(err.Error(), "given twice") {
			t.Errorf("%s: got %v want an error for the cell that is given twice", name, err)
		}
	}
}

func TestVerifySeesBrokenLinks(t *testing.T) {
	eachSide(t, func(t *testing.T, open func(life.Pattern) side) {
		s := open(life.RPentomino())
		verify(t, s)
		s.BreakLinks()
		if s.Verify() == nil {
			t.Error("got no error want one for the broken links")
		}
	})
}

// Once the scratch slices have grown, a generation of a pattern that only oscillates allocates
// nothing itself; the one small allocation is CreateN's.
func TestStepAllocates(t *testing.T) {
	w, err := life.NewWorld(soup(3, 64, 64, 0.3, life.Conway))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	step(t, w, 3000)
	before := w.Births()
	if got := testing.AllocsPerRun(20, func() { step(t, w, 1) }); got > 1 {
		t.Errorf("got %v allocations a generation want at most 1", got)
	}
	if w.Births() == before {
		t.Error("the pattern stands still: the test shows nothing")
	}
}

// A copy of the plain side goes its own way, as the original does, and the original can go back to
// it; so can the world to a snapshot.
func TestGoBack(t *testing.T) {
	s, err := life.NewPlain(life.RPentomino())
	if err != nil {
		t.Fatal(err)
	}
	w, err := life.NewWorld(life.RPentomino())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var copied life.Plain
	for back := 1; back <= 3; back++ {
		s.CopyTo(&copied)
		moment := w.ECS().Snapshot()
		want, births := copied.Cells(nil), copied.Births()
		for range 100 * back {
			if err := errors.Join(s.Step(), w.Step()); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Equal(s.Cells(nil), want) {
			t.Fatal("nothing has changed in 100 generations")
		}
		copied.CopyTo(s)
		if err := errors.Join(w.ECS().Restore(moment), s.Verify(), copied.Verify(), w.Verify()); err != nil {
			t.Fatal(err)
		}
		moment.Close()
		if got := s.Cells(nil); !slices.Equal(got, want) || s.Births() != births || w.Births() != births {
			t.Errorf("got %d cells, %d and %d births want %d, %d", len(got), s.Births(), w.Births(), len(want), births)
		}
		if got := w.Cells(nil); !sameCells(got, want) {
			t.Errorf("got %d cells of the world want %d", len(got), len(want))
		}
		for range 50 * back {
			if err := errors.Join(s.Step(), copied.Step(), w.Step()); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(s.Cells(nil), copied.Cells(nil)) || !sameCells(w.Cells(nil), s.Cells(nil)) {
			t.Errorf("after %d generations again, the cells differ", 50*back)
		}
	}
}

// sameCells reports whether the lists have the same cells, in any order.
func sameCells(a, b []life.Cell) bool {
	order := func(a, b life.Cell) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) }
	a, b = slices.SortedFunc(slices.Values(a), order), slices.SortedFunc(slices.Values(b), order)
	return slices.Equal(a, b)
}

// Each copy of a field lives as the pattern alone does.
func TestField(t *testing.T) {
	for _, n := range []int{1, 2, 5, 9} {
		eachSide(t, func(t *testing.T, open func(life.Pattern) side) {
			s := open(life.Acorn().Field(n))
			step(t, s, 500)
			verify(t, s)
			want := life.AcornAt(500)
			if s.Population() != n*want.Population || s.Births() != uint64(n)*want.Births ||
				s.Deaths() != uint64(n)*want.Deaths {
				t.Errorf("%d copies: got %d cells, %d births, %d deaths want %d times %v",
					n, s.Population(), s.Births(), s.Deaths(), n, want)
			}
		})
	}
}
