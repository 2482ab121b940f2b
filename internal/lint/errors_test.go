package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is a tree of packages with errors and a docs/errors.md.
func failing(rows string) files {
	return files{
		"go.mod":                     rootModule,
		"ecs/a.go":                   "package ecs\n\nvar ErrLimit, other = 1, 2\n\nfunc f() { panic(\"ecs: \" + op + \": row \" + n + \" is gone\") }\n",
		"ecs/limit.go":               "package ecs\n\ntype LimitError struct{}\n\nfunc (e *LimitError) Error() string { return g(\"at %d of %-5.1f, no more\", 1) }\n",
		"ecs/a_test.go":              "package ecs\n\nvar ErrTest = \"in a test\"\n",
		"ecs/job/a.go":               "package job\n\nconst why = \"only here\"\n",
		"docs/errors.md":             "# Errors\n## ecs\n" + rows,
		"ecs/examples/guide/a.go":    "package guide\n\nvar ErrElsewhere = 1\n",
		"bench/ecs/in_a_module/a.go": "package ecs\n",
	}
}

const (
	goneErrors = "| `row ... is gone` | x | y |\n"
	goodErrors = "| `ErrLimit` | x | y |\n| `*LimitError` | x | y |\n" + goneErrors
)

func TestErrorsReport(t *testing.T) {
	const at = "docs/errors.md:6: "
	for row, want := range map[string]string{
		"| `is lost` | x |":             `ecs says nothing like "is lost"`,
		"| `is gone ... row` | x |":     `ecs says nothing like "is gone ... row"`,
		"| `ecs: ... no more` | x |":    `ecs says nothing like "ecs: ... no more"`,
		"| `is gone`, `is lost` | x |":  `ecs says nothing like "is lost"`,
		"| `at %d of` | x |":            `ecs says nothing like "at %d of"`,
		"| `in a test` | x |":           `ecs says nothing like "in a test"`,
		"| `only here` | x |":           `ecs says nothing like "only here"`,
		"| `ErrTest` | x |":             "there is no error ErrTest in ecs",
		"| `*PlayError` | x |":          "there is no error *PlayError in ecs",
		"## ecs/job\n| `is gone` | x |": "",
	} {
		if want == "" {
			require.Equal(t, []string{`docs/errors.md:7: ecs/job says nothing like "is gone"`}, failing(goodErrors+row).find(t, staleErrors))
			continue
		}
		require.Equal(t, []string{at + want}, failing(goodErrors+row).find(t, staleErrors), row)
	}
	require.Equal(t, []string{"docs/errors.md: has no row for ErrLimit of ecs"}, failing("| `*LimitError` | |\n"+goneErrors).find(t, staleErrors))
	require.Equal(t, []string{"docs/errors.md: has no row for LimitError of ecs"}, failing("| `ErrLimit` | |\n"+goneErrors).find(t, staleErrors))
	require.Len(t, files{"go.mod": rootModule}.find(t, staleErrors), 1)
	require.Equal(t, []string{`docs/errors.md: ecs panics with "ecs: ...: row ... is gone", which has no row`},
		failing(goodErrors[:len(goodErrors)-len(goneErrors)]).find(t, staleErrors))
}

func TestErrorsPermit(t *testing.T) {
	text := goodErrors + "| `ecs: ...: row ... is gone` | `other words` | |\n| `row ... gone` | |\n| `at ... of ..., no more` | |\n| error | |\n\n`in the text`\n" +
		"## ecs/job\n| `only here` | |\n"
	require.Empty(t, failing(text).find(t, staleErrors))
}
