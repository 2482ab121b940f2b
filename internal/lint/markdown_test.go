package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// paged is a tree of a package with a test and a page in docs.
func paged(text string) files {
	return files{
		"go.mod":          rootModule,
		"asm/axpy.go":     "package asm\n",
		"asm/a_test.go":   "package asm\n\nfunc TestAxpy() {}\n\nfunc BenchmarkAxpy() {}\n",
		"bench/life/a.go": "package life\n",
		"docs/gc.md":      "",
		"docs/page.md":    text,
	}
}

func TestPagesReport(t *testing.T) {
	const at = "docs/page.md:1: there is no "
	for text, want := range map[string]string{
		"(`TestGone`)":                  "test TestGone",
		"go test -bench BenchmarkGone":  "test BenchmarkGone",
		"`asm/gone.go`":                 "file asm/gone.go",
		"axpy.go":                       "file axpy.go",
		"[gc](asm/gc.md)":               "file asm/gc.md",
		"`go run ./bench/gone -quick`":  "folder bench/gone",
		"./gone":                        "folder gone",
		"`./gone` and ./asm, ./bench/.": "folder gone",
	} {
		require.Equal(t, []string{at + want}, paged(text).find(t, stalePages), text)
	}
}

func TestPagesPermit(t *testing.T) {
	text := "`TestAxpy`, BenchmarkAxpy/n=1: asm/axpy.go, [gc](gc.md), docs/gc.md, [the file](../asm/axpy.go).\n" +
		"go test ./... ./bench/... && go run ./bench/life; `./asm`. Test, Example of it, a.json\n"
	require.Empty(t, paged(text).find(t, stalePages))
}
