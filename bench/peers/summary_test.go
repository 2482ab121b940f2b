package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runFile writes what -json would print for one workload with two entrants.
func runFile(t *testing.T, own, peer float64, n int) string {
	ratio, limit, holds := own/peer, 0.5, own <= 0.5*peer
	list := []entry{
		{Workload: "add_remove", N: n, Library: ours, Entrant: quarry, Figure: &own, NsPerEntity: &own,
			Unit: "ns/entity", Right: true,
			Floor: &limit, HoldsFloor: &holds, FloorOf: new(ark), FloorRatio: &ratio},
		{Workload: "add_remove", N: n, Library: "ark", Entrant: ark, Figure: &peer, NsPerEntity: &peer, Unit: "ns/entity", Right: true},
		{Workload: "add_remove", N: n, Library: "volt", Entrant: volt, Unit: "ns/entity"},
	}
	var text bytes.Buffer
	require.NoError(t, encode(&text, list))
	name := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, os.WriteFile(name, text.Bytes(), 0o644))
	return name
}

func TestSummary(t *testing.T) {
	a, b := runFile(t, 20, 50, 16_000), runFile(t, 30, 50, 16_000)
	out, errs, code := in("-summary", a+","+b)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out,
		"| add_remove | 16,000 | quarry | 20 30 | ark 50 | 0.400 0.600 | 0.5 x ark **missed** in 1 of 2 | - |")
	require.Contains(t, out, "0 of 1 floors hold in 2 runs of 2, and 0 of 0 goals.")
	require.Contains(t, out, "| add_remove | 16,000 | 20 | - | 50 | - | - | - | - | 0.40 |")
	out, _, _ = in("-summary", a+","+a)
	require.Contains(t, out, "0.5 x ark holds")
	require.Contains(t, out, "1 of 1 floors hold")
}

func TestSummaryRefuses(t *testing.T) {
	a, other := runFile(t, 20, 50, 16_000), runFile(t, 20, 50, 100)
	bad := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte("workload"), 0o644))
	for files, says := range map[string]string{
		a + "," + other: "has other workloads than",
		bad:             "is not what -json prints",
		bad + "x":       "no such file",
	} {
		_, errs, code := in("-summary", files)
		require.Equal(t, exitError, code)
		require.Contains(t, errs, says)
	}
}

// oneRun is a file with the JSON of a run.
func oneRun(t testing.TB, text string) string {
	name := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

// The best peer of a target differs from run to run, and was left out in the first.
func TestSummaryOfChangingPeers(t *testing.T) {
	const ours = `{"workload":"random","n":9,"library":"quarry","entrant":"quarry",` +
		`"figure":2,"floor":0.5,"holds_floor":true,`
	a := oneRun(t, "["+ours+`"floor_of":"ark","floor_ratio":0.5},
		{"workload":"random","n":9,"library":"ark","entrant":"ark","figure":4},
		{"workload":"random","n":9,"library":"volt","entrant":"volt","figure":null}]`)
	b := oneRun(t, "["+ours+`"floor_of":"volt","floor_ratio":0.25},
		{"workload":"random","n":9,"library":"ark","entrant":"ark","figure":5},
		{"workload":"random","n":9,"library":"volt","entrant":"volt","figure":8}]`)
	out, errs, code := in("-summary", a+","+b)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "| random | 9 | quarry | 2 2 | volt 8 | 0.500 0.250 |")
}

// The collector's workload has additional keys.
func TestSummaryOfTheCollector(t *testing.T) {
	var text bytes.Buffer
	e := entry{Workload: "gc", N: 9, Library: ours, Entrant: quarry, Figure: new(2.0), CollectorEntry: &CollectorEntry{
		Build: 3,
	}}
	require.NoError(t, encode(&text, []entry{e}))
	run, err := readRun(oneRun(t, text.String()))
	require.NoError(t, err)
	require.Equal(t, []entry{e}, run)
}

// ab is the beginning of an object with what each must have.
const ab = `[{"workload":"a","entrant":"b","n":1`

var oddRuns = map[string]string{
	`[{}]`:                     "object 1: expected a workload, an entrant and n above 0",
	`[{"workload":"a","n":1}]`: "object 1: expected a workload, an entrant and n above 0",
	`[{"workload":"a","entrant":"b","n":-1}]`:                              "object 1: expected a workload, an entrant and n above 0",
	ab + `},` + ab[1:] + `,"holds_floor":true}]`:                           "object 2 (a, b): expected a figure, for it has a verdict",
	ab + `,"figure":1,"holds_floor":true,"floor_ratio":1}]`:                "object 1 (a, b): expected whose multiple the floor is, for it has a ratio",
	ab + `,"figure":1,"holds_floor":true,"floor_ratio":1,"floor_of":"c"}]`: "object 1 (a, b): expected a figure of c, whose multiple the floor is",
	ab + `}] []`:                     "nothing after it",
	"[" + strings.Repeat(" ", 4<<20): "expected at most 4194304 bytes",
	`[]`:                             "has no results",
}

func TestSummaryOfOddRuns(t *testing.T) {
	for text, says := range oddRuns {
		name := oneRun(t, text)
		_, errs, code := in("-summary", name)
		require.Equal(t, exitError, code, text)
		require.Contains(t, errs, name, text)
		require.Contains(t, errs, says, text)
	}
}

func FuzzSummary(f *testing.F) {
	f.Add([]byte(`[{"workload":"random","n":9,"library":"quarry","entrant":"quarry","figure":2,"floor":0.5,"holds_floor":true,"floor_of":"ark","floor_ratio":0.5},
		{"workload":"random","n":9,"library":"ark","entrant":"ark","figure":4,"p99_ns":3,"best_peer":"ark","goal_of":"volt","unit":"bytes"}]`))
	for text := range oddRuns {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		name := oneRun(t, string(text))
		s, err := readSummary([]string{name, name})
		if err != nil {
			require.ErrorContains(t, err, name)
			return
		}
		var out bytes.Buffer
		s.print(&out)
		require.Contains(t, out.String(), s.cases[0].workload)
	})
}
