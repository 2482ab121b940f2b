package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/child"
)

// TestMain lets a child process be the command itself. In some tests the command has one more
// allocator, which damages the blocks that it hands out.
func TestMain(m *testing.M) {
	if os.Getenv("QUARRY_TEST_BROKEN") != "" {
		broken := func() (memory, error) { return newSpy(makeMemory{}, "flip"), nil }
		allocators = append(allocators[:0:0], allocator{name: "heap", ours: true, blocks: broken})
	}
	if len(os.Args) > 1 && os.Args[1] == child.Flag {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	// A child with the race detector would sleep for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(m.Run())
}

// in runs the command in this process; its children are processes.
func in(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return out.String(), errs.String(), code
}

func TestBadFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"workload":      {[]string{"-only", "chess"}, `-only chess: no such workload "chess"; there are chunk-pair, chunk-batch`},
		"one of them":   {[]string{"-only", "larson,,rptest"}, `no such workload ""`},
		"empty":         {[]string{"-only", ""}, `no such workload ""`},
		"rounds":        {[]string{"-rounds", "0"}, "-rounds 0: expected 1 to 1000"},
		"a word":        {[]string{"-rounds", "many"}, "invalid value"},
		"argument":      {[]string{"larson"}, `unexpected argument "larson"; flags begin with -`},
		"flag":          {[]string{"-nosuch"}, "nosuch"},
		"child":         {[]string{child.Flag, "nonsense"}, "invalid character"},
		"child of none": {[]string{child.Flag, `{"workload":"larson","allocator":"nobody"}`}, `no allocator "nobody"`},
		"child of one":  {[]string{child.Flag, `{"workload":"chunk-search","allocator":"go"}`}, `no workload "chunk-search" for go`},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := in(c.args...)
			require.Equal(t, exitError, code)
			require.Contains(t, errs, c.says)
			require.Empty(t, out)
		})
	}
	_, errs, code := in("-h")
	require.Equal(t, exitOK, code)
	require.Contains(t, errs, "chunk-churn")
}

func TestRoundsOfQuick(t *testing.T) {
	for want, args := range map[int][]string{3: {}, 1: {"-quick"}, 2: {"-quick", "-rounds", "2"}, 5: {"-rounds", "5"}} {
		o, err := parse(args, &bytes.Buffer{})
		require.NoError(t, err)
		require.Equal(t, want, o.rounds, args)
	}
}

func TestTable(t *testing.T) {
	out, errs, code := in("-quick", "-only", "heap-pair")
	require.Equal(t, exitOK, code, errs)
	require.Regexp(t, `heap-pair +heap +.* floor 20 (holds|MISSED), goal 12 (holds|MISSED)`, out)
	require.Regexp(t, `heap-pair +null +`, out)
	require.Contains(t, out, "an operation is\n  heap-pair     alloc and free of 64 bytes")
	require.NotContains(t, out, "WRONG")
	require.NotContains(t, out, "traces")
}

func TestJSON(t *testing.T) {
	out, errs, code := in("-quick", "-json", "-rounds", "2", "-only", "chunk-pair")
	require.Equal(t, exitOK, code, errs)
	var got []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got, 4)
	for i, allocator := range []string{"universe", "go", "sync.Pool", "null"} {
		o := got[i]
		require.Equal(t, "chunk-pair", o["workload"])
		require.Equal(t, allocator, o["allocator"])
		require.Equal(t, true, o["right"])
		require.Equal(t, 2.0, o["rounds"])
		for _, key := range []string{"ns_per_op", "p50_ns", "p99_ns", "p999_ns", "ops"} {
			require.Positive(t, o[key], key)
		}
		require.Contains(t, o, "go_allocs")
		require.InDelta(t, o["ns_per_op"].(float64)-got[3]["ns_per_op"].(float64), o["less_null_ns"], 1e-9)
		if residentBytes() >= 0 {
			for _, key := range []string{"peak_rss", "end_rss"} {
				require.Positive(t, o[key], key)
			}
			require.Contains(t, o, "minor_faults")
			require.Contains(t, o, "major_faults")
		}
	}
	ours := got[0]
	require.Equal(t, 20.0, ours["floor"])
	require.Equal(t, 10.0, ours["goal"])
	require.Equal(t, ours["ns_per_op"].(float64) <= 20, ours["holds_floor"])
	require.Equal(t, ours["ns_per_op"].(float64) <= 10, ours["holds_goal"])
	require.Positive(t, ours["committed_peak"])
	require.Contains(t, ours, "committed_end")
	require.NotContains(t, got[1], "floor")
	require.NotContains(t, got[1], "committed_peak")
}

// TestWrongIsNoticed runs on an allocator that changes bytes of live blocks.
func TestWrongIsNoticed(t *testing.T) {
	t.Setenv("QUARRY_TEST_BROKEN", "1")
	all := allocators
	t.Cleanup(func() { allocators = all })
	allocators = []allocator{{name: "heap", ours: true, blocks: newMake}}
	out, errs, code := in("-quick", "-only", "heap-batch")
	require.Equal(t, exitWrong, code, errs)
	require.Contains(t, out, "WRONG: wrong answer: block ")
	out, errs, code = in("-quick", "-json", "-only", "heap-batch")
	require.Equal(t, exitWrong, code, errs)
	require.Contains(t, out, `"right": false`)
}

func TestDeadChild(t *testing.T) {
	_, err := spec{Workload: "larson", Allocator: "nobody"}.start()
	require.ErrorContains(t, err, `larson on nobody: exit status 2: no allocator "nobody"`)
	require.False(t, errors.Is(err, errWrong))
}

// noRoom is a standard output that cannot be written to.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestOutputThatIsLostIsAnError(t *testing.T) {
	var errs bytes.Buffer
	require.Equal(t, exitError, run([]string{"-quick", "-only", "heap-pair"}, noRoom{}, &errs))
	require.Contains(t, errs.String(), "no room")
}

// TestDataFoldersThatWillNotDo: a folder that does not exist, and one with a trace in which nothing
// happens.
func TestDataFoldersThatWillNotDo(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("QUARRY_DATA", dir)
	_, errs, code := in("-quick", "-only", "traces")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "expected a folder that has one named alloc")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "alloc"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "alloc", "a.rep"), []byte("0 0 0 0\n"), 0o644))
	_, errs, code = in("-quick", "-only", "traces")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "expected a call that does something")
}
