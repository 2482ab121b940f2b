package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrors compares docs/errors.md with the source.
func TestErrors(t *testing.T) { obey(t, staleErrors) }

const (
	rowOfLimit = "| `ErrLimit` | x | y |\n"
	rowOfGone  = "| `ecs: ...: row ... is gone` | a row | look at the text |\n"
	errorsPage = "# Errors\n\n|a|b|\n|--|--|\n| not a row of a package |\n\n## ecs\nErrors:\n\n| e | w | d |\n" +
		"|---|---|---|\n" + rowOfLimit +
		"| `*LimitError` | x | y |\n\nRows:\n\n| p | w | d |\n|--|--|--|\n" + rowOfGone +
		"\nBehind.\n## ecs/job\n\n|---|\n"
)

// failing returns what is found in a tree of packages with errors and a docs/errors.md that has one
// text in place of another.
func failing(t *testing.T, old, new string) []string {
	return files{
		"go.mod": rootModule,
		"ecs/a.go": "package ecs\n\nvar ErrLimit, other = 1, 2\n\nfunc f() {\n" +
			"\tpanic(\"ecs: \" + op + \": row \" + n + \" is gone\")\n}\n",
		"ecs/limit.go": "package ecs\n\ntype LimitError struct{}\n\n" +
			"func (e *LimitError) Error() string { return g(\"at %d of %-5.1f, no more\", 1) }\n",
		"ecs/a_test.go":              "package ecs\n\nvar ErrTest = \"in a test\"\n",
		"ecs/job/a.go":               "package job\n\nconst why = \"only here\"\n",
		"docs/errors.md":             strings.Replace(errorsPage, old, new, 1),
		"ecs/examples/guide/a.go":    "package guide\n\nvar ErrElsewhere = 1\n",
		"bench/ecs/in_a_module/a.go": "package ecs\n",
	}.find(t, staleErrors)
}

// TestErrorsPermit: a page that has all rows, and texts in any form that the source has.
func TestErrorsPermit(t *testing.T) {
	for _, text := range []string{"`ecs: ...: row ... is gone`", "`row ... gone`, `at ... of ..., no more`"} {
		require.Empty(t, failing(t, "`ecs: ...: row ... is gone`", text))
	}
}

// TestErrorsReport: a text that no package has, an error or a panic without a row, a broken row.
func TestErrorsReport(t *testing.T) {
	for _, text := range []string{"is lost", "is gone ... row", "ecs: ... no more than", "at %d of", "in a test",
		"only here", "ErrTest", "*PlayError"} {
		want := "ecs has no text like \"" + text + "\""
		if typed.MatchString(text) {
			want = "there is no error " + text + " in ecs"
		}
		require.Contains(t, strings.Join(failing(t, "`ecs: ...: row ... is gone`", "`"+text+"`"), "\n"), want)
	}
	require.Equal(t, []string{"docs/errors.md: has no row for ErrLimit of ecs"}, failing(t, rowOfLimit, ""))
	require.Equal(t, []string{
		"docs/errors.md: has no row for a panic of ecs: \"ecs: ...: row ... is gone\"; write | `text` | what happened | what to do | below ## ecs",
	}, failing(t, rowOfGone, ""))
	for _, broken := range []string{"| `ErrLimit` | x |\n", "| `ErrLimit` |  | y |\n", "| `ErrLimit` | x | y | z |\n",
		"| `ErrLimit` | x | y\n"} {
		require.Equal(t, []string{"docs/errors.md:12: is no row | `text` | what happened | what to do |"},
			failing(t, rowOfLimit, broken), broken)
	}
	require.Len(t, files{"go.mod": rootModule}.find(t, staleErrors), 1)
}
