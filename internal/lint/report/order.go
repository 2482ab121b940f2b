package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"path/filepath"
)

// arrange orders files so that few arrows run up: files that nothing uses come first, those that use nothing last, and of
// the rest always the one with the most arrows out for those in.
func arrange(n int, arrows map[[2]int]bool) []int {
	out, in, placed := make([]int, n), make([]int, n), make([]bool, n)
	for a := range arrows {
		out[a[0]]++
		in[a[1]]++
	}
	var first, last []int
	take := func(file int) {
		placed[file] = true
		for a := range arrows {
			if a[0] == file {
				in[a[1]]--
			} else if a[1] == file {
				out[a[0]]--
			}
		}
	}
	for left := n; left > 0; left-- {
		best := -1
		for file := range n {
			switch {
			case placed[file]:
			case out[file] == 0:
				best = file
			case best < 0 || out[best] != 0 && out[file]-in[file] > out[best]-in[best]:
				best = file
			}
		}
		if take(best); out[best] == 0 {
			last = append(last, best)
			continue
		}
		first = append(first, best)
	}
	for i := range last {
		first = append(first, last[len(last)-1-i])
	}
	return first
}

// parse reads the files of a package that this system builds, without tests.
func (l *loader) parse(dir string) (files []*ast.File, err error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(l.FileSet, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}
