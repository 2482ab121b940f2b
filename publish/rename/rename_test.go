package main

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const before = `package game

import (
	"fmt"

	"example.org/quarry/ecs"
	"example.org/quarry/ecs/command"
	"example.org/quarry/ecs/image"
	other "example.org/sand/image"
)

// keep opens the folder's image.Journal.
func keep(folder string, w *ecs.World) (*image.Journal, error) {
	j, _, err := image.OpenJournal(folder, image.SyncEvery(10))
	if err != nil {
		return nil, fmt.Errorf("image.Journal of %v: %w", other.Journal, err)
	}
	return j, nil
}

func all[T any](cb *command.Buffer, list []ecs.Entity, q *ecs.Query, c ecs.Component[T], v T) (at ecs.Place) {
	command.AddList(cb, list, c, v)
	command.SetQuery(cb, q, c, v)
	type shadow struct{ Place ecs.Entity }
	ecs := shadow{}
	_ = ecs.Place
	return at
}
`

const after = `package game

import (
	"fmt"

	"example.org/quarry/ecs"
	"example.org/quarry/ecs/command"
	"example.org/quarry/ecs/journal"
	other "example.org/sand/image"
)

// keep opens the folder's image.Journal.
func keep(folder string, w *ecs.World) (*journal.Journal, error) {
	j, _, err := journal.Open(folder, journal.SyncEvery(10))
	if err != nil {
		return nil, fmt.Errorf("image.Journal of %v: %w", other.Journal, err)
	}
	return j, nil
}

func all[T any](cb *command.Buffer, list []ecs.Entity, q *ecs.Query, c ecs.Component[T], v T) (at ecs.Location) {
	command.Add(cb, list, c, v)
	command.Set(cb, q, c, v)
	type shadow struct{ Place ecs.Entity }
	ecs := shadow{}
	_ = ecs.Place
	return at
}
`

// TestSample rewrites a folder, once: the second time there is nothing to do.
func TestSample(t *testing.T) {
	folder := t.TempDir()
	file, vendored := filepath.Join(folder, "game.go"), filepath.Join(folder, "vendor", "a", "a.go")
	require.NoError(t, os.MkdirAll(filepath.Dir(vendored), 0o700))
	for _, name := range []string{file, vendored} {
		require.NoError(t, os.WriteFile(name, []byte(before), 0o600))
	}
	var out, errs bytes.Buffer
	require.Equal(t, exitOK, command([]string{"-path", "example.org/quarry", folder}, &out, &errs), errs.String())
	require.Equal(t, file+": 6\n", out.String())
	for name, want := range map[string]string{file: after, vendored: before} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
	out.Reset()
	require.Equal(t, exitOK, command([]string{"-path", "example.org/quarry", folder}, &out, &errs), errs.String())
	require.Empty(t, out.String()+errs.String())

	require.NoError(t, os.WriteFile(file, []byte("package"), 0o600))
	require.Equal(t, exitLeft, command([]string{folder}, &out, &errs))
	for _, bad := range [][]string{{}, {folder, folder}, {"-no", folder}, {folder + "x"}} {
		require.Equal(t, exitError, command(bad, &out, &errs), bad)
	}
}

// TestImports: what becomes of the imports of a file; nothing where after is empty.
func TestImports(t *testing.T) {
	for _, c := range []struct{ before, after string }{
		{`import "quarry/ecs/image"

var j image.Journal
`, `import "quarry/ecs/journal"

var j journal.Journal
`},
		{`import im "quarry/ecs/image"

var j im.JournalStatus
`, `import "quarry/ecs/journal"

var j journal.Status
`},
		{`import "quarry/ecs/image"

var j image.Journal
var i image.Info
`, `import "quarry/ecs/image"
import "quarry/ecs/journal"

var j journal.Journal
var i image.Info
`},
		{`import (
	"quarry/ecs/image"
	log "quarry/ecs/journal"
)

var j image.Journal
var k log.Status
`, `import (
	log "quarry/ecs/journal"
)

var j log.Journal
var k log.Status
`},
		{`import "quarry/ecs/image"
import log "quarry/ecs/journal"

var j image.Journal
`, `import log "quarry/ecs/journal"

var j log.Journal
`},
		{`import "quarry/layout"

var p = f(layout.Place{}, func() { unknown(layout.Place{}) })
`, `import "quarry/layout"

var p = f(layout.Placement{}, func() { unknown(layout.Placement{}) })
`},
		{`import  "quarry/layout"
var  p layout.Place
`, `import  "quarry/layout"
var  p layout.Placement
`},
		{`import "image"

var j image.Journal
`, ""},
		{`import _ "quarry/ecs/image"
`, ""},
	} {
		const head = "package a\n\n"
		out, _, err := source("quarry", "a.go", []byte(head+c.before))
		require.NoError(t, err, c.before)
		require.Equal(t, head+cmp.Or(c.after, c.before), string(out))
	}
}

// TestRefused: files that are not rewritten, and why.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"package a\n\nimport . \"quarry/ecs/image\"\n": `a.go:3:8: "quarry/ecs/image" is imported by a dot, ` +
			`so its names are not found: import it by name`,
		"package a\n\nimport \"quarry/ecs/image\"\n\nfunc f(journal *image.Journal) {}\n": `a.go:5:17: image.Journal ` +
			`is journal.Journal now, but journal is something else in this file: rename that first`,
	} {
		out, _, err := source("quarry", "a.go", []byte(text))
		require.EqualError(t, err, want)
		require.Nil(t, out)
	}
}

// TestTable: each new name is there and no old one is, and the table has all names of packages that
// CHANGELOG.md gives one for one.
func TestTable(t *testing.T) {
	require.NotEmpty(t, table)
	told := map[string]bool{}
	short := func(n name) string { return path.Base(n.folder) + "." + n.ident }
	for old, now := range table {
		require.False(t, exported(t, old), old)
		require.True(t, exported(t, now), now)
		told[short(old)+" "+short(now)] = true
	}
	page, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| ((?:`[a-z]+\\.[A-Z]\\w*`(?:, )?)+) \\| ((?:`[a-z]+\\.[A-Z]\\w*`(?:, )?)+) \\|")
	rows := row.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, rows)
	for _, r := range rows {
		olds, news := strings.Split(r[1], ", "), strings.Split(r[2], ", ")
		for i, old := range olds {
			if old == "`command.Batch`" {
				continue // go fix rewrites it by the forwarder that is there
			}
			pair := strings.Trim(old, "`") + " " + strings.Trim(news[min(i, len(news)-1)], "`")
			require.True(t, told[pair], "%s: the row %q gives it", pair, r[0])
		}
	}
}

// exported reports whether a package of this repository declares a name.
func exported(t *testing.T, n name) bool {
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(n.folder), "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, n.folder)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == n.ident {
					return true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.Name == n.ident {
							return true
						}
					case *ast.ValueSpec:
						for _, name := range s.Names {
							if name.Name == n.ident {
								return true
							}
						}
					}
				}
			}
		}
	}
	return false
}
