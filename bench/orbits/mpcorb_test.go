package orbits_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/bench/orbits"
	"quarry/bench/recorded"
)

// Two made-up lines in the format.
const (
	line1 = "00433   11.16  0.46 K1972  84.17190  178.83549  304.30424   10.82858  0.2227385  " +
		"0.55973997   1.4581823  0 MPO467611  8406  52 1893-2019 0.69 M-v 38h MPCLINUX   1804    (433) Eros               20190509"
	line2 = "K04F01W             K25BL   0.00000    0.00000    0.00000    0.00000  0.0000000  0.98560767   1.0000000"
)

// bodiesOf returns all bodies of a text.
func bodiesOf(text string) (list []orbits.Body, err error) {
	err = orbits.ParseMPCORB("x.txt", strings.NewReader(text), func(b orbits.Body) { list = append(list, b) })
	return list, err
}

func TestParseMPCORB(t *testing.T) {
	rule := strings.Repeat("-", 160) + "\n"
	for name, text := range map[string]string{
		"plain":         line1 + "\n" + line2 + "\n",
		"no last line":  line1 + "\n" + line2,
		"CRLF":          line1 + "\r\n" + line2 + "\r\n",
		"sections":      line1 + "\n\n" + line2 + "\n\n",
		"header":        "MINOR PLANET CENTER\n\nWith   some words\n" + rule + line1 + "\n" + line2 + "\n",
		"rule only":     rule + line1 + "\n" + line2 + "\n",
		"header, gaps":  "A catalogue\n\n" + rule + "\n" + line1 + "\n\n" + line2 + "\n",
		"trailing rows": line1 + "   \n" + line2 + strings.Repeat(" ", 99) + "\n",
	} {
		bodies, err := bodiesOf(text)
		if err != nil || len(bodies) != 2 {
			t.Errorf("%s: got %d bodies, %v want 2", name, len(bodies), err)
			continue
		}
		eros := bodies[0]
		want := orbits.Elements{
			A: 1.4581823, E: 0.2227385, I: degrees(10.82858), Node: degrees(304.30424), Peri: degrees(178.83549),
			M: degrees(84.17190), N: degrees(0.55973997), Epoch: 2458666.5,
		}
		if eros.Designation != "00433" || eros.Name != "(433) Eros" || eros.H != 11.16 || !close(eros.Elements, want) {
			t.Errorf("%s: got %+v want %+v", name, eros, want)
		}
		if b := bodies[1]; b.Designation != "K04F01W" || b.A != 1 || b.Epoch != 2461000.5 || b.H != 0 || b.Name != "" {
			t.Errorf("%s: got %+v", name, b)
		}
	}
}

// close compares elements up to rounding.
func close(a, b orbits.Elements) bool {
	x := [...]float64{a.A, a.E, a.I, a.Node, a.Peri, a.M, a.N, a.Epoch}
	y := [...]float64{b.A, b.E, b.I, b.Node, b.Peri, b.M, b.N, b.Epoch}
	for i := range x {
		if math.Abs(x[i]-y[i]) > 4*eps*math.Abs(y[i]) {
			return false
		}
	}
	return true
}

// with puts text into line1 from a column on, counted from 1.
func with(column int, text string) string {
	return line1[:column-1] + text + line1[column-1+len(text):]
}

var malformed = map[string]struct{ line, want string }{
	"short":       {line1[:102], `expected at least 103 columns, got 102`},
	"shifted":     {line1[:30] + line1[31:], `expected a blank in column 37, got "1"`},
	"no name":     {with(1, "       "), `expected a designation in columns 1 to 7, got blanks`},
	"H":           {with(9, "1l.16"), `expected a magnitude in columns 9 to 13, got "1l.16"`},
	"century":     {with(21, "L1972"), `expected a packed date like K1972 in columns 21 to 25, got "L1972"`},
	"year":        {with(21, "K+972"), `expected a packed date like K1972 in columns 21 to 25, got "K+972"`},
	"month":       {with(21, "K19D2"), `expected a packed date like K1972 in columns 21 to 25, got "K19D2"`},
	"month 0":     {with(21, "K1902"), `expected a packed date like K1972 in columns 21 to 25, got "K1902"`},
	"day":         {with(21, "K197W"), `expected a packed date like K1972 in columns 21 to 25, got "K197W"`},
	"31 June":     {with(21, "K196V"), `expected a packed date like K1972 in columns 21 to 25, got "K196V"`},
	"M":           {with(27, " 84.1719x"), `expected a mean anomaly in degrees in columns 27 to 35, got " 84.1719x"`},
	"M blank":     {with(27, "         "), `expected a mean anomaly in degrees in columns 27 to 35, got "         "`},
	"M too large": {with(27, "384.17190"), `expected a mean anomaly in degrees in columns 27 to 35, got "384.17190"`},
	"perihelion": {with(38, "-78.83549"),
		`expected an argument of perihelion in degrees in columns 38 to 46, got "-78.83549"`},
	"node": {with(49, "      NaN"),
		`expected a longitude of the node in degrees in columns 49 to 57, got "      NaN"`},
	"inclination":  {with(60, "190.00000"), `expected an inclination in degrees in columns 60 to 68, got "190.00000"`},
	"eccentricity": {with(71, "0.22.7385"), `expected an eccentricity in columns 71 to 79, got "0.22.7385"`},
	"parabola":     {with(71, "1.0000000"), `expected an eccentricity from 0 up, but not 1, got 1`},
	"hyperbola":    {with(71, "1.2000000"), `expected a semi-major axis below 0 for eccentricity 1.2, got 1.4581823`},
	"mean motion": {with(81, "       Inf "),
		`expected a mean motion in degrees a day in columns 81 to 91, got "       Inf "`},
	"mean motion 0": {with(81, " 0.00000000"), `expected a mean motion above 0, got 0`},
	"axis": {with(93, "  1,4581823"),
		`expected a semi-major axis in au in columns 93 to 103, got "  1,4581823"`},
	"axis 0":         {with(93, "  0.0000000"), `expected a semi-major axis above 0 for eccentricity 0.2227385, got 0`},
	"not the format": {"433,Eros,11.16" + strings.Repeat(",0.1", 40), `expected a blank in column 8, got "s"`},
}

func TestParseMPCORBMalformed(t *testing.T) {
	for name, c := range malformed {
		want := "x.txt:1: " + c.want
		if _, err := bodiesOf(c.line + "\n" + line1); err == nil || err.Error() != want {
			t.Errorf("%s, first line: got %v want %v", name, err, want)
		}
		want = "x.txt:4: " + c.want
		text := line1 + "\n\n" + line2 + "\n" + c.line + "\n" + line2
		if _, err := bodiesOf(text); err == nil || err.Error() != want {
			t.Errorf("%s, fourth line: got %v want %v", name, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                          "x.txt:1: expected an orbit, got the end of the file",
		"\n\n":                      "x.txt:3: expected an orbit, got the end of the file",
		"Words\n-----------------":  "x.txt:3: expected an orbit, got the end of the file",
		"Words\nmore":               "x.txt:1: expected at least 103 columns, got 5",
		strings.Repeat("x", 70_000): "x.txt:1: expected a line of at most 1024 bytes: bufio.Scanner: token too long",
	} {
		if _, err := bodiesOf(text); err == nil || err.Error() != want {
			t.Errorf("got %v want %v", err, want)
		}
	}
}

func TestReadMPCORB(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := []byte(line1 + "\n" + line2 + "\n")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		write("plain.txt", text), write("packed.gz", packed.Bytes()),
		write("no-ending", packed.Bytes()), write("not-packed.gz", text),
	} {
		if bodies, err := orbits.ReadMPCORB(path); err != nil || len(bodies) != 2 {
			t.Errorf("%s: got %d bodies, %v want 2", path, len(bodies), err)
		}
	}
	cut := write("cut.gz", packed.Bytes()[:packed.Len()-12])
	if _, err := orbits.ReadMPCORB(cut); err == nil || !strings.HasPrefix(err.Error(), cut+":") {
		t.Errorf("cut short: got %v want an error with the file", err)
	}
	stub := write("stub.gz", packed.Bytes()[:5])
	if _, err := orbits.ReadMPCORB(stub); err == nil || !strings.HasPrefix(err.Error(), stub+": expected a gzip file") {
		t.Errorf("stub: got %v want an error with the file", err)
	}
	if _, err := orbits.ReadMPCORB(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: got %v want %v", err, fs.ErrNotExist)
	}
}

// The sums and classes of 2,000 real near-Earth asteroids.
func TestNearEarthAsteroids(t *testing.T) {
	path := recorded.Path(t, "orbits/nea_mpcorb_2000.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := bodiesOf(string(text))
	if err != nil {
		t.Fatal(err)
	}
	elements, err := orbits.ReadMPCORB(path)
	if err != nil ||
		!slices.EqualFunc(bodies, elements, func(b orbits.Body, e orbits.Elements) bool { return b.Elements == e }) {
		t.Errorf("got %d orbits, %v want those of the bodies", len(elements), err)
	}
	var a, e, i, n, h float64
	designations, numbered, classes := map[string]bool{}, 0, map[string]int{}
	for _, b := range bodies {
		a, e, i, n, h = a+b.A, e+b.E, i+b.I*180/math.Pi, n+b.N*180/math.Pi, h+b.H
		designations[b.Designation] = true
		if len(b.Designation) == 5 && strings.Trim(b.Designation, "0123456789") == "" {
			numbered++
		}
		if b.Epoch != 2458666.5 {
			t.Errorf("%s: epoch got %v want 2458666.5", b.Designation, b.Epoch)
		}
		if want := degrees(0.9856076686) / math.Pow(b.A, 1.5); math.Abs(b.N/want-1) > 4e-7 {
			t.Errorf("%s: mean motion got %v want %v", b.Designation, b.N, want)
		}
		classes[class(b.Elements)]++
	}
	for name, v := range map[string][3]float64{
		"a": {a, 3655.8530941, 1e-6}, "e": {e, 943.0558067, 1e-6}, "i": {i, 29008.91377, 1e-6},
		"n": {n, 992.65526593, 1e-6}, "H": {h, 39908.75, 1e-6},
		"bodies": {float64(len(bodies)), 2000, 0}, "designations": {float64(len(designations)), 2000, 0},
		"numbered": {float64(numbered), 404, 0}, "Apollo": {float64(classes["Apollo"]), 1059, 0},
		"Amor": {float64(classes["Amor"]), 787, 0}, "Aten": {float64(classes["Aten"]), 151, 0},
		"Atira": {float64(classes["Atira"]), 3, 0},
	} {
		if !(math.Abs(v[0]-v[1]) <= v[2]) {
			t.Errorf("%s: got %v want %v", name, v[0], v[1])
		}
	}
	if first, last := bodies[0], bodies[len(bodies)-1]; first.Name != "(433) Eros" || last.Name != "2004 FW1" {
		t.Errorf("got %q to %q want (433) Eros to 2004 FW1", first.Name, last.Name)
	}
}

func class(el orbits.Elements) string {
	near, far := el.A*(1-el.E), el.A*(1+el.E)
	switch {
	case el.A >= 1 && near < 1.017:
		return "Apollo"
	case el.A >= 1 && near < 1.3:
		return "Amor"
	case el.A < 1 && far > 0.983:
		return "Aten"
	case el.A < 1:
		return "Atira"
	}
	return "none"
}

func TestDate(t *testing.T) {
	for jd, want := range map[float64]string{
		2451544.5: "2000-01-01", 2458666.5: "2019-07-02", 2461000.5: "2025-11-21", 2415020.5: "1900-01-01",
	} {
		if got := orbits.Date(jd); got != want {
			t.Errorf("Date(%v): got %v want %v", jd, got, want)
		}
	}
}

func FuzzParseMPCORB(f *testing.F) {
	f.Add(line1 + "\n" + line2)
	f.Add("Header\n--------------------\n" + line1)
	for _, c := range malformed {
		f.Add(line2 + "\n" + c.line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bodies, err := bodiesOf(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.txt:") || !strings.Contains(err.Error(), "expected") {
				t.Fatalf("got %q want file, line and what was expected", err)
			}
			return
		}
		if len(bodies) == 0 {
			t.Fatal("got no orbits and no error")
		}
		for _, b := range bodies {
			if err := b.Check(); err != nil {
				t.Fatalf("accepted: %v", err)
			}
			if p := b.At(2461000.5); math.IsNaN(p.R()) {
				t.Fatalf("%+v: got %v", b, p)
			}
		}
	})
}
