package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/child"
)

// TestMain lets a child process be the command itself. In some tests, map + list returns wrong
// values.
func TestMain(m *testing.M) {
	if os.Getenv("QUARRY_TEST_BROKEN") != "" {
		broken := wrapped(func(s store) store { return &flipping{store: s} })
		broken.name = "map + list"
		contenders = []contender{*broken}
	}
	if len(os.Args) > 1 && os.Args[1] == child.Flag {
		os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
	}
	// A child with the race detector would sleep for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(m.Run())
}

// in runs the command in this process; its children are processes.
func in(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = command(args, &out, &errs)
	return out.String(), errs.String(), code
}

func TestBadFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"cache":         {[]string{"-only", "chess"}, `-only chess: no such cache "chess"; there are `},
		"one of them":   {[]string{"-only", "otter,"}, `no such cache ""`},
		"rounds":        {[]string{"-rounds", "0"}, "-rounds 0: expected 1 to 1000"},
		"too small":     {[]string{"-mib", "3"}, "-mib 3: expected 4 to 4096"},
		"too large":     {[]string{"-mib", "5000"}, "-mib 5000: expected 4 to 4096"},
		"argument":      {[]string{"otter"}, `unexpected argument "otter"; flags begin with -`},
		"flag":          {[]string{"-nosuch"}, "nosuch"},
		"child":         {[]string{child.Flag, "nonsense"}, "invalid character"},
		"child of none": {[]string{child.Flag, `{"contender":"nobody"}`}, `no contender "nobody"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := in(c.args...)
			require.Equal(t, exitError, code)
			require.Contains(t, errs, c.says)
			require.Empty(t, out)
		})
	}
	_, errs, code := in("-h")
	require.Equal(t, exitOK, code)
	require.Contains(t, errs, "map + list")
}

func TestSizesOfQuick(t *testing.T) {
	for _, c := range []struct {
		args        []string
		mib, rounds int
	}{
		{nil, 1024, 3}, {[]string{"-quick"}, 32, 1}, {[]string{"-quick", "-mib", "64"}, 64, 1}, {[]string{"-quick", "-rounds", "2"}, 32, 2},
	} {
		o, err := parse(c.args, &bytes.Buffer{})
		require.NoError(t, err)
		require.Equal(t, c.mib, o.mib, c.args)
		require.Equal(t, c.rounds, o.rounds, c.args)
	}
}

func TestTable(t *testing.T) {
	out, errs, code := in("-mib", "4", "-rounds", "1", "-only", "map + list")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "without garbage: medians")
	require.Contains(t, out, "with 2 KiB of garbage for each operation: medians")
	require.Regexp(t, `map \+ list +0?[1-9.]`, out)
	require.Regexp(t, `map \+ list +keys and values; LRU`, out)
	require.NotContains(t, out, "WRONG")
}

func TestWrongIsNoticed(t *testing.T) {
	t.Setenv("QUARRY_TEST_BROKEN", "1")
	out, errs, code := in("-mib", "4", "-rounds", "1", "-only", "map + list", "-json")
	require.Equal(t, exitWrong, code, errs)
	var r result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.NotEmpty(t, r.CPU)
	got := r.Caches
	require.Len(t, got, 1)
	require.Len(t, got[0].Samples, 1)
	require.Contains(t, got[0].Samples[0].Wrong, "is not the one that was set")
	require.Equal(t, 4*timedPerMiB, got[0].Samples[0].Garbage.Ops)
	var text bytes.Buffer
	got[0].c = &contender{}
	(&options{mib: 4, rounds: 1}).print(&text, got)
	require.Contains(t, text.String(), "map + list: WRONG: the value of ")
}

// noRoom is a standard output that cannot be written to.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestOutputThatIsLostIsAnError(t *testing.T) {
	var errs bytes.Buffer
	require.Equal(t, exitError, command([]string{"-mib", "4", "-rounds", "1", "-only", "null"}, noRoom{}, &errs))
	require.Contains(t, errs.String(), "no room")
}

func TestSpread(t *testing.T) {
	r := &row{Samples: []sample{{Own: 5}, {Own: 1}, {Own: 3000}}, c: &contender{}}
	own := func(m *sample) float64 { return float64(m.Own) }
	require.Equal(t, "5 (1-3000)", r.spread(own).String())
	require.Equal(t, "7", spread{7}.String())
	require.Equal(t, 1.0, spread{1, 2}.median())
	require.Equal(t, "-", spread{math.NaN(), math.NaN()}.String())
	require.Equal(t, "1.23", figure(1.234))
	require.Equal(t, "-", figure(math.Inf(1)))
	first := &row{Samples: []sample{{Own: 10}, {Own: 4}, {Own: 1000}}, c: &contender{ours: true}}
	require.Equal(t, "0.5", toOurs(r, first, own)) // of 0.5, 0.25 and 3
	require.Equal(t, "1", toOurs(first, first, own))
	require.Equal(t, "-", toOurs(r, nil, own))
	require.Equal(t, "-", toOurs(&row{Samples: r.Samples, c: &contender{null: true}}, first, own))
	require.Same(t, first, ours([]*row{r, first}))
	require.Nil(t, ours([]*row{r}))
}

func TestRatesOfAPhase(t *testing.T) {
	p := &phase{Ops: 2_000_000, Hits: 1_500_000, Wall: 1e9, CPU: 4e9, GC: 1e9, Peak: 3e6}
	require.InDelta(t, 2, p.perWall(), 1e-9)
	require.InDelta(t, 0.5, p.perCPU(), 1e-9)
	require.InDelta(t, 1.5, p.hits(), 1e-9)
	require.InDelta(t, 75, p.ratio(), 1e-9)
	require.InDelta(t, 25, p.gcShare(), 1e-9)
	require.InDelta(t, 3, p.peak(), 1e-9)
	require.True(t, math.IsNaN((&phase{Ops: 1}).perCPU()))
	require.True(t, math.IsNaN((&phase{}).peak()))
}
