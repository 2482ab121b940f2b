package lint

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/errors.md")

// TestErrors compares docs/errors.md with the source; with -update it writes the page.
func TestErrors(t *testing.T) {
	if *update {
		repo, err := repository()
		require.NoError(t, err)
		page := repo.file(errorsFile)
		made, found := repo.errorsPage(string(page.text))
		require.Empty(t, found)
		dir, err := home()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, errorsFile), []byte(made), 0o644))
		page.text = []byte(made)
	}
	obey(t, staleErrors)
}

const (
	adviceOfErrors = "// errors.md, Errors: `ErrLimit` | x | y\n\nvar ErrLimit, other = 1, 2\n"
	adviceOfRows   = "\t// errors.md: a row | look at\n\t// the text\n"
	errorsPage     = "# Errors\n## ecs\nErrors:\n\n| e | w | d |\n|---|---|---|\n| `ErrLimit` | x | y |\n| `*LimitError` | x | y |\n\n" +
		"Rows:\n\n| p | w | d |\n|--|--|--|\n| `ecs: ...: row ... is gone` | a row | look at the text |\n\nBehind.\n## ecs/job\n\n|---|\n"
)

// failing is a tree of packages with errors, what advises about them, and a docs/errors.md.
func failing(ofErrors, ofRows, page string) files {
	return files{
		"go.mod": rootModule,
		"ecs/a.go": "package ecs\n\n" + ofErrors + "\nfunc f() {\n" + strings.Replace(ofRows, "errors.md:", "errors.md, Rows:", 1) +
			"\tpanic(\"ecs: \" + op + \": row \" + n + \" is gone\")\n}\n",
		"ecs/limit.go": "package ecs\n\n// errors.md, Errors: `*LimitError` | x | y\n\ntype LimitError struct{}\n\n" +
			"func (e *LimitError) Error() string { return g(\"at %d of %-5.1f, no more\", 1) }\n",
		"ecs/a_test.go":              "package ecs\n\n// errors.md: in a test | x | y\n\nvar ErrTest = \"in a test\"\n",
		"ecs/job/a.go":               "package job\n\nconst why = \"only here\"\n",
		"docs/errors.md":             page,
		"ecs/examples/guide/a.go":    "package guide\n\nvar ErrElsewhere = 1\n",
		"bench/ecs/in_a_module/a.go": "package ecs\n",
	}
}

// TestErrorsPermit: a page that is what the source makes, and texts in any form that is said.
func TestErrorsPermit(t *testing.T) {
	require.Empty(t, failing(adviceOfErrors, adviceOfRows, errorsPage).find(t, staleErrors))
	for _, text := range []string{"`ecs: ...: row ... is gone`", "`row ... gone`, `at ... of ..., no more`"} {
		page := strings.Replace(errorsPage, "`ecs: ...: row ... is gone`", text, 1)
		require.Empty(t, failing(adviceOfErrors, strings.Replace(adviceOfRows, "a row", text+" | a row", 1), page).find(t, staleErrors))
	}
}

// TestErrorsReport: what no package says, what has no advice, and a page that is not made of it.
func TestErrorsReport(t *testing.T) {
	for _, text := range []string{"is lost", "is gone ... row", "ecs: ... no more than", "at %d of", "in a test", "only here", "ErrTest", "*PlayError"} {
		page := strings.Replace(errorsPage, "`ecs: ...: row ... is gone`", "`"+text+"`", 1)
		found := failing(adviceOfErrors, strings.Replace(adviceOfRows, "a row", "`"+text+"` | a row", 1), page).find(t, staleErrors)
		want := "ecs says nothing like \"" + text + "\""
		if typed.MatchString(text) {
			want = "there is no error " + text + " in ecs"
		}
		require.Contains(t, strings.Join(found, "\n"), want)
	}
	const stale = "docs/errors.md:%s: is not what the comments errors.md in the source make: go test ./internal/lint -run TestErrors -update"
	line := func(n string) string { return strings.Replace(stale, "%s", n, 1) }
	require.Equal(t, []string{line("7"), "docs/errors.md: has no row for ErrLimit of ecs"},
		failing("var ErrLimit, other = 1, 2\n", adviceOfRows, errorsPage).find(t, staleErrors))
	require.Equal(t, []string{
		line("14"),
		`docs/errors.md: ecs panics with "ecs: ...: row ... is gone", which has no row: write // errors.md: what happened | what to do above it, and go test ./internal/lint -run TestErrors -update`,
	}, failing(adviceOfErrors, "", errorsPage).find(t, staleErrors))
	require.Equal(t, []string{line("8")}, failing(adviceOfErrors, adviceOfRows, strings.Replace(errorsPage, "| `*LimitError` | x | y |", "| `*LimitError` | x | z |", 1)).find(t, staleErrors))
	require.Contains(t, failing(strings.Replace(adviceOfErrors, "Errors", "Limits", 1), adviceOfRows, errorsPage).find(t, staleErrors),
		`ecs/a.go:3: docs/errors.md has no table "Limits" under ## ecs`)
	require.Len(t, files{"go.mod": rootModule}.find(t, staleErrors), 1)
}
