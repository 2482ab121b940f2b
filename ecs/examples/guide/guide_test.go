// Package guide_test has the programs of docs/guide.md, a file a page, and compares
// the page's blocks with them.
package guide_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/lint"
)

const pages = 23

// A page is one page's file: its code, and what its examples print.
type page struct {
	code    string
	outputs []string
}

// readPages reads the files of the pages, by number.
func readPages(t *testing.T) map[int]page {
	t.Helper()
	files, err := filepath.Glob("page*_test.go")
	require.NoError(t, err)
	all := map[int]page{}
	for _, name := range files {
		n, err := strconv.Atoi(name[len("page"):][:2])
		require.NoError(t, err, name)
		code, err := os.ReadFile(name)
		require.NoError(t, err)
		syntax, err := parser.ParseFile(token.NewFileSet(), name, code, parser.ParseComments)
		require.NoError(t, err)
		p := page{code: string(code)}
		for _, example := range doc.Examples([]*ast.File{syntax}...) {
			p.outputs = append(p.outputs, example.Output)
		}
		all[n] = p
	}
	return all
}

func readGuide(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/guide.md")
	require.NoError(t, err)
	return string(text)
}

var (
	heading = regexp.MustCompile(`(?m)^## (\d+)\. `)
	indent  = regexp.MustCompile(`(?m)^(.)`) // where a line that is not empty begins
)

// unlike returns the parts of the guide that are not in the files of its pages: go blocks, at any
// one depth of tabs, and text blocks, which are whole lines of an output.
func unlike(guide string, files map[int]page) (found []string) {
	starts := heading.FindAllStringSubmatchIndex(guide, -1)
	for i, at := range starts {
		if n := guide[at[2]:at[3]]; n != strconv.Itoa(i+1) {
			found = append(found, fmt.Sprintf("page %s is the %d. page", n, i+1))
		}
	}
	if len(starts) != pages || len(files) != pages {
		found = append(found, fmt.Sprintf("%d pages and %d files, want %d", len(starts), len(files), pages))
	}
	for _, b := range lint.Blocks(guide) {
		n := 0
		for _, at := range starts {
			if strings.Count(guide[:at[0]], "\n") < b.Line {
				n++
			}
		}
		p := files[n]
		if b.Lang == "go" && !p.has(b.Text) || b.Lang == "text" && !p.prints(b.Text) {
			found = append(found, fmt.Sprintf("line %d: the %s block is not that of page %d", b.Line, b.Lang, n))
		}
	}
	return found
}

// has reports whether the lines of a block stand in the code, all as deep as the first.
func (p page) has(block string) bool {
	for depth := range 5 {
		deep := indent.ReplaceAllString(block, strings.Repeat("\t", depth)+"$1")
		if strings.Contains(p.code, "\n"+deep) {
			return true
		}
	}
	return false
}

// prints reports whether the lines of a block stand in what one example prints.
func (p page) prints(block string) bool {
	for _, output := range p.outputs {
		if strings.Contains("\n"+output, "\n"+block) {
			return true
		}
	}
	return false
}

func TestGuide(t *testing.T) {
	guide := readGuide(t)
	require.Empty(t, unlike(guide, readPages(t)))
	has := map[string]int{}
	for _, b := range lint.Blocks(guide) {
		has[b.Lang]++
	}
	require.GreaterOrEqual(t, has["go"], pages)
	require.GreaterOrEqual(t, has["text"], pages)
	require.Len(t, has, 2, "a block of another language is not compared with anything")
}

// TestGuideDiffers changes each block of the guide, and each heading, and wants that to be
// found.
func TestGuideDiffers(t *testing.T) {
	guide, files := readGuide(t), readPages(t)
	for i, b := range lint.Blocks(guide) {
		if testing.Short() && i%6 > 0 {
			continue // the page is the same in each build
		}
		last := len(b.Text) - 2 // before the newline
		for _, other := range []string{"?" + b.Text, b.Text[:last] + "?\n", b.Text[:last] + "\n"} {
			changed := strings.Replace(guide, "```"+b.Lang+"\n"+b.Text, "```"+b.Lang+"\n"+other, 1)
			require.NotEqual(t, guide, changed)
			require.Len(t, unlike(changed, files), 1, "line %d as %q", b.Line, other)
		}
	}
	require.NotEmpty(t, unlike(strings.Replace(guide, "## 3. ", "## 4. ", 1), files))
	require.NotEmpty(t, unlike(strings.Replace(guide, "## 2. ", "## two ", 1), files))
	files[1], files[2] = files[2], files[1]
	require.NotEmpty(t, unlike(guide, files), "blocks are compared with those of their own page")
}
