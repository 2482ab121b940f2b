package orbits_test

import (
	"bytes"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/bench/orbits"
	"quarry/bench/workload"
)

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belt.png")
	last, calls := 0, 0
	plain, ours, err := orbits.Run(orbits.Options{Bodies: 3000, Steps: 5, PNG: path}, func(done, total int) {
		if done != last+1 || total != 10 {
			t.Errorf("progress: got %d of %d after %d want 10 in all", done, total, last)
		}
		last, calls = done, calls+1
	})
	if err != nil {
		t.Fatal(err)
	}
	if ours.Picture != path || plain.Picture != "" {
		t.Errorf("pictures: got %q and %q want none and %q", plain.Picture, ours.Picture, path)
	}
	if calls != 10 {
		t.Errorf("progress: got %d calls want 10", calls)
	}
	for name, s := range map[string]workload.Side{"plain": plain, "ours": ours} {
		if !s.OK || s.Ops != 3008*5 || s.Time <= 0 || len(s.Lines) != 1 ||
			s.Figures["bodies"] != 3000 || s.Figures["steps"] != 5 {
			t.Errorf("%s: got %+v", name, s)
		}
		if s.Lines[0] != plain.Lines[0] {
			t.Errorf("%s: got %q want %q", name, s.Lines[0], plain.Lines[0])
		}
	}
	if plain.Committed != 0 || ours.Committed <= 0 {
		t.Errorf("committed: got %d and %d want 0 and more", plain.Committed, ours.Committed)
	}
	testPNG(t, path)
}

// testPNG checks that a picture is a PNG with more than one colour.
func testPNG(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[any]bool{}
	size := img.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			colours[img.At(x, y)] = true
		}
	}
	if size.X < 1000 || size.Y < size.X || len(colours) < 100 {
		t.Errorf("got %v with %d colours want a picture", size, len(colours))
	}
}

func TestRunCatalogue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.txt")
	if err := os.WriteFile(path, []byte(line1+"\n"+line2+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(t.TempDir(), "two.png")
	plain, ours, err := orbits.Run(orbits.Options{Catalog: path, Steps: 3, PNG: picture}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []workload.Side{plain, ours} {
		if !s.OK || s.Ops != 30 || !strings.HasPrefix(s.Lines[0], "2 bodies and 8 planets, 3 days to 2025-11-21") {
			t.Errorf("got %+v", s)
		}
	}
	testPNG(t, picture)
}

func TestRunErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte(line1+"\n"+line1[:50]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		opts orbits.Options
		want string
	}{
		"missing":   {orbits.Options{Catalog: filepath.Join(dir, "none")}, "no such file"},
		"malformed": {orbits.Options{Catalog: bad}, bad + ":2: expected at least 103 columns, got 50"},
		"bodies":    {orbits.Options{Bodies: -1}, "expected 0 to"},
		"steps":     {orbits.Options{Steps: -1}, "expected 0 or more steps"},
		"picture": {orbits.Options{Bodies: 10, Steps: 1, PNG: filepath.Join(dir, "none", "x.png")},
			"no such file"},
	} {
		if _, _, err := orbits.Run(c.opts, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v want %q", name, err, c.want)
		}
	}
	_, _, err := orbits.Run(orbits.Options{Catalog: filepath.Join(dir, "none")}, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v want %v", err, fs.ErrNotExist)
	}
}

// The checks themselves: each must notice its kind of error.
func TestChecksSee(t *testing.T) {
	bodies := orbits.Belt(50, 1)
	s, err := orbits.NewPlain(bodies)
	if err != nil {
		t.Fatal(err)
	}
	s.Step(orbits.AnswerDate)
	places, at := s.Bodies(nil), s.Planets()
	if err := errors.Join(orbits.CheckBodies(bodies, places, orbits.AnswerDate), orbits.CheckPlanets(at),
		orbits.CheckSame(places, places)); err != nil {
		t.Fatal(err)
	}
	at[4].Y += 1e-8
	if err := orbits.CheckPlanets(at); err == nil || !strings.HasPrefix(err.Error(), "Jupiter at 2461000.5") {
		t.Errorf("got %v want Jupiter off", err)
	}
	moved := append([]orbits.Position(nil), places...)
	moved[33].Z += 1e-8
	if err := orbits.CheckBodies(bodies, moved, orbits.AnswerDate); err == nil ||
		!strings.HasPrefix(err.Error(), "body 33") {
		t.Errorf("got %v want body 33 off", err)
	}
	if err := orbits.CheckSame(places, moved); err == nil || !strings.HasPrefix(err.Error(), "body 33") {
		t.Errorf("got %v want body 33 different", err)
	}
	if err := orbits.CheckSame(places, places[1:]); err == nil {
		t.Error("got no error want one for a missing place")
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 59929: "59,929", 1234567: "1,234,567"} {
		if got := orbits.Thousands(n); got != want {
			t.Errorf("got %v want %v", got, want)
		}
	}
}
