package trace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/bench/workload"
)

// testRun runs the entry point and wants both sides right, with the figures of the answer.
func testRun(t *testing.T, file string, calls int, want Answer) {
	t.Helper()
	last, total := 0, 0
	plain, ours, err := Run(Options{File: file}, func(done, of int) {
		if done < last || done > of {
			t.Errorf("progress: got %d of %d after %d", done, of, last)
		}
		last, total = done, of
	})
	if err != nil {
		t.Fatal(err)
	}
	if last != total || total == 0 {
		t.Errorf("progress: got %d of %d at the end", last, total)
	}
	for name, side := range map[string]workload.Side{"plain": plain, "ours": ours} {
		if !side.OK || !strings.Contains(side.Detail, "every byte was as written") {
			t.Errorf("%s: got %v, %s want OK", name, side.OK, side.Detail)
		}
		got := Answer{
			PeakLiveBytes: int64(side.Figures["peak_live_bytes"]), PeakLiveBlocks: int(side.Figures["peak_live_blocks"]),
			EndLiveBytes: int64(side.Figures["end_live_bytes"]), EndLiveBlocks: int(side.Figures["end_live_blocks"]),
		}
		if got != want || side.Ops != calls || side.Time <= 0 || side.Figures["ns_per_op"] <= 0 ||
			side.Figures["warm_ns_per_op"] <= 0 || len(side.Lines) == 0 {
			t.Errorf("%s: got %+v want %+v in %d calls", name, side, want, calls)
		}
	}
	if plain.Committed != 0 || ours.Committed < want.PeakLiveBytes {
		t.Errorf("committed: got %d and %d want 0 and at least %d", plain.Committed, ours.Committed, want.PeakLiveBytes)
	}
}

// The drawing shows the peak of the live bytes within one sample, and on our side never more live
// bytes than held bytes.
func TestRunDrawing(t *testing.T) {
	_, ours, err := Run(Options{}, nil)
	if err != nil || len(ours.Drawings) != 1 || len(ours.Drawings[0].Series) != 3 {
		t.Fatalf("got %v, %d drawings want one of 3 series", err, len(ours.Drawings))
	}
	live, held := ours.Drawings[0].Series[0], ours.Drawings[0].Series[2]
	if n := len(live.X); n < 100 || n > usagePoints+2 || live.X[n-1] < 199_000 {
		t.Errorf("got %d points want 100 to %d, up to the end", n, usagePoints+2)
	}
	if got, want := slices.Max(live.Y), float64(demoAnswer.PeakLiveBytes); got > want || got < 0.9*want {
		t.Errorf("greatest live: got %g want about %g", got, want)
	}
	for i := range live.Y {
		if held.Y[i] < live.Y[i] {
			t.Errorf("after %g operations: got %g bytes held of %g live", live.X[i], held.Y[i], live.Y[i])
		}
	}
}

func TestRunDemo(t *testing.T) {
	testRun(t, "", demoCalls, demoAnswer)
}

// TestRunFiles runs a file with a known answer next to its folder, and the same file without one.
func TestRunFiles(t *testing.T) {
	want := Answer{PeakLiveBytes: 224, PeakLiveBlocks: 5, EndLiveBytes: 7, EndLiveBlocks: 2}
	for _, name := range []string{"calls.txt", "calls.zip"} {
		known := filepath.Join("testdata", "small", name)
		testRun(t, known, 15, want)
		data, err := os.ReadFile(known)
		if err != nil {
			t.Fatal(err)
		}
		unknown := filepath.Join(t.TempDir(), "any.name")
		if err := os.WriteFile(unknown, data, 0o600); err != nil {
			t.Fatal(err)
		}
		testRun(t, unknown, 15, want)
	}
}

// TestRunWrongAnswer pairs a trace with a wrong answer: both sides must report it with the numbers.
func TestRunWrongAnswer(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("testdata", "STATS.csv"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "small", "lab.rep")
	data, err := os.ReadFile(filepath.Join("testdata", "small", "lab.rep"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[[2]string]string{
		{",1106,", ",1107,"}:     "peak live bytes 1106 want 1107",
		{",1106,4,", ",1106,5,"}: "peak live blocks 4 want 5",
		{",106,3,", ",100,2,"}:   "live bytes at the end 106 want 100; live blocks at the end 3 want 2",
		{",2386,", ",2385,"}:     "TotalBytes:2385",
	} {
		stats := strings.Replace(string(good), change[0], change[1], 1)
		if err := os.WriteFile(filepath.Join(dir, "STATS.csv"), []byte(stats), 0o600); err != nil {
			t.Fatal(err)
		}
		plain, ours, err := Run(Options{File: file}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range []workload.Side{plain, ours} {
			if side.OK || !strings.Contains(side.Detail, want) {
				t.Errorf("got %v, %q want %q", side.OK, side.Detail, want)
			}
		}
	}
}

// TestRunErrors: a bad file is an error, and there is no side.
func TestRunErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		is         error
	}{
		"bad":     {"Alloc(5),\nAloc(5),\n", `:2: expected Alloc(SIZE), or Free(INDEX), got "Aloc(5),"`, ErrFormat},
		"big":     {"Alloc(4294967297),\n", "expected at most 4294967296 bytes live at once, got 4294967297", ErrLimit},
		"aligned": {"1: memalign 0x10 2097152 1\n", "expected alignments of at most 1048576 bytes, got 2097152", ErrLimit},
		"missing": {"", "nothing here", os.ErrNotExist},
	} {
		path := filepath.Join(t.TempDir(), "nothing here")
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		plain, ours, err := Run(Options{File: path}, nil)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v want %s", name, err, c.want)
		}
		if plain.OK || ours.OK {
			t.Errorf("%s: got sides that are OK", name)
		}
	}
}

// TestSideOfBrokenReplay: a side whose replay ends with an error, or whose checks fail, is not OK
// and names the operation.
func TestSideOfBrokenReplay(t *testing.T) {
	s, err := load(filepath.Join("testdata", "small", "calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for defect, want := range map[string]string{
		"fails": "operation 2 (calloc of 24 bytes): out of order",
		"dirty": "checks failed: operation 2 (calloc of 24 bytes): byte 23 of 24 is 0x01, want 0",
		"short": "peak live bytes",
	} {
		r := newReplay(s.t, &broken{goMemory: newGoMemory(), defect: defect})
		side := s.side(r, r.run(nil))
		if side.OK || !strings.Contains(side.Detail, want) {
			t.Errorf("%s: got %v, %q want %q", defect, side.OK, side.Detail, want)
		}
	}
}

// TestLeaksAreFound: a block that is not freed makes close return an error.
func TestLeaksAreFound(t *testing.T) {
	m, err := newHeapMemory()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.get(100, 0); err != nil {
		t.Fatal(err)
	}
	if err := m.close(); err == nil || !strings.Contains(err.Error(), "1 live blocks") {
		t.Errorf("got %v want 1 live block", err)
	}
}
