package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMentions(t *testing.T) {
	r := newRenaming("stone", "example.org/stone")
	for old, want := range map[string]string{
		"go doc stone/pick":            "go doc example.org/stone/pick",
		"stone/pick":                   "example.org/stone/pick",
		"-gcflags='stone/...=-d=1'":    "-gcflags='example.org/stone/...=-d=1'",
		"${package#stone/}":            "${package#example.org/stone/}",
		`"\n\tstone/pick.Break"`:       `"\n\texample.org/stone/pick.Break"`,
		"*stone/pick.T [stone/pick.U]": "*example.org/stone/pick.T [example.org/stone/pick.U]",
		"stone/a stone/b\nstone/c":     "example.org/stone/a example.org/stone/b\nexample.org/stone/c",

		"DIR/stone/pick": "", "whetstone/pick": "", "the_stone/pick": "", "sand-stone/pick": "", "x.stone/pick": "",
		"stone": "", "a stone, stones/pick": "", "bin/stone.go": "", "\x00 stone/pick": "", "\xff stone/pick": "",
	} {
		if want == "" {
			want = old
		}
		require.Equal(t, want, string(r.text([]byte(old))), old)
	}
}

func TestMentionsInGo(t *testing.T) {
	const source = `// Package a, see stone/pick.
package a

//go:generate go run stone/pick

import (
	"fmt"

	root "stone" // the root
	"stone/pick"
	"strings"
)

const stone, pick = 12, 3 // words

var quotient = stone/pick /* of stone/pick */ + len("stone/pick")

var texts = []string{"stone", ` + "`stone`, `\nstone/pick\n`" + `, "a\tstone/pick\n", 'x', "bluestone/pick"}
`
	const want = `// Package a, see example.org/stone/pick.
package a

//go:generate go run example.org/stone/pick

import (
	"fmt"

	root "example.org/stone" // the root
	"example.org/stone/pick"
	"strings"
)

const stone, pick = 12, 3 // words

var quotient = stone/pick /* of example.org/stone/pick */ + len("example.org/stone/pick")

var texts = []string{"stone", ` + "`stone`, `\nexample.org/stone/pick\n`" + `, "a\texample.org/stone/pick\n", 'x', "bluestone/pick"}
`
	r := newRenaming("stone", "example.org/stone")
	got, err := r.source("a.go", []byte(source))
	require.NoError(t, err)
	require.Equal(t, want, string(got))

	// Where gofmt had written a file, it has written the new one: imports are sorted again.
	got, err = r.source("b.go", []byte("package b\n\nimport (\n\t\"fmt\"\n\t\"stone/pick\"\n)\n"))
	require.NoError(t, err)
	require.Equal(t, "package b\n\nimport (\n\t\"example.org/stone/pick\"\n\t\"fmt\"\n)\n", string(got))

	// Literals that are the path of the root module mean it in some files.
	got, err = r.source(meanModule[0], []byte("package c\n\nvar a = \"stone\" // stone\n"))
	require.NoError(t, err)
	require.Equal(t, "package c\n\nvar a = \"example.org/stone\" // stone\n", string(got))

	_, err = r.source("d.go", []byte("package d; import stone/pick\n"))
	require.ErrorContains(t, err, "d.go:1:24")
}
