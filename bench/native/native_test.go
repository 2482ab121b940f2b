package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestParseAnswer: text that a program prints, and text that is no answer.
func TestParseAnswer(t *testing.T) {
	a, err := parseAnswer("ns=0.25 passes=3 sum=123456789.5\n")
	require.NoError(t, err)
	require.Equal(t, answer{0.25, 3, 123456789.5}, a)
	for _, bad := range []string{"", "ns=1 passes=2\n", "ns=-1 passes=2 sum=3\n", "ns=nan passes=2 sum=3\n",
		"ns=1 passes=0 sum=3\n", "hello"} {
		_, err := parseAnswer(bad)
		require.ErrorContains(t, err, "not ns, passes and sum", bad)
	}
}

// TestNoCompiler: without a compiler only the rows of Go run, and the command reports that.
func TestNoCompiler(t *testing.T) {
	t.Setenv("CC", "no-such-compiler")
	_, err := findToolchain()
	require.ErrorIs(t, err, errNone)
	require.ErrorContains(t, err, "no compiler no-such-compiler ($CC chooses one)")
	var errs bytes.Buffer
	list, compiler, err := (&options{entt: "nowhere"}).programs(t.TempDir(), &errs)
	require.NoError(t, err)
	require.Empty(t, list)
	require.Equal(t, "none", compiler)
	require.Contains(t, errs.String(), "the rows of Go stand alone")
	if testing.Short() {
		t.Skip("the rest builds bench/peers")
	}
	var out bytes.Buffer
	require.Equal(t, exitOK, run([]string{"-quick", "-json", "-only", "query2comp"}, &out, &errs), errs.String())
	var got []entry
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Len(t, got, 9)
	for _, e := range got {
		require.Empty(t, e.Wrong)
		require.Positive(t, *e.Median)
		require.Positive(t, *e.Ratio)
	}
}

// TestFind: libraries in the folders where copies have them, and in none.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	_, err := findEnTT(dir)
	require.ErrorIs(t, err, errNone)
	_, err = findFlecs(dir)
	require.ErrorIs(t, err, errNone)
	_, err = findFlecs("")
	require.ErrorContains(t, err, "-flecs DIR says where")
	for _, name := range []string{"src/entt/entt.hpp", "distr/flecs.h", "distr/flecs.c"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	l, err := findEnTT(dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "src"), l.include)
	l, err = findFlecs(dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "distr", "flecs.c"), l.c)
}

// arrays compiles the program that needs no library, or skips the test.
func arrays(t *testing.T) *program {
	tools, err := findToolchain()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	require.NoError(t, writeSources(dir))
	p, err := tools.compile(dir, library{name: "arrays"})
	require.NoError(t, err)
	require.Equal(t, "arrays", p.version)
	return p
}

// TestArrays: every row that the arrays do gives the expected sum, which depends on the passes.
func TestArrays(t *testing.T) {
	p, done := arrays(t), 0
	for i := range rows {
		r := &rows[i]
		if r.want == nil {
			continue
		}
		for _, n := range []int{1, 2, 5, 1003} {
			a, err := p.turn(r, "-", n, 100*time.Microsecond)
			if err != nil {
				require.ErrorIs(t, err, errNoRow, "%s, n = %d", r.name, n)
				continue
			}
			done++
			require.Equal(t, r.want(n, a.passes), a.sum, "%s, n = %d", r.name, n)
		}
	}
	require.Equal(t, 11*4+4, done)
	wrong := rows[0]
	wrong.want = func(n, passes int) float64 { return read(n, passes+1) }
	_, err := p.checked(&wrong, "-", 100, time.Millisecond)
	require.ErrorIs(t, err, errWrong)
	_, err = p.turn(&rows[0], "-", 0, time.Millisecond)
	require.ErrorContains(t, err, "exit status 2")
}

// TestResult: rounds in turns, a wrong result, a library without the row, ratios.
func TestResult(t *testing.T) {
	var order []string
	turns := func(name string, figures ...float64) *entrant {
		return &entrant{name: name, turn: func(int, time.Duration) (float64, error) {
			order = append(order, name)
			f := figures[0]
			figures = figures[1:]
			switch f {
			case 0:
				return 0, errNoRow
			case -1:
				return 0, fmt.Errorf("%w: got 1, want 2", errWrong)
			}
			return f, nil
		}}
	}
	s := &result{row: &rows[0], n: 64, list: []*entrant{
		turns("quarry", 2, 4, 10), turns("ark", 1, 8, 30), turns("entt", 0), turns("flecs", 3, -1),
	}}
	require.NoError(t, s.measure(3, time.Millisecond))
	require.Equal(t, []string{"quarry", "ark", "entt", "flecs", "ark", "flecs", "quarry", "quarry", "ark"}, order)
	list := s.entries()
	require.Len(t, list, 3)
	require.Equal(t, 4.0, *list[0].Median)
	require.Equal(t, 1.0, *list[0].Ratio)
	require.Equal(t, 1.0, *list[1].Least)
	require.Equal(t, 2.0, *list[1].Ratio)
	require.Equal(t, "wrong result: got 1, want 2", list[2].Wrong)
	require.Nil(t, list[2].Median)
	var out bytes.Buffer
	require.NoError(t, printTable(&out, list))
	require.Regexp(t, `random +64 +ark +8 +1 +2.00 *\nrandom +64 +flecs +WRONG: wrong result: got 1, want 2`,
		out.String())
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-only", "chess"}, `no such row "chess"; there are random`},
		{[]string{"-rounds", "0"}, "-rounds 0: expected 1 to 1000"},
		{[]string{"random"}, `unexpected argument "random"`},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, exitError, run(c.args, &out, &errs))
		require.Contains(t, errs.String(), c.says)
	}
	var out, errs bytes.Buffer
	require.Equal(t, exitOK, run([]string{"-h"}, &out, &errs))
	if _, err := findToolchain(); err == nil {
		errs.Reset()
		require.Equal(t, exitError, run([]string{"-entt", t.TempDir(), "-only", "random"}, &out, &errs))
		require.Contains(t, errs.String(), "no entt/entt.hpp in")
	}
}
