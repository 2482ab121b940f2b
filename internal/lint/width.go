package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// proseWidth is the width of prose in columns; a tab of a comment's indent counts four.
const proseWidth = 100

var (
	// comment is a line of a Go file that is nothing but a comment of prose: no directive, and
	// no drawing or code, which are indented behind the slashes.
	comment = regexp.MustCompile(`^(\t*)// (\S.*)$`)
	output  = regexp.MustCompile(`^\t*// (Unordered output|Output):`) // of an example, to the end of the comment
	drawing = regexp.MustCompile(`\S {3,}\S|\t`)                      // columns that spaces or tabs align
	unwraps = regexp.MustCompile(`^(\||#|<|!\[|\[[^\]]+\]:)`)
)

// wideProse finds lines of prose that are wider than proseWidth and have a space to break at: in
// Markdown outside of code, tables, headings and drawings, in Go in comments that stand alone.
func wideProse(t *tree) (found []finding) {
	for _, f := range t.files {
		markdown, code := path.Ext(f.path) == ".md", false // code: in a block of code, or in an example's output
		if !markdown && f.syntax == nil || f.isGenerated() {
			continue
		}
		for n, line := range strings.Split(string(f.text), "\n") {
			indent, text := "", line
			if markdown {
				if strings.HasPrefix(strings.TrimSpace(line), "```") {
					code = !code
				}
				if code || unwraps.MatchString(strings.TrimSpace(line)) {
					continue
				}
			} else if m := comment.FindStringSubmatch(line); m == nil || drawing.MatchString(m[2]) {
				code = code && strings.HasPrefix(strings.TrimSpace(line), "//")
				continue
			} else if code = code || output.MatchString(line); code {
				continue
			} else {
				indent, text = strings.Repeat("    ", len(m[1]))+"// ", m[2]
			}
			if utf8.RuneCountInString(indent+text) > proseWidth &&
				strings.Contains(strings.TrimSpace(text[:min(len(text), proseWidth)]), " ") {
				found = append(found, finding{f.path, n + 1, "is wider than 100 columns"})
			}
		}
	}
	return found
}

// codeWidth is the width of code in columns, and rowWidth that of a row of a table in a test,
// which pairs a text with a call: rows are compared by column. A tab counts four.
const (
	codeWidth = 120
	rowWidth  = 160
)

// afterText matches what may follow a text that crosses the limit: what closes, and the beginning
// of a function whose body stands on the next line.
var afterText = regexp.MustCompile(`^[]),:;{} +]*((\w+\()*(\w+, )?func\([^()]*\)( \w+)? \{)?$`)

// wideCode finds lines of Go files that are wider than codeWidth, or as a row of a test's table
// than rowWidth. It accepts lines of raw strings, directives, what an example prints, and lines
// that end in a text too long for a line of its own: texts stay whole, so that one can search them.
func wideCode(t *tree) (found []finding) {
	for _, f := range t.goFiles() {
		if f.isGenerated() {
			continue
		}
		inside, texts, rows := shapes(t, f)
		printed := false // by an example
		for i, line := range strings.Split(string(f.text), "\n") {
			n, text := i+1, strings.TrimLeft(line, "\t")
			printed = strings.HasPrefix(text, "//") && (printed || output.MatchString(line))
			limit := codeWidth
			if f.isTest() && rows[n] {
				limit = rowWidth
			}
			word := strings.HasPrefix(text, "// ") && !strings.Contains(text[3:], " ")
			if columns(line) <= limit || inside[n] || printed || word || strings.HasPrefix(text, "//go:") {
				continue
			}
			if at := texts[n]; at == nil ||
				!mustCross(line, limit, t.fset.Position(at.Pos()), t.fset.Position(at.End())) {
				found = append(found, finding{f.path, n, fmt.Sprintf("is wider than %d columns", limit)})
			}
		}
	}
	return found
}

// mustCross reports whether the text between two places of a line has to cross a limit.
func mustCross(line string, limit int, from, to token.Position) bool {
	before, text, after := line[:from.Column-1], line[from.Column-1:to.Column-1], line[to.Column-1:]
	indent := 4 * (strings.Count(line, "\t") + 1)
	return columns(before) < limit && indent+columns(text) >= codeWidth-1 && afterText.MatchString(after)
}

// columns returns the width of a line.
func columns(line string) int { return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t") }

// shapes returns the lines of f that lie in a raw string, the last text on each line, and the
// lines on which an element of a composite literal begins, but for elements on its first line.
func shapes(t *tree, f *file) (inside map[int]bool, texts map[int]*ast.BasicLit, rows map[int]bool) {
	inside, texts, rows = map[int]bool{}, map[int]*ast.BasicLit{}, map[int]bool{}
	lineOf := func(p token.Pos) int { return t.fset.Position(p).Line }
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				break
			}
			first, last := lineOf(n.Pos()), lineOf(n.End())
			for at := first; first < last && at <= last; at++ {
				inside[at] = true
			}
			if texts[first] == nil || texts[first].Pos() < n.Pos() {
				texts[first] = n
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if at := lineOf(e.Pos()); at != lineOf(n.Lbrace) {
					rows[at] = true
				}
			}
		}
		return true
	})
	return inside, texts, rows
}
