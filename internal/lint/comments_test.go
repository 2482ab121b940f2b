package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExportedHaveDocsReports(t *testing.T) {
	const bad = `package a

type T struct{}

type (
	U int
)

// A block of types is not a comment on each.
type (
	V interface {
		M()
	}
)

const C = 1

var A, b = 1, 2

func F() {}

func (T) M1() {}

func (t *G[K]) M2() {}

func (t *H[K, V]) M3() {}

//go:noinline
func Directive() {}
`
	require.Equal(t, []string{
		"a/a.go:3: T has no doc comment", "a/a.go:6: U has no doc comment", "a/a.go:11: V has no doc comment",
		"a/a.go:12: V.M has no doc comment", "a/a.go:16: C has no doc comment", "a/a.go:18: A has no doc comment",
		"a/a.go:20: F has no doc comment", "a/a.go:22: M1 has no doc comment", "a/a.go:24: M2 has no doc comment",
		"a/a.go:26: M3 has no doc comment", "a/a.go:29: Directive has no doc comment",
	}, files{
		"go.mod": rootModule, "a/doc.go": "// Package a is.\npackage a\n", "a/a.go": bad, "a/a_test.go": bad,
		"bench/go.mod": "module quarry/bench\n", "bench/a.go": bad,
	}.find(t, undocumented))
}

func TestExportedHaveDocsPermits(t *testing.T) {
	require.Empty(t, files{"go.mod": rootModule, "a/doc.go": `// Package a is.
package a

// T is.
type T struct{}

type (
	// V is.
	V interface {
		// M does.
		M()
		N() // does not
		hidden()
		T
	}

	lower struct{}
)

// Sizes.
const (
	C = 1
	D = 2
)

var (
	A = 1 // first
	// B is second.
	B = 2
	c = 3
)

// F does.
//
//go:noinline
func F() {}

func (lower) M() {}

func (*lower) N() {}

func f() {}
`}.find(t, undocumented))
}

func TestPackagesHaveDocs(t *testing.T) {
	const comment = "// Package a is.\n"
	const why = ": this package has no doc.go with a package comment"
	require.Equal(t, []string{"elsewhere" + why, "internal/bare" + why, "none" + why, "program/bare" + why,
		"silent" + why},
		files{
			"go.mod":             rootModule,
			"elsewhere/a.go":     comment + "package a\n",
			"elsewhere/doc.go":   "package a\n",
			"good/doc.go":        comment + "package a\n",
			"internal/bare/a.go": "package a\n",
			"internal/good/a.go": comment + "package a\n",
			"none/a.go":          "package a\n",
			"program/bare/a.go":  "package main\n",
			"program/good/a.go":  "// The program prints.\npackage main\n",
			"silent/doc.go":      "//go:build linux\npackage a\n",
			"tests/a_test.go":    "package a\n",
			"bench/go.mod":       "module quarry/bench\n",
			"bench/a.go":         "package a\n",
		}.find(t, undocumented))
}
