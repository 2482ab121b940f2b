package main

import (
	"bytes"
	"encoding/json"
	"go/format"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPrograms: both programs are formatted as gofmt does, build, and print the same.
func TestPrograms(t *testing.T) {
	for _, lib := range libraries {
		text := lib.write(3)
		formatted, err := format.Source([]byte(text))
		require.NoError(t, err)
		require.Equal(t, string(formatted), text)
	}
	if testing.Short() {
		t.Skip("the rest links two programs")
	}
	l, err := newLab(t.TempDir(), 3)
	require.NoError(t, err)
	require.NoError(t, l.warm(""))
	printed, err := l.run(libraries[0])
	require.NoError(t, err)
	require.Equal(t, "{1 0 0}\n{1 0 0}\n{2 0 0}\n", printed)

	bad := library{"bad", func(int) string { return "package main\n\nfunc main() { x }\n" }}
	require.NoError(t, l.edit(bad))
	_, err = l.build(bad, "")
	require.ErrorContains(t, err, "undefined: x")
	other := libraries[1].write
	libraries[1].write = func(types int) string { return strings.Replace(other(types), "X: 2", "X: 3", 1) }
	defer func() { libraries[1].write = other }()
	require.NoError(t, l.edit(libraries[1]))
	require.ErrorIs(t, l.warm(""), errDiffer)
}

// TestReport: medians, least times and ratios of known rounds.
func TestReport(t *testing.T) {
	s := func(n ...float64) (all []time.Duration) {
		for _, n := range n {
			all = append(all, time.Duration(n*float64(time.Second)))
		}
		return all
	}
	o := &options{types: 7, rounds: 3}
	rows := []row{{"edit", [][]time.Duration{s(3, 1, 2), s(1, 1, 4)}}}
	var out bytes.Buffer
	require.NoError(t, report(&out, o, rows))
	require.Contains(t, out.String(), "programs of 7 component types, 3 rounds")
	require.Contains(t, out.String(),
		"edit   quarry     2.00 (least 1.00)  1.00 of ark\nedit   ark        1.00 (least 1.00)  1.00 of ark\n")
	out.Reset()
	o.json = true
	require.NoError(t, report(&out, o, rows))
	var got []figure
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, figure{"edit", "quarry", 7, 2, 1, 1}, got[0])
}

func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"-types 0": "-types 0: expected 1 to 200", "-rounds 101": "-rounds 101: expected 1 to 100",
		"x": `unexpected argument "x"`, "-what": "not defined: -what",
	} {
		var errs bytes.Buffer
		require.Equal(t, exitError, run(strings.Fields(args), &bytes.Buffer{}, &errs))
		require.Contains(t, errs.String(), want)
	}
	require.Equal(t, exitOK, run([]string{"-h"}, &bytes.Buffer{}, &bytes.Buffer{}))
}
