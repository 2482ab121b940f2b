package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newTinyLab(t *testing.T, changed map[string]string, list ...*mutant) *lab {
	tree := loadTiny(t, changed)
	places, moved, err := tree.locateAll(list)
	require.NoError(t, err)
	require.Empty(t, moved)
	lab, err := newLab(tree, places, t.TempDir())
	require.NoError(t, err)
	return lab
}

// TestVerdicts: a mutant that breaks something is noticed, by the test that the table names or by
// another test that reaches it; a mutant that breaks nothing is not. All come from one build, and
// the tree is unchanged.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds tests, and waits for one that hangs")
	}
	const ends = "ends the process"
	cases := []struct {
		m    mutant
		want verdict // without seconds
	}{
		{mutant{fn: "Counter.room", old: "c.n >= c.most", new: "c.n > c.most"}, verdict{pkg: "count", test: "TestAdd"}},
		{mutant{fn: "Counter.Add", old: "c.n++"}, verdict{pkg: "count", test: "TestAdd"}},
		{mutant{fn: "Counter.Add", old: "return room - 1, nil", new: "panic(room)"}, verdict{pkg: "count", test: "TestAdd"}},
		{mutant{fn: "Counter.Add", old: "err != nil", new: "false"}, verdict{pkg: "count", test: "TestAdd"}},
		{mutant{fn: "First", old: "continue outer", new: "break outer"}, verdict{pkg: "count", test: "TestFirst"}},
		{mutant{fn: "First", old: "n := 0", new: "n := 0\ngo func() { panic(n) }()\nselect {}"}, verdict{pkg: "count", test: "TestFirst", seconds: ends}},
		{mutant{fn: "First", old: "n++", new: "for {\n}"}, verdict{pkg: "count", test: "TestFirst", seconds: "hangs"}},
		{mutant{fn: "First", old: "n++", new: "n += 1"}, verdict{}},
		{mutant{fn: "Counter.Full", old: "c.n == c.most", new: "c.n > c.most"}, verdict{pkg: "use", test: "TestTwice"}},
		{mutant{fn: "First", old: "x == y", new: "x != y", by: verdict{pkg: "count", test: "TestGone"}}, verdict{pkg: "count", test: "TestFirst"}},
		{mutant{fn: "First", old: "x == y", new: "x > y", by: verdict{pkg: "use", test: "TestFirst"}}, verdict{pkg: "count", test: "TestFirst"}},
		{mutant{fn: "First", old: "x == y", new: "x < y", by: verdict{pkg: "count", test: "TestAdd"}}, verdict{pkg: "count", test: "TestFirst"}},
	}
	var list []*mutant
	for i := range cases {
		cases[i].m.pkg = "count"
		list = append(list, &cases[i].m)
	}
	lab := newTinyLab(t, map[string]string{
		"count/a_test.go": "package count\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) { t.Fail() }\n",
	}, list...)
	lab.patience = 10 * time.Second
	require.NoError(t, lab.build(list))
	for i, c := range cases {
		v, err := lab.judge(i+1, list[i])
		require.NoError(t, err)
		if c.want.seconds == "" {
			v.seconds = ""
		}
		require.Equal(t, c.want, v, list[i])
	}
	text, err := os.ReadFile(filepath.Join(lab.tree.root, "count/count.go"))
	require.NoError(t, err)
	require.Equal(t, tiny["count/count.go"], string(text))
}

// TestNoVerdict: it is an error if the process ends before a test begins.
func TestNoVerdict(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a test")
	}
	m := &mutant{pkg: "count", fn: "First", old: "n := 0", new: "n := lists[9][9]"}
	lab := newTinyLab(t, map[string]string{"count/init.go": "package count\n\nvar first = First(1, []int{1})\n"}, m)
	_, err := lab.judge(1, m)
	require.ErrorContains(t, err,
		"count: ended before a test began: exit status 2\npanic: runtime error: index out of range")
	_, err = lab.attempt(1, &pkg{ImportPath: "tiny/gone"}, ".", "")
	require.ErrorContains(t, err, "go test: exit status 1")
}

// TestMutantsBuild: a mutant that does not compile is named, also if only the last line of its
// function is wrong, because the function no longer returns.
func TestMutantsBuild(t *testing.T) {
	t.Parallel()
	list := []*mutant{
		{pkg: "count", fn: "First", old: "n++", new: "n += 1"},
		{pkg: "count", fn: "First", old: "n++", new: "m++"},
		{pkg: "count", fn: "First", old: "return -1"},
		{pkg: "count", fn: "Counter.Add", old: "room - 1", new: "0"},
	}
	err := newTinyLab(t, nil, list...).build(list)
	require.ErrorContains(t, err, "count First: `n++` -> `m++`: mutant2:51: undefined: m")
	require.ErrorContains(t, err, "count.go:55: missing return")
	require.ErrorContains(t, err, "count Counter.Add: `room - 1` -> `0`: mutant4:20: declared and not used: room")
	require.NotContains(t, err.Error(), "n += 1")
	require.NoError(t, newTinyLab(t, nil, list[0]).build(list[:1]))
}

func TestRead(t *testing.T) {
	end := errors.New("exit status 1")
	v, err := read("=== RUN   TestA\n--- FAIL: TestA (0.25s)\n", end)
	require.NoError(t, err)
	require.Equal(t, verdict{test: "TestA", seconds: "0.25"}, v)
	v, err = read("=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n=== RUN   TestB/part\npanic: at B\n", end)
	require.NoError(t, err)
	require.Equal(t, verdict{test: "TestB", seconds: "ends the process"}, v)
	v, err = read("=== RUN   TestA\n--- PASS: TestA (0.00s)\n", nil)
	require.NoError(t, err)
	require.Empty(t, v)
	_, err = read("panic: in init\n", end)
	require.ErrorIs(t, err, end)
}

// TestInstrumenting: a body that is one scope deeper keeps its meaning.
func TestInstrumenting(t *testing.T) {
	for _, c := range []struct{ head, body, want string }{
		{"func F(a int) {", "b := a", "b := a"},
		{"func F(a int) {", "a, b := 1, a // so\n", "a_0, b := 1, a; a = a_0 // so\n"},
		{"func (f *T) F() (n int, err error) {",
			"n++; m, err := g(); if m, err := g(); err != nil { _ = m }; f, err := h()",
			"n++; m, err_1 := g(); err = err_1; if m, err := g(); err != nil { _ = m }; f_3, err_3 := h(); f = f_3; err = err_3"},
		{"func F() {", "L: for { for { continue L }; goto M }; M:", "L_7: for { for { continue L_7 }; goto M_7 }; M_7:"},
		{"func F(_ int) {", "_, b := 1, 2", "_, b := 1, 2"},
	} {
		got, err := nested(c.head, c.body, 7)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := nested("func F() {", "if {", 1)
	require.Error(t, err)
}

// TestTesters: the package itself, then the packages that import it, the nearest first.
func TestTesters(t *testing.T) {
	tree := loadTiny(t, map[string]string{
		"far/far.go":        "package far\n\nimport _ \"tiny/use\"\n",
		"apart/apart.go":    "package apart\n",
		"near/near_test.go": "package near\n\nimport _ \"tiny/count\"\n",
	})
	var names []string
	for _, p := range tree.testers(tree.pkg("count")) {
		names = append(names, p.name)
	}
	require.Equal(t, []string{"count", "near", "use", "far"}, names)
}
