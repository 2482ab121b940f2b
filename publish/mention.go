package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// What mentions the path of a package has it behind a character that continues no path or word:
//
//	"quarry/ecs"   `quarry/...`   "\n\tquarry/alloc.New"   *quarry/ecs.World       mentions
//	DIR/quarry/ecs                the_quarry/ecs           arrow/quarry.go         others
//
// In Go, literals and comments are looked at, not code, where quarry/2 is a division; in other text
// all is. The path of the root module alone is a word like any other, so it is a mention in imports
// only, and in literals of these files, which mean the module.
var meanModule = []string{"bench/machine.go", "bench/others/copy.go", "internal/lint/floors.go"}

// A renaming gives paths of packages another beginning.
type renaming struct {
	old, new string
	mention  *regexp.Regexp
}

func newRenaming(old, new string) *renaming {
	// The letter of an escape sequence, as in "\tquarry/ecs", is no part of a word.
	return &renaming{old, new, regexp.MustCompile(`(^|[^\w./-]|\\[abfnrtv])` + regexp.QuoteMeta(old) + `/`)}
}

// text renames in text that is not Go, and returns binary data unchanged.
func (r *renaming) text(text []byte) []byte {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return text
	}
	return r.mention.ReplaceAll(text, []byte("${1}"+r.new+"/"))
}

// file renames in a file by its kind.
func (r *renaming) file(f file) ([]byte, error) {
	if path.Ext(f.path) == ".go" {
		return r.source(f.path, f.text)
	}
	return r.text(f.text), nil
}

// source renames in Go source. What gofmt had formatted is formatted again.
func (r *renaming) source(name string, text []byte) ([]byte, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	alone := map[int]bool{} // where the root module is imported
	for _, spec := range syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && p == r.old {
			alone[set.Position(spec.Path.Pos()).Offset] = true
		}
	}
	var out []byte
	start, kind, literal := 0, token.ILLEGAL, ""
	flush := func(end int) { // the last token, and the spaces behind it
		part := text[start:end]
		p, err := strconv.Unquote(literal)
		switch {
		case kind == token.STRING && err == nil && p == r.old && (alone[start] || slices.Contains(meanModule, name)):
			out = append(append(out, strconv.Quote(r.new)...), part[len(literal):]...)
		case kind == token.STRING || kind == token.COMMENT:
			out = append(out, r.text(part)...)
		default:
			out = append(out, part...)
		}
	}
	var s scanner.Scanner
	file := set.AddFile(name, -1, len(text))
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, next, lit := s.Scan()
		if next == token.SEMICOLON && lit == "\n" {
			continue // is not in the text
		}
		at := file.Offset(pos)
		flush(at)
		if start, kind, literal = at, next, lit; next == token.EOF {
			break
		}
	}
	if bytes.Equal(out, text) {
		return text, nil
	}
	if was, err := format.Source(text); err != nil || !bytes.Equal(was, text) {
		return out, nil
	}
	if out, err = format.Source(out); err != nil {
		return nil, fmt.Errorf("%s under its new path: %w", name, err)
	}
	return out, nil
}
