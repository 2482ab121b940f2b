package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// runFile writes what -json would of one workload with two entrants.
func runFile(t *testing.T, own, peer float64, n int) string {
	ratio, limit, holds := own/peer, 0.5, own <= 0.5*peer
	list := []entry{
		{Workload: "add_remove", N: n, Library: ours, Entrant: quarry, Figure: &own, NsPerEntity: &own, Unit: "ns/entity", Right: true,
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
	require.Contains(t, out, "| add_remove | 16,000 | quarry | 20 30 | ark 50 | 0.400 0.600 | 0.5 x ark **missed** in 1 of 2 | - |")
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
