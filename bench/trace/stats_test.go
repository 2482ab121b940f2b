package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneStep: a realloc never counts the old and the new size together.
func TestOneStep(t *testing.T) {
	for text, want := range map[string]Answer{
		"1: malloc 0x10 100\n1: realloc 0x20 0x10 60\n":                       {100, 1, 60, 1},
		"1: malloc 0x10 100\n1: realloc 0x20 0x10 130\n":                      {130, 1, 130, 1},
		"1: malloc 0x10 0\n1: malloc 0x20 0\n1: free 0x10\n":                  {0, 2, 0, 1},
		"1: malloc 0x10 9\n1: free 0x10\n1: malloc 0x10 1\n1: malloc 0x2 1\n": {9, 2, 2, 2},
		"1: malloc 0x0 9\n1: thread_done 0x0\n":                               {0, 0, 0, 0},
	} {
		tr, raw, err := parseText("", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.Stats().Answer; got != want {
			t.Errorf("%q: got %+v want %+v", text, got, want)
		}
		slow, err := statsRef(tr, raw)
		if err != nil || slow != tr.Stats() {
			t.Errorf("%q: slow books: got %+v (%v) want %+v", text, slow, err, tr.Stats())
		}
		testReplay(t, tr, want)
	}
}

// TestLabForm has the cases that only the ids of the malloc lab have: an id that is NULL, an id
// that is reused, a weight and heap size of any value.
func TestLabForm(t *testing.T) {
	tr, raw, err := parseText("l.rep", "3 5 7 9\nr 4 10\nr 4 0\nr 4 20\nf 4\na 4 5\nr 2 0\nf -1\n")
	if err != nil {
		t.Fatal(err)
	}
	got := tr.Stats()
	want := Stats{
		Ops: 7, Malloc: 1, Realloc: 4, Free: 2, FreeNull: 1, ZeroSize: 1, TotalBytes: 35, MaxRequest: 20,
		P50: 10, P90: 20, P99: 20, DistinctSizes: 4, Threads: 1,
		Answer: Answer{PeakLiveBytes: 20, PeakLiveBlocks: 2, EndLiveBytes: 5, EndLiveBlocks: 2},
	}
	if got != want {
		t.Errorf("got %+v want %+v", got, want)
	}
	if slow, err := statsRef(tr, raw); err != nil || slow != want {
		t.Errorf("slow books: got %+v (%v) want %+v", slow, err, want)
	}
	testReplay(t, tr, want.Answer)
}

func TestReadStatsRefuses(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("testdata", "STATS.csv"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "STATS.csv")
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {"", ":1: expected a header line"},
		"no number":      {strings.Replace(string(good), "txt,16", "txt,x", 1), `:2: column ops: expected a number`},
		"unknown column": {strings.Replace(string(good), "p90", "p91", 1), `expected the columns of STATS.csv, got "p91"`},
		"missing column": {"trace,ops\na/b,3\n", "expected the columns of STATS.csv, got trace,ops"},
		"long":           {string(good) + strings.Repeat("\n", 256<<10), "expected at most 262144 bytes: leave out what is not needed"},
		"short row":      {string(good) + "x,1\n", "wrong number of fields"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadStats(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v want %s", name, err, c.want)
		}
	}
}
