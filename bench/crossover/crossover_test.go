package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/host"
)

var update = flag.Bool("update", false, "write the table into docs/performance.md")

// TestSidesAgree does each task on both sides.
func TestSidesAgree(t *testing.T) {
	for _, task := range tasks {
		for _, n := range []int{10, 3_000} {
			p, err := task.measure(n, 2)
			require.NoError(t, err)
			require.False(t, p.Wrong, "%s, %d", task.name, n)
			require.Positive(t, p.Ratio)
		}
	}
}

// TestPage: docs/performance.md has the table of the run that is kept; -update writes it.
func TestPage(t *testing.T) {
	r, err := read("../results/crossover.json")
	require.NoError(t, err)
	same, err := host.Put("../../docs/performance.md", "crossover", r.Host.String()+":\n\n"+r.table(), *update)
	require.NoError(t, err)
	require.True(t, same, "write it by -update")
}

func TestCommand(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, exitOK, command([]string{"-quick", "-json"}, &out, &errs), errs.String())
	var r result
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	file := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
	out.Reset()
	require.Equal(t, exitOK, command([]string{"-from", file}, &out, &errs), errs.String())
	require.Contains(t, out.String(), r.table())

	r.Points[0].Wrong = true
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	require.Equal(t, exitWrong, command([]string{"-from", file}, &out, &errs))
	for _, bad := range [][]string{{"-rounds", "0"}, {"more"}, {"-no"}, {"-from", file + "x"}} {
		require.Equal(t, exitError, command(bad, &out, &errs), bad)
	}
}

func TestTable(t *testing.T) {
	r := result{Points: []point{
		{Task: "loop", N: 10, Ratio: 12.34}, {Task: "loop", N: 1_000, Ratio: .996}, {Task: "loop", N: 1_000_000, Ratio: .5},
		{Task: "get", N: 10, Ratio: .9}, {Task: "get", N: 1_000, Ratio: 1.04}, {Task: "get", N: 1_000_000, Ratio: 1.2},
	}}
	require.Equal(t, "| task | 10 | 1,000 | 1 M | Quarry wins from |\n|---|---:|---:|---:|---|\n"+
		"| `loop`: "+tasks[1].what+" | 12 | **1.0** | **.50** | 1,000 |\n"+
		"| `get`: "+tasks[3].what+" | **.90** | 1.0 | 1.2 | never |\n", r.table())
}
