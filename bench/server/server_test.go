package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/child"
)

// TestMain lets a child process be the command itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child.Flag {
		os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else children sleep for a second
	os.Exit(m.Run())
}

// TestSidesAgree plays each side in this process: same sums, and frames in which units were
// stunned, recovered and lost.
func TestSidesAgree(t *testing.T) {
	const units, frames = 6_000, 60
	var first sample
	for _, side := range sides {
		m, err := spec{side, units, frames}.measure()
		require.NoError(t, err, side)
		if side == sides[0] {
			first = m
			require.Less(t, m.Last.Units, units-removed, "units without health are removed")
			require.Greater(t, m.Last.Units, units/2)
			require.NotZero(t, m.States.Units)
		}
		require.Equal(t, first.Last, m.Last, side)
		require.Equal(t, first.States, m.States, side)
		require.Positive(t, m.State)
		require.LessOrEqual(t, m.P50, m.P99)
	}
}

func TestCommand(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, exitOK, command([]string{"-quick", "-json"}, &out, &errs), errs.String())
	var r result
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Sides, len(sides))
	require.NotEmpty(t, r.CPU)
	require.Empty(t, r.differs())
	r.Sides[1].Samples[0].Last.Mix++
	require.Equal(t, sides[1], r.differs())
	out.Reset()
	r.print(&out)
	require.Contains(t, out.String(), "state, us")

	for _, bad := range [][]string{{"-units", "10"}, {"-rounds", "0"}, {"more"}, {"-no"}} {
		require.Equal(t, exitError, command(bad, &out, &errs), bad)
	}
	_, err := spec{Side: "none"}.measure()
	require.EqualError(t, err, `no side "none"`)
}
