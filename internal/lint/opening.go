package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
)

// Package ecs is a face that a reader opens file by file: each file begins with a statement of what
// it is, and there are at most so many files and lines. The report counts the names.

// Limits of package ecs beside its tests.
const (
	ecsFiles = 45
	ecsLines = 6000
)

// openingWords is how many words a statement has at least: a heading is not a statement.
const openingWords = 8

// silentFiles finds files of ecs whose first declaration has no statement before it: a comment that
// stands alone or documents the declaration, in openingWords words, among them the file's name.
func silentFiles(t *tree) (found []finding) {
	for _, f := range t.goFiles() {
		if f.dir() != "ecs" || f.isTest() || path.Base(f.path) == "doc.go" {
			continue
		}
		noun := strings.TrimSuffix(path.Base(f.path), ".go")
		text := opening(f.syntax)
		words := strings.Fields(text)
		switch joined := strings.ToLower(strings.Join(words, "")); {
		case len(words) < openingWords:
			found = append(found, finding{path: f.path, what: fmt.Sprintf(
				"opens without a statement of what it is: %d words, at least %d", len(words), openingWords)})
		case !strings.Contains(joined, noun):
			found = append(found, finding{path: f.path, what: "opens with a statement that does not name " + noun})
		}
	}
	return found
}

// opening returns the text of the comments between the imports and the first declaration.
func opening(f *ast.File) (text string) {
	after, before := f.Name.End(), f.FileEnd
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			after = d.End()
			continue
		}
		before = d.Pos()
		break
	}
	for _, c := range f.Comments {
		if c.Pos() > after && c.End() <= before {
			text += c.Text() // without directives
		}
	}
	return text
}

// largeFace finds a package ecs of too many files or lines.
func largeFace(t *tree) (found []finding) {
	files, lines := 0, 0
	for _, f := range t.goFiles() {
		if f.dir() == "ecs" && !f.isTest() {
			files, lines = files+1, lines+countLines(f.text)
		}
	}
	if files > ecsFiles || lines > ecsLines {
		found = append(found, finding{path: "ecs",
			what: fmt.Sprintf("has %d files and %d lines, %d and %d at most", files, lines, ecsFiles, ecsLines)})
	}
	return found
}
