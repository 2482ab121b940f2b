package orbits_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"quarry/bench/orbits"
)

// gauge is a file. After every fixed amount of reading it measures the memory in use, without dead
// objects.
type gauge struct {
	*bytes.Reader
	every, left int
	base, peak  uint64
}

// inUse is the number of live bytes on the Go heap.
func inUse() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

func newGauge(content []byte) *gauge {
	return &gauge{Reader: bytes.NewReader(content), every: len(content) / 8, base: inUse()}
}

func (g *gauge) Read(b []byte) (int, error) {
	n, err := g.Reader.Read(b)
	if g.left -= n; g.left < 0 || err != nil {
		g.left = g.every
		g.peak = max(g.peak, inUse())
	}
	return n, err
}

// held is the most memory in use while the file was read, without the file.
func (g *gauge) held() int { return int(g.peak) - int(g.base) }

// packed returns a text compressed by gzip.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCatalogueBombs: a malformed catalogue is refused before any of it is held, and a good one
// takes 64 bytes per orbit.
func TestCatalogueBombs(t *testing.T) {
	const (
		many  = 30_000
		small = 1 << 20
	)
	for name, c := range map[string]struct {
		text string
		want string
		most int
	}{
		"good":       {strings.Repeat(line1+"\n", many), "", 64*many + small},
		"bad end":    {strings.Repeat(line1+"\n", many) + "x", "x:30001: expected at least 103 columns, got 1", small},
		"long lines": {strings.Repeat(line1+strings.Repeat("x", 60_000)+"\n", 100), "x:1: expected a line of at most 1024 bytes", small},
		"one line":   {strings.Repeat("1", 6<<20), "x:1: expected a line of at most 1024 bytes", small},
		"no line":    {strings.Repeat("\n", 1<<20), "x:1048577: expected an orbit, got the end of the file", small},
		"header":     {strings.Repeat("x\n", 1<<20), "x:1: expected at least 103 columns, got 1", small},
	} {
		for way, content := range map[string][]byte{"plain": []byte(c.text), "packed": packed(t, c.text)} {
			g := newGauge(content)
			list, err := orbits.ReadMPCORBFrom("x", g)
			if g.held() > c.most {
				t.Errorf("%s, %s: a file of %d bytes had %d in use want at most %d",
					name, way, len(content), g.held(), c.most)
			}
			switch {
			case c.want == "" && (err != nil || len(list) != many || cap(list) != many):
				t.Errorf("%s, %s: got %d orbits, %v want %d", name, way, len(list), err, many)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("%s, %s: got %v want %s", name, way, err, c.want)
			}
		}
	}
}

func TestCatalogueLimit(t *testing.T) {
	const text = line1 + "\n\n" + line2 + "\n"
	n := 0
	count := func(orbits.Body) { n++ }
	if err := orbits.ParseMPCORBLimit("x", strings.NewReader(text), 3, count); err != nil || n != 2 {
		t.Errorf("got %d bodies, %v want 2", n, err)
	}
	err := orbits.ParseMPCORBLimit("x", strings.NewReader(text), 2, count)
	if want := "x:3: expected at most 2 lines: cut the catalogue before this one"; err == nil || err.Error() != want {
		t.Errorf("got %v want %s", err, want)
	}
}
