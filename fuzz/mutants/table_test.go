package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const quarry = "../.."

// TestTable: each mutant of the table is at its place in the table and nowhere else, changes
// something, and was noticed by a test that still exists; all of them build.
func TestTable(t *testing.T) {
	t.Parallel()
	table, err := readTable(quarry)
	require.NoError(t, err)
	tree, err := load(quarry)
	require.NoError(t, err)
	places, moved, err := tree.locateAll(table.mutants)
	require.NoError(t, err)
	require.Empty(t, moved, "go run ./fuzz/mutants -update corrects the table")
	lab, err := newLab(tree, places, t.TempDir())
	require.NoError(t, err)
	require.NoError(t, lab.build(table.mutants))
	for _, m := range table.mutants {
		require.NotEmpty(t, m.by.test, "%v: go run ./fuzz/mutants -record finds a test", m)
		p := tree.pkg(m.by.pkg)
		require.NotNil(t, p, "%v: no package %s", m, m.by.pkg)
		has, err := p.has(m.by.test)
		require.NoError(t, err)
		require.True(t, has, "%v: no test %s.%s; go run ./fuzz/mutants -record finds one", m, m.by.pkg, m.by.test)
	}
}

func TestTableText(t *testing.T) {
	const text = `# About all.

a/b T.F 1 of 2
- if x {
- 	$*body
- }
+ y()
! a/b.TestF 0.01

# Another.

a G
- g()

# The end.
`
	table, err := parseTable(text)
	require.NoError(t, err)
	require.Equal(t, text, table.String())
	require.Len(t, table.mutants, 2)
	m := table.mutants[0]
	require.Equal(t, mutant{pkg: "a/b", fn: "T.F", nth: 1, of: 2, old: "if x {\n\t$*body\n}", new: "y()",
		by: verdict{"a/b", "TestF", "0.01"}, above: "# About all.\n\n"}, *m)
	require.Equal(t, "a/b T.F 1 of 2: `if x { $*body }` -> `y()`", m.String())
	require.Equal(t, "a G: `g()` -> nothing", table.mutants[1].String())
	for text, want := range map[string]string{
		"- x\n":            "table.txt:1: \"- x\" stands below no function",
		"a F\n\n+ x\n":     "table.txt:3: \"+ x\" stands below no function",
		"a F\n! TestF 0\n": "is not ! package.Test seconds",
		"a F\n! a.TestF\n": "is not ! package.Test seconds",
		"a F 3 of 2\n":     "is not package function N of M",
		"a F 1 of 1\n":     "is not package function N of M",
		"a F twice\n":      "is not package function N of M",
		"a\n":              "no function of a is named",
	} {
		_, err := parseTable(text)
		require.ErrorContains(t, err, want, text)
	}
}
