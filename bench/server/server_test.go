package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/child"
	"quarry/bench/server/units"
)

// TestMain lets a child process be the command itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child.Flag {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else children sleep for a second
	os.Exit(m.Run())
}

func TestCommand(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, exitOK, run([]string{"-quick", "-json"}, &out, &errs), errs.String())
	var r result
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Sides, len(sides))
	require.NotEmpty(t, r.CPU)
	require.Empty(t, r.differs())
	r.Sides[1].Modes[units.Alone][0].Last.Mix++
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
	_, err := units.Spec{Side: "none"}.Measure()
	require.EqualError(t, err, `no side "none" with ""`)
}

// TestOneMode: a run of one mode and one side has the rest of the table empty, and one of copies
// to new memory has the same sums.
func TestOneMode(t *testing.T) {
	var out, errs bytes.Buffer
	code := run([]string{"-quick", "-fresh", "-pointers", "-only", "reader", "-side", "o"}, &out, &errs)
	require.Equal(t, exitOK, code, errs.String())
	require.Contains(t, out.String(), units.PlainSide)
	require.Contains(t, out.String(), units.PointersSide)
	require.NotContains(t, out.String(), units.ArkSide)
}
