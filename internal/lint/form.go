package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"path"
)

// Limits in lines. What a program wrote is exempt.
const (
	fileLimit     = 600
	functionLimit = 80
	contractLimit = 66 // doc.go
)

// unformatted finds Go files that go/format would write differently.
func unformatted(t *tree) []finding {
	var found []finding
	for _, f := range t.goFiles() {
		want, err := format.Source(f.text)
		if err != nil {
			found = append(found, finding{path: f.path, what: err.Error()})
			continue
		}
		if line := firstDifference(f.text, want); line > 0 {
			found = append(found, finding{f.path, line, "is not as gofmt writes it"})
		}
	}
	return found
}

// firstDifference returns the first line, from 1, in which a and b differ, or 0.
func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	left, right := bytes.SplitAfter(a, []byte("\n")), bytes.SplitAfter(b, []byte("\n"))
	for i := range min(len(left), len(right)) {
		if !bytes.Equal(left[i], right[i]) {
			return i + 1
		}
	}
	return min(len(left), len(right)) + 1
}

func countLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// longFiles finds .go and .s files over the limit.
func longFiles(t *tree) []finding {
	var found []finding
	for _, f := range t.files {
		if !f.isSource() || f.isGenerated() {
			continue
		}
		limit := fileLimit
		if path.Base(f.path) == "doc.go" {
			limit = contractLimit
		}
		if n := countLines(f.text); n > limit {
			found = append(found, finding{path: f.path, what: fmt.Sprintf("has %d lines, %d at most", n, limit)})
		}
	}
	return found
}

// longFunctions finds Go functions over the limit, counted from the line of
// func to the line of the closing brace. A literal counts as part of the
// function around it; one outside any function counts for itself.
func longFunctions(t *tree) []finding {
	var found []finding
	for _, f := range t.goFiles() {
		if f.isGenerated() {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			name := "function literal"
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.FuncLit:
			default:
				return true
			}
			lines := t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1
			if lines > functionLimit {
				found = append(found, t.at(n.Pos(), "%s has %d lines, %d at most", name, lines, functionLimit))
			}
			return false
		})
	}
	return found
}
