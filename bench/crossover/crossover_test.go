package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

// TestPage: docs/performance.md has the table of the run that is kept, between two marks; -update
// writes it.
func TestPage(t *testing.T) {
	const name, begin, end = "../../docs/performance.md", "<!-- crossover -->\n", "<!-- end of crossover -->"
	r, err := read("../results/crossover.json")
	require.NoError(t, err)
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	want := before + begin + r.Host.String() + ":\n\n" + r.table() + end + after
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(page))
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
