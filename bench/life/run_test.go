package life_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/bench/life"
	"quarry/bench/workload"
)

func TestRun(t *testing.T) {
	calls, last, all := 0, 0, 0
	plain, ours, err := life.Run(life.Options{Repeat: 2}, func(done, total int) {
		if calls++; done < last || total <= 0 || all != 0 && total != all {
			t.Errorf("progress: got %d of %d after %d of %d", done, total, last, all)
		}
		last, all = done, total
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls == 0 || last != all {
		t.Errorf("progress: got %d calls, %d of %d at the end", calls, last, all)
	}
	for name, s := range map[string]workload.Side{"plain": plain, "ours": ours} {
		if !s.OK || !strings.Contains(s.Detail, "R-pentomino 116 at 1103; Acorn 633 at 5206") {
			t.Errorf("%s: got %v, %q", name, s.OK, s.Detail)
		}
		if s.Ops != plain.Ops || s.Ops < 1e6 || s.Time <= 0 || len(s.Lines) != 2 {
			t.Errorf("%s: got %+v", name, s)
		}
		if s.Figures["population"] != 116+633 || s.Figures["created"]-s.Figures["destroyed"] != 116+633 {
			t.Errorf("%s: got %v want a population of 749", name, s.Figures)
		}
	}
	if plain.Committed != 0 || ours.Committed <= 0 {
		t.Errorf("committed: got %d and %d want 0 and more", plain.Committed, ours.Committed)
	}
}

// The drawings of both sides show the same cells, in a different order.
func TestRunDrawings(t *testing.T) {
	plain, ours, err := life.Run(life.Options{Gens: 500, Repeat: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(plain.Drawings) != 4 || len(ours.Drawings) != 4 {
		t.Fatalf("got %d and %d drawings want 4", len(plain.Drawings), len(ours.Drawings))
	}
	cells := 0
	for i := range plain.Drawings {
		a, b := plain.Drawings[i].Series[0], ours.Drawings[i].Series[0]
		if !plain.Drawings[i].Dots {
			if last := len(b.X) - 1; last < 200 || b.X[0] != 0 || b.X[last] != 500 || !slices.Equal(a.Y, b.Y) {
				t.Errorf("populations: got %v at %v want those of %v up to 500", b.Y, b.X, a.Y)
			}
			continue
		}
		places := map[[2]float64]bool{}
		for k := range a.X {
			places[[2]float64{a.X[k], a.Y[k]}] = true
		}
		for k := range b.X {
			delete(places, [2]float64{b.X[k], b.Y[k]})
		}
		if len(a.X) != len(b.X) || len(places) != 0 {
			t.Errorf("cells: got %d and %d, %d of them not the same", len(a.X), len(b.X), len(places))
		}
		cells += len(b.X)
	}
	if cells == 0 || float64(cells) != ours.Figures["population"] {
		t.Errorf("cells: got %d want a population of %g", cells, ours.Figures["population"])
	}
}

// A broken rule must not pass for the right one, and must be found before a
// rule that floods the plane takes all memory.
func TestRunBrokenRule(t *testing.T) {
	for _, text := range []string{"B2/S23", "B3/S2", "B3/S234", "B36/S23", "B38/S23", "B3/S238", "B/S23", "B1/S1"} {
		rule, err := life.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		plain, ours, err := life.Run(life.Options{Rule: rule, Repeat: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []workload.Side{plain, ours} {
			if s.OK || !strings.Contains(s.Detail, "want") {
				t.Errorf("%s: got %v, %q want it found out", text, s.OK, s.Detail)
			}
		}
	}
}

func TestRunFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "glider.rle")
	text := "x = 3, y = 3\nbo$2bo$3o!\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, ours, err := life.Run(life.Options{RLE: path, Gens: 100}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := path + ", B3/S23: population 5 at generation 100; created 205 (5 + 200 births), destroyed 200"
	for _, s := range []workload.Side{plain, ours} {
		if !s.OK || len(s.Lines) != 1 || s.Lines[0] != want || s.Ops != 500 {
			t.Errorf("got %+v want %q", s, want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.rle")
	if _, _, err := life.Run(life.Options{RLE: missing}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: got %v want %v", err, fs.ErrNotExist)
	}
	path := filepath.Join(t.TempDir(), "bad.rle")
	if err := os.WriteFile(path, []byte("x = 3, y = 3\nbo$\n2q!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := path + `:3: expected a run like 3o, got "q"`
	if _, _, err := life.Run(life.Options{RLE: path}, nil); err == nil || err.Error() != want {
		t.Errorf("malformed file: got %v want %v", err, want)
	}
	if _, _, err := life.Run(life.Options{Gens: -1}, nil); err == nil ||
		!strings.Contains(err.Error(), "expected 0 to") {
		t.Errorf("negative generations: got %v want an error", err)
	}
}
