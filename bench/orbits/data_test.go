package orbits_test

import (
	"encoding/binary"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"quarry/bench/orbits"
	"quarry/bench/recorded"
)

// table reads a shared CSV file into rows by column name.
func table(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(recorded.Path(t, path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.Comment = '#'
	lines, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sbdb returns the shared 59,929 asteroids.
func sbdb(t *testing.T) []orbits.Elements {
	t.Helper()
	path := recorded.Path(t, "orbits/sbdb_60k_f32x8.bin")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bodies, err := orbits.ReadSBDB(path, f, 2460000.5)
	if err != nil {
		t.Fatal(err)
	}
	return bodies
}

// places reads a shared file of right answers: three float64 per body.
func places(t *testing.T, path string) []orbits.Position {
	t.Helper()
	b, err := os.ReadFile(recorded.Path(t, path))
	if err != nil {
		t.Fatal(err)
	}
	field := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])) }
	out := make([]orbits.Position, len(b)/24)
	for i := range out {
		out[i] = orbits.Position{X: field(3 * i), Y: field(3*i + 1), Z: field(3*i + 2)}
	}
	return out
}
