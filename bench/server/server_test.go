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
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else children sleep for a second
	os.Exit(m.Run())
}

// TestSidesAgree plays each side in this process: same sums, in frames in which units were stunned,
// recovered, were removed and killed.
func TestSidesAgree(t *testing.T) {
	const units, frames = minUnits, 60
	for _, mode := range []mode{both, spawning, alone, journaled} {
		first := sample{}
		for _, side := range sides {
			m, err := spec{Side: side, Mode: mode, Units: units, Frames: frames}.measure()
			if mode == journaled && (side == plainSide || side == arkSide) {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err, side)
			if first.Full.Units == 0 {
				first = m
			}
			require.Equal(t, first.Last, m.Last, side)
			require.Equal(t, first.Full, m.Full, side)
			require.Equal(t, first.States, m.States, side)
			require.Equal(t, first.Deaths, m.Deaths, side)
			require.LessOrEqual(t, m.P50, m.P99)
			switch mode {
			case both:
				require.Less(t, m.Last.Units, units)
				require.Greater(t, m.Last.Units, units-3*removed)
				require.Greater(t, m.Deaths, frames*(removed+hits/9))
				require.NotZero(t, m.States.Units)
				require.Positive(t, m.State)
			case spawning:
				require.Positive(t, m.Spawn)
			case journaled:
				require.Equal(t, frames, m.Journal.Commits)
				require.Positive(t, m.Journal.Records)
				require.Positive(t, m.Journal.Reopen)
			}
		}
	}
}

func TestCommand(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, exitOK, run([]string{"-quick", "-json"}, &out, &errs), errs.String())
	var r result
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Sides, len(sides))
	require.NotEmpty(t, r.CPU)
	require.Empty(t, r.differs())
	r.Sides[1].Modes[alone][0].Last.Mix++
	require.NotEmpty(t, r.differs())
	out.Reset()
	r.print(&out)
	require.Contains(t, out.String(), "state, us")
	require.Contains(t, out.String(), "commits have a record")

	for _, bad := range [][]string{
		{"-units", "10"}, {"-rounds", "0"}, {"-frames", "3"}, {"-only", "none"}, {"-side", "none"}, {"more"}, {"-no"},
	} {
		require.Equal(t, exitError, run(bad, &out, &errs), bad)
	}
	_, err := spec{Side: "none"}.measure()
	require.EqualError(t, err, `no side "none" with ""`)
}

// TestOneMode: a run of one mode and one side has the rest of the table empty, and one of copies
// to new memory has the same sums.
func TestOneMode(t *testing.T) {
	var out, errs bytes.Buffer
	code := run([]string{"-quick", "-fresh", "-only", "reader", "-side", "o"}, &out, &errs)
	require.Equal(t, exitOK, code, errs.String())
	require.Contains(t, out.String(), plainSide)
	require.NotContains(t, out.String(), arkSide)
}
