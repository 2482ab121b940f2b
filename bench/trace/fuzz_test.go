package trace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRead: no bytes make the readers panic; a trace that they accept has books that agree with the
// slow ones and never go below 0, and reads back from its print; a small trace replays without a
// failed check.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "small", "*"))
	if err != nil || len(files) == 0 {
		f.Fatalf("got %d files (%v) want the small traces", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("1: calloc 0x0 4294967296 4294967296\n1: realloc 0x0 0x0 0\n"))
	f.Add([]byte("1: calloc 0x1 18446744073709551615 0\n18446744073709551615: free 0x1\n"))
	f.Add([]byte("0 3 4 0\na 1 1\nr 1 0\nr 1 7\nf -1\n"))
	f.Add([]byte("Alloc(4611686018427387904),\nFree(0),\nAlloc(0),"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, text, err := parseText("fuzz", data)
		if err != nil {
			return
		}
		s := tr.Stats()
		if s.EndLiveBytes < 0 || s.EndLiveBlocks < 0 || s.PeakLiveBytes < s.EndLiveBytes ||
			s.PeakLiveBlocks < s.EndLiveBlocks || s.TotalBytes < s.PeakLiveBytes || s.MaxRequest < 0 ||
			s.Failed > s.Ops {
			t.Fatalf("impossible books: %+v", s)
		}
		slow, err := statsRef(tr, text)
		if err != nil || slow != s {
			t.Fatalf("slow books: got %+v (%v) want %+v", slow, err, s)
		}
		if len(tr.Ops) > 0 {
			again(t, tr)
		}
		if s.TotalBytes < 1<<20 && s.MaxAlign <= 4096 {
			r := newReplay(tr, newGoMemory())
			if err := r.run(nil); err != nil || r.faults != 0 || r.ledger.answer() != s.Answer {
				t.Fatalf("replay: got %+v, %v, %v want %+v", r.ledger.answer(), r.told, err, s.Answer)
			}
		}
	})
}

// again prints a trace, reads the print and wants the same operations.
func again(t *testing.T, tr *Trace) {
	var text bytes.Buffer
	if err := WriteAOSP(&text, tr); err != nil {
		t.Fatal(err)
	}
	back, _, err := parseText("print", text.Bytes())
	if err != nil {
		t.Fatalf("the print does not read: %v\n%s", err, text.Bytes())
	}
	if got, want := opsText(back), opsText(tr); got != want {
		t.Fatalf("got %s want %s\n%s", got, want, text.Bytes())
	}
}

// FuzzReadStats: a file that is not a STATS.csv is an error with its name; otherwise each row has a
// name.
func FuzzReadStats(f *testing.F) {
	good, err := os.ReadFile(filepath.Join("testdata", "STATS.csv"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("trace,ops\na/b,3\n"))
	f.Add([]byte("trace,trace,\"ops\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "STATS.csv")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := ReadStats(path)
		if err != nil && (rows != nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), path)) {
			t.Fatalf("got %v, %v want an error with the file", rows, err)
		}
		if _, ok := rows[""]; ok {
			t.Fatal("got a row without a name")
		}
	})
}
