package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCounterpart(t *testing.T) {
	for key, want := range map[[2]string]string{
		{"query2comp", ark}:                  "query2comp Ark",
		{"query2comp", arkTables}:            "query2comp Ark (tables)",
		{"query2comp", archeCached}:          "query2comp Arche (cached)",
		{"create2comp-batch", arkBatch}:      "create2comp Ark (batch)",
		{"add_remove_large-batch", arkBatch}: "add_remove_large Ark (batch)",
		{"delete10comp", "volt"}:             "delete10comp Volt",
		{"new_world", "uot"}:                 "new_world uot",
		{"add_remove-shuffled", ark}:         " ",
		{"add_remove-batch-shuffled", ark}:   " ",
		{"random", arkUnchecked}:             " ",
		{"query2comp", goSlices}:             " ",
		{"query2comp", quarry}:               " ",
		{"enable", ark}:                      " ",
		{"random", "chess"}:                  " ",
	} {
		w := way{workload: key[0], entrant: key[1]}
		workload, name := w.counterpart()
		require.Equal(t, want, workload+" "+name, key)
	}
	o := &options{only: []string{"query2comp", "create2comp-batch"}}
	list := o.matches()
	names := map[string]bool{}
	for _, p := range list {
		require.Equal(t, usual, p.here.n)
		names[p.workload+" "+p.name] = true
	}
	for _, name := range []string{"query2comp Ark (tables)", "create2comp Ark (batch)", "query2comp Volt",
		"query2comp uot"} {
		require.True(t, names[name], name)
	}
}

func TestHarnessFigure(t *testing.T) {
	const table = "N,Ark,Ark (tables)\n16,2.500000,1.250000\n16000,2.250000,0.750000\n64,0.000000,NaN\n"
	ns, err := harnessFigure(strings.NewReader(table), "Ark (tables)", 16_000)
	require.NoError(t, err)
	require.Equal(t, 0.75, ns)
	for _, bad := range []struct {
		table, name string
		n           int
		says        string
	}{
		{table, "Volt", 16, "no figure of Volt for n = 16 in 4 lines"},
		{table, "N", 16, "no figure of N"},
		{table, "Ark", 17, "no figure of Ark for n = 17"},
		{table, "Ark", 64, "Ark, n = 64: 0 ns"},
		{table, "Ark (tables)", 64, "NaN ns"},
		{"", "Ark", 16, "in 0 lines"},
		{"N,Ark\n16\n", "Ark", 16, "wrong number of fields"},
		{"N,Ark\n" + strings.Repeat("\n", 256<<10), "Ark", 16, "expected at most 262144 bytes"},
		{"N,Ark\n16,fast\n", "Ark", 16, "invalid syntax"},
	} {
		_, err := harnessFigure(strings.NewReader(bad.table), bad.name, bad.n)
		require.ErrorContains(t, err, bad.says)
	}
}

// madeMatch is a match with made-up figures.
func madeMatch(here, theirs float64) *match {
	c := made(ark, here)
	c.way.workload = "random"
	return &match{here: c, workload: "random", name: "Ark", theirs: []float64{theirs}}
}

func TestComparison(t *testing.T) {
	require.Equal(t, "within 20 %", madeMatch(12, 10).comparison().verdict())
	require.Equal(t, "SLOWER: does not count", madeMatch(12.1, 10).comparison().verdict())
	require.Equal(t, "within 20 %", madeMatch(8, 10).comparison().verdict())
	require.Equal(t, "faster", madeMatch(7.9, 10).comparison().verdict())
	broken := madeMatch(1, 1)
	broken.here.wrong = "got 1, want 2"
	require.Equal(t, "WRONG: got 1, want 2", broken.comparison().verdict())
	skipped := madeMatch(1, 1)
	skipped.skip = "no such benchmark"
	require.Equal(t, "not measured: no such benchmark", skipped.comparison().verdict())
	var out bytes.Buffer
	require.NoError(t, printCheck(&out, []*match{madeMatch(15, 10), skipped}, 1))
	require.Regexp(t,
		`random +16000 +ark +10 +15 +1.50 +SLOWER: does not count\nrandom +16000 +ark +- +- +- +not measured: no such`,
		out.String())
}

// fakeHarness is a clone with the packages that our harness program calls, in which Ark takes 1,234
// ns per entity and Arche is missing.
func fakeHarness(t *testing.T) (dir, commit string) {
	dir = t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("go.mod", "module github.com/mlange-42/go-ecs-benchmarks\n\ngo 1.24\n")
	write("bench/util/util.go", `package util

import (
	"fmt"
	"os"
	"testing"
)

type Benchmarks struct {
	Benches []Benchmark
	N       []int
}

type Benchmark struct {
	Name string
	F    func(b *testing.B, n int)
}

func ToCSV(Benchmarks) string { return "" }

func RunBenchmarks(name string, b Benchmarks, count int, _ func(Benchmarks) string) {
	text := fmt.Sprintf("N,%s\n%d,%f\n", b.Benches[0].Name, b.N[0], 1234.0)
	os.WriteFile("results/"+name+".csv", []byte(text), 0o666)
}
`)
	for _, w := range harnessWorkloads {
		write("bench/"+w+"/run.go", fmt.Sprintf("package %s\n\nimport %q\n\nfunc Benchmarks() util.Benchmarks {\n"+
			"\treturn util.Benchmarks{Benches: []util.Benchmark{{Name: \"Ark\"}}}\n}\n",
			strings.ReplaceAll(w, "_", ""), "github.com/mlange-42/go-ecs-benchmarks/bench/util"))
	}
	git := func(args ...string) string {
		c := exec.Command("git", append([]string{"-c", "user.name=q", "-c", "user.email=q@localhost"}, args...)...)
		c.Dir = dir
		text, err := c.CombinedOutput()
		require.NoError(t, err, "%s", text)
		return strings.TrimSpace(string(text))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "all")
	return dir, git("rev-parse", "HEAD")
}

// TestHarness clones, builds and runs a fake harness.
func TestHarness(t *testing.T) {
	if testing.Short() {
		t.Skip("it clones and builds, about 5 s")
	}
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s command: %v", tool, err)
		}
	}
	dir, commit := fakeHarness(t)
	h, err := openHarness(dir, commit, nil, time.Millisecond)
	require.NoError(t, err)
	o := &options{only: []string{"random"}, n: 64, rounds: 2}
	list := o.matches()
	require.NoError(t, o.compareMatches(h, list, testBudget))
	all := comparisons(list)
	require.Len(t, all, 5)
	require.Equal(t, 1234.0, *all[0].Theirs)
	require.Equal(t, 2, all[0].Rounds)
	require.Less(t, *all[0].Ratio, 1.0)
	require.True(t, *all[0].Counts)
	require.Equal(t, "not measured: Arche of random: harness.exe -workload=random: exit status 1: "+
		`0 benchmarks "Arche" of workload random, want 1`, all[1].verdict())
	var out bytes.Buffer
	require.NoError(t, encode(&out, all))
	require.True(t, json.Valid(out.Bytes()))
	require.NoError(t, h.close())
	require.NoDirExists(t, h.dir)

	_, err = openHarness(dir, strings.Repeat("0", 40), nil, time.Millisecond)
	require.ErrorContains(t, err, "the harness is needed at commit 0000")
	_, err = openHarness(filepath.Join(dir, "none"), commit, nil, time.Millisecond)
	require.ErrorContains(t, err, "git clone: exit status 128: fatal: ")
	require.ErrorContains(t, err, "-harness DIR takes a clone that is there already")
	_, err = openHarness(dir, commit, []string{"nowhere@v1"}, time.Millisecond)
	require.ErrorContains(t, err, "go get: exit status 1: ")
	_, errs, code := in("-check", "-only", "enable")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "-check: the harness has none of enable")
}
