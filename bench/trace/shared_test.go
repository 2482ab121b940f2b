package trace

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"quarry/bench/recorded"
	"quarry/internal/debug"
)

// skipBig skips a big trace in short, race and debug runs, where every byte that is filled and
// checked costs twenty times as much.
func skipBig(t *testing.T, row Row) {
	t.Helper()
	const ops, size = 50_000, 64 << 20
	if (row.Ops > ops || row.TotalBytes > size) && (testing.Short() || debug.On) {
		t.Skipf("skipped: %d operations, %d bytes in a short, race or debug run", row.Ops, row.TotalBytes)
	}
}

// eachTrace runs a test once per row of a STATS.csv.
func eachTrace(t *testing.T, folder string, f func(t *testing.T, path string, row Row)) {
	t.Helper()
	rows, err := ReadStats(filepath.Join(folder, "STATS.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		t.Run(name, func(t *testing.T) {
			f(t, filepath.Join(folder, filepath.FromSlash(name)), rows[name])
		})
	}
}

// testAnswers compares both books of every trace of a folder with its STATS.csv.
func testAnswers(t *testing.T, folder string) {
	eachTrace(t, folder, func(t *testing.T, path string, row Row) {
		if row.Ops > 1_000_000 {
			skipBig(t, row)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tr, text, err := parseText(path, data)
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.Stats(); got != row.Stats {
			t.Errorf("fast books: got %+v want %+v", got, row.Stats)
		}
		slow, err := statsRef(tr, text)
		if err != nil {
			t.Fatal(err)
		}
		if slow != row.Stats {
			t.Errorf("slow books: got %+v want %+v", slow, row.Stats)
		}
		header := ""
		if tr.Member != "" {
			header = fmt.Sprintf("%s:%d", tr.Member, tr.Bytes)
		}
		if header != row.Header {
			t.Errorf("header: got %q want %q", header, row.Header)
		}
		if row.FreeUnknown != 0 || row.DupID != 0 {
			t.Errorf("free_unknown, dup_id: got %d and %d in a trace that was read", row.FreeUnknown, row.DupID)
		}
	})
}

// testReplays replays every trace of a folder on both sides, with and without
// the check that live blocks do not overlap.
func testReplays(t *testing.T, folder string) {
	eachTrace(t, folder, func(t *testing.T, path string, row Row) {
		skipBig(t, row)
		tr, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		testReplay(t, tr, row.Answer)
	})
}

func TestSharedAnswers(t *testing.T) { testAnswers(t, recorded.Path(t, "alloc")) }

func TestSharedReplays(t *testing.T) { testReplays(t, recorded.Path(t, "alloc")) }

// TestOwnAnswers: testdata/STATS.csv was worked out by hand, line by line; testdata/books.awk
// confirms the rows of calls.txt.
func TestOwnAnswers(t *testing.T) { testAnswers(t, "testdata") }

func TestOwnReplays(t *testing.T) { testReplays(t, "testdata") }

// TestSharedRun runs the entry point on three of the shared traces, one from each kind of source.
func TestSharedRun(t *testing.T) {
	folder := recorded.Path(t, "alloc")
	rows, err := ReadStats(filepath.Join(folder, "STATS.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"recorded/cc1.zip", "wee_alloc/gcc-hello.trace", "wee_alloc/ls.trace"} {
		t.Run(name, func(t *testing.T) {
			row := rows[name]
			skipBig(t, row)
			testRun(t, filepath.Join(folder, filepath.FromSlash(name)), row.Ops, row.Answer)
		})
	}
}
