package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	o, err := parse([]string{"-race", "-tags=quarry_debug", "-packages=./a,./b/...", "-run=A|B", "-timeout=1m",
		"pebble"}, io.Discard)
	require.NoError(t, err)
	require.Same(t, pebble, o.trial)
	require.Equal(t, []string{"./a", "./b/..."}, o.packages)
	require.Equal(t, []string{"CGO_ENABLED=1"}, o.env(), "the race detector needs cgo")
	require.Equal(t, []string{"test", "-json", "-count=1", "-p=1", "-vet=off", "-timeout=1m0s", "-race",
		"-tags=quarry_debug", "-run=A|B", "-short", "./a"},
		o.arguments(group{packages: []string{"./a"}, flags: []string{"-short"}}))
	o, err = parse([]string{"pebble"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, []string{"CGO_ENABLED=0"}, o.env())
	require.Equal(t, 20*time.Minute, o.timeout)
	for _, bad := range []struct{ args, says string }{
		{"", "expected flags and then one library; there are pebble"},
		{"pebble arrow", "expected flags and then one library"},
		{"granite", `no such library "granite"; there are pebble`},
		{"-cache=0 pebble", "-cache 0: expected sizes in MiB"},
		{"-cache=256,much pebble", "-cache 256,much: expected sizes in MiB"},
		{"-rounds=0 pebble", "-rounds 0: expected at least 1"},
		{"-reads=-1 pebble", "-reads -1: expected at least 0"},
		{"-fast pebble", "not defined: -fast"},
	} {
		_, err := parse(strings.Fields(bad.args), io.Discard)
		require.ErrorContains(t, err, bad.says)
	}
}

func TestExitCodes(t *testing.T) {
	var out bytes.Buffer
	require.Equal(t, exitOK, run(t.Context(), []string{"-h"}, &out, &out))
	require.Contains(t, out.String(), "usage: others [flags] library; there are pebble")
	require.Equal(t, exitError, run(t.Context(), nil, &out, &out))
}

func TestChosenPackages(t *testing.T) {
	made := &trial{groups: []group{
		{packages: []string{"./a", "./b"}, flags: []string{"-short"}},
		{packages: []string{"./c"}},
	}}
	require.Equal(t, made.groups, made.chosen(&options{}))
	require.Equal(t, []group{
		{packages: []string{"./b"}, flags: []string{"-short"}},
		{packages: []string{"./other"}},
	}, made.chosen(&options{packages: []string{"./b", "./other"}}))
}

// TestPage compares the file that the page shows with the one that is used.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/memory.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "```go\n"+pebbleManual+"```\n")
}
