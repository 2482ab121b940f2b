package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/child"
	"quarry/mmap"
)

// TestMain lets a child process be the command itself.
func TestMain(m *testing.M) {
	if os.Getenv("QUARRY_TEST_AS_COMMAND") != "" || len(os.Args) == 3 && os.Args[1] == child.Flag {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// command runs the command in a process of its own, under a limit if one is given.
func command(t *testing.T, limit string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	shell := append([]string{"-c", limit + ` exec "$0" "$@"`, os.Args[0]}, args...)
	c := exec.Command("sh", shell...)
	c.Env = append(os.Environ(), "QUARRY_TEST_AS_COMMAND=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// in runs the command in this process.
func in(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return out.String(), errs.String(), code
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestTableSaysRight(t *testing.T) {
	out, errs, code := in("-only", "life", "-gens", "200", "-o", "")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "universe   ")
	require.Regexp(t, `life +go +right `, out)
	require.Regexp(t, `life +quarry +right `, out)
	require.NotContains(t, out, "WRONG")
}

// TestBrokenRuleIsNoticed runs Life by a different rule against the known answers.
func TestBrokenRuleIsNoticed(t *testing.T) {
	out, _, code := in("-only", "life", "-rule", "B36/S23", "-o", "")
	require.Equal(t, exitWrong, code)
	require.Regexp(t, `life +go +WRONG `, out)
	require.Regexp(t, `life +quarry +WRONG `, out)
	require.Contains(t, out, "want")
}

func TestJSON(t *testing.T) {
	pattern := write(t, "blinker.rle", "x = 3, y = 1, rule = B3/S23\n3o!\n")
	out, errs, code := in("-json", "-only", "life", "-rle", pattern, "-gens", "9", "-o", t.TempDir())
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "report.html")
	var got []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got, 2)
	for i, side := range []string{"go", "quarry"} {
		require.Equal(t, "life", got[i]["workload"])
		require.Equal(t, side, got[i]["side"])
		require.Equal(t, true, got[i]["ok"])
		require.Equal(t, 3.0, got[i]["population"])
		require.Equal(t, 3.0+18, got[i]["created"])
		require.Equal(t, 18.0, got[i]["destroyed"])
		for _, key := range []string{"ns_per_op", "committed", "heap", "detail"} {
			require.Contains(t, got[i], key)
		}
	}
	require.Zero(t, got[0]["committed"])
	require.Positive(t, got[1]["committed"])
}

func TestPicture(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	catalog := write(t, "one.txt", catalogLine+"\n")
	peers := write(t, "peers.json",
		`[{"workload": "query2comp", "n": 1000, "library": "ark", "entrant": "ark", "ns_per_entity": 0.7}]`)
	out, errs, code := in("-only", "orbits", "-catalog", catalog, "-o", dir, "-peers", peers)
	require.Equal(t, exitOK, code, errs)
	require.True(t, strings.HasSuffix(out, "\nreport: "+filepath.Join(dir, "report.html")+"\n"), out)
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	require.NoError(t, err)
	for _, want := range []string{"data:image/png;base64,", "mean distance", "query2comp", "gonum.org/v1/plot",
		runtime.Version()} {
		require.Contains(t, string(page), want)
	}
	b, err := os.ReadFile(filepath.Join(dir, "orbits.png"))
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(b, []byte("\x89PNG")))
	file := write(t, "in-the-way", "")
	_, errs, code = in("-only", "orbits", "-catalog", catalog, "-o", filepath.Join(file, "out"))
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "another folder: -o DIR")
}

// catalogLine is (1) Ceres in the MPCORB format, with rounded elements.
const catalogLine = "00001    3.34  0.15 K239D  60.07870   73.42180   80.25440   10.58690  0.0788175  0.21429712   2.7660431  0 MPO000000    1   1 1801-2023 0.00 M-v 30k Quarry     4000      (1) Ceres              20230913"

func TestBadInputIsNamed(t *testing.T) {
	rle := write(t, "bad.rle", "x = 3, y = 1, rule = B3/S23\n3q!\n")
	catalog := write(t, "bad.txt", catalogLine+"\n"+"00002 nonsense\n")
	trace := write(t, "bad.trace", "Alloc(5),\nFree(0),\nAloc(5),\n")
	peers := write(t, "bad.json", `{"workload": "life"}`)
	missing := filepath.Join(t.TempDir(), "nowhere")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"rle":            {[]string{"-only", "life", "-rle", rle}, []string{"bad.rle:2: ", "expected"}},
		"catalog":        {[]string{"-only", "orbits", "-o", "", "-catalog", catalog}, []string{"bad.txt:2: ", "expected"}},
		"trace":          {[]string{"-only", "trace", "-trace", trace}, []string{"bad.trace:3: ", "expected"}},
		"peers":          {[]string{"-only", "orbits", "-o", t.TempDir(), "-peers", peers}, []string{"-peers ", "bad.json: ", "expected an array of objects"}},
		"missing peers":  {[]string{"-o", t.TempDir(), "-peers", missing}, []string{"nowhere"}},
		"peers nowhere":  {[]string{"-o", "", "-peers", peers}, []string{`-o "" leaves that out`}},
		"missing rle":    {[]string{"-rle", missing}, []string{"nowhere"}},
		"missing trace":  {[]string{"-trace", missing}, []string{"nowhere"}},
		"missing orbits": {[]string{"-catalog", missing}, []string{"nowhere"}},
		"no file":        {[]string{"-trace", os.DevNull}, []string{"is not an ordinary file"}},
		"left out":       {[]string{"-only", "orbits", "-rle", rle}, []string{"-rle is input for life, but -only orbits leaves that out"}},
		"folder":         {[]string{"-rle", t.TempDir()}, []string{"is a folder, expected a file"}},
		"workload": {
			[]string{"-only", "chess"}, []string{
				"-only chess: no such workload; there are iterate, life, orbits, trace, churn, snapshot, rollback, undo, dashboard, city, server, micro",
			},
		},
		"argument":      {[]string{"life"}, []string{`unexpected argument "life"`}},
		"flag":          {[]string{"-nosuch"}, []string{"nosuch"}},
		"rule":          {[]string{"-only", "life", "-rule", "fast"}, []string{"-rule: "}},
		"two sizes":     {[]string{"-quick", "-full"}, []string{"-quick and -full: expected one of them"}},
		"records":       {[]string{"-only", "churn", "-records", "10"}, []string{"churn: 10 records, expected 1000 to 64000000"}},
		"records below": {[]string{"-records", "-5"}, []string{"-records -5: expected a number of records"}},
		"records of":    {[]string{"-only", "life", "-records", "5000"}, []string{"-records is input for churn, but -only life leaves that out"}},
		"gens":          {[]string{"-only", "life", "-gens", "-1"}, []string{"generations"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs, code := in(append([]string{"-o", ""}, c.args...)...)
			require.Equal(t, exitError, code)
			for _, s := range c.says {
				require.Contains(t, errs, s)
			}
		})
	}
}

// TestSnapshots runs the short form of what keeps states.
func TestSnapshots(t *testing.T) {
	for name, says := range map[string]string{
		"snapshot":  "snapshot, quarry: take, 200000 rows of 40 B: Snapshot ",
		"rollback":  "rollback, quarry: boids, 10000 birds, 16 frames twice: a frame ",
		"dashboard": "dashboard, quarry: 100000 accounts, 28 frames at 60 Hz with 4 readers: p50 ",
		"city":      "city, quarry: ",
		"server":    "server, quarry: frames p50 ",
		"undo":      "undo, quarry: 5000 things, one of 16 named, 100 steps: a step with its state ",
	} {
		out, errs, code := in("-only", name, "-quick", "-o", "")
		require.Equal(t, exitOK, code, out+errs)
		require.Contains(t, out, says)
		require.Regexp(t, name+` +go +right `, out)
		require.Regexp(t, name+` +quarry +right `, out)
	}
}

// TestUnderALimit runs the command with little address space: it reports that and works on a
// smaller universe.
func TestUnderALimit(t *testing.T) {
	if runtime.GOOS != "linux" || !mmap.Real {
		t.Skip("ulimit -v is tested on Linux, without the race detector")
	}
	out, errs, code := command(t, "ulimit -v 4000000;", "-only", "life", "-gens", "100", "-o", "")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "smaller than the 16 GiB wanted: limits forbid it")
	if !testing.Short() { // every workload in one process, on ranges that the first one left
		out, errs, code = command(t, "ulimit -v 4000000;", "-quick", "-o", "")
		require.Equal(t, exitOK, code, out+errs)
		require.Contains(t, out, "ecs, Create: ", "the microbenchmarks run too")
	}
	_, errs, code = command(t, "", "-only", "nothing")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "no such workload")
}
