package orbits_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"quarry/bench/orbits"
)

// Checksums, groups and Kirkwood gaps of the shared asteroids.
func TestAsteroidGroups(t *testing.T) {
	bodies := sbdb(t)
	sum := 0.0
	for _, el := range bodies {
		sum += el.A
	}
	if math.Abs(sum-159604.320426) > 1e-6 {
		t.Errorf("sum of a: got %.6f want 159604.320426", sum)
	}
	for _, g := range []struct {
		name   string
		lo, hi float64
		want   int
	}{
		{"Hungaria", 1.78, 2.00, 600}, {"inner", 2.06, 2.50, 23_515}, {"middle", 2.50, 2.82, 18_494},
		{"outer", 2.82, 3.28, 15_830}, {"Cybele", 3.28, 3.70, 289}, {"Hilda", 3.92, 4.02, 268}, {"Trojan", 5.05, 5.35, 744},
	} {
		got := 0
		for _, el := range bodies {
			if el.A >= g.lo && el.A < g.hi {
				got++
			}
		}
		if got != g.want {
			t.Errorf("%s: got %d want %d", g.name, got, g.want)
		}
	}
	for _, c := range []struct {
		p, q               float64
		below, gap, beyond int
	}{{4, 1, 4, 1, 27}, {3, 1, 1038, 35, 1618}, {5, 2, 1053, 147, 522}, {7, 3, 487, 351, 977}, {2, 1, 427, 7, 17}} {
		r := 5.2044 * math.Pow(c.q/c.p, 2.0/3)
		got := [3]int{near(bodies, r-0.05), near(bodies, r), near(bodies, r+0.05)}
		if want := [3]int{c.below, c.gap, c.beyond}; got != want {
			t.Errorf("%v:%v at %.6f: got %v want %v", c.p, c.q, r, got, want)
		}
	}
	if ahead, behind := camps(t, bodies, 2461000.5); ahead != 438 || behind != 306 {
		t.Errorf("Trojans: got %d ahead and %d behind want 438 and 306", ahead, behind)
	}
}

func TestReadSBDB(t *testing.T) {
	row := []float32{2.77, 0.08, 0.185, 1.4, 1.28, 3.7, 0.0037, 3.34}
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, append(row, row...)); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	bodies, err := orbits.ReadSBDB("x.bin", strings.NewReader(text), 2460000.5)
	want := orbits.Elements{
		A: float64(row[0]), E: float64(row[1]), I: float64(row[2]), Node: float64(row[3]), Peri: float64(row[4]),
		M: float64(row[5]), N: float64(row[6]), Epoch: 2460000.5,
	}
	if err != nil || len(bodies) != 2 || bodies[0] != want || bodies[1] != want {
		t.Errorf("got %v, %v want twice %v", bodies, err, want)
	}
	if bodies, err = orbits.ReadSBDBLimit("x.bin", strings.NewReader(text), 2460000.5, 2); err != nil ||
		len(bodies) != 2 {
		t.Errorf("at the limit: got %v, %v", bodies, err)
	}
	_, err = orbits.ReadSBDBLimit("x.bin", strings.NewReader(text), 2460000.5, 1)
	if err == nil || err.Error() != "x.bin: row 1: expected at most 1 rows: cut the file before this one" {
		t.Errorf("beyond the limit: got %v", err)
	}
	_, err = orbits.ReadSBDB("x.bin", strings.NewReader(text[:50]), 2460000.5)
	if err == nil || err.Error() != "x.bin: row 1: expected 32 bytes, got 18" {
		t.Errorf("cut short: got %v", err)
	}
	_, err = orbits.ReadSBDB("x.bin", strings.NewReader(strings.Repeat("\xff", 32)), 2460000.5)
	if err == nil || !strings.HasPrefix(err.Error(), "x.bin: row 0: expected finite elements") {
		t.Errorf("not a number: got %v", err)
	}
}

// Orbits that are read have places; a bad row is an error that names it.
func FuzzReadSBDB(f *testing.F) {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, []float32{
		2.77, 0.08, 0.185, 1.4, 1.28, 3.7, 0.0037, 3.34,
	}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(bytes.Repeat(b.Bytes(), 2)[:50])
	f.Add(bytes.Repeat([]byte("\xff"), 32))
	f.Fuzz(func(t *testing.T, rows []byte) {
		bodies, err := orbits.ReadSBDB("x.bin", bytes.NewReader(rows), 2460000.5)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.bin: row ") || !strings.Contains(err.Error(), "expected") {
				t.Fatalf("got %q want file, row and what was expected", err)
			}
			return
		}
		if len(bodies) != len(rows)/32 {
			t.Fatalf("got %d bodies of %d bytes", len(bodies), len(rows))
		}
		for _, b := range bodies {
			if p := b.At(2461000.5); math.IsNaN(p.R()) {
				t.Fatalf("%+v: got %v", b, p)
			}
		}
	})
}
