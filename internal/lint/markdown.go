package lint

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// pageNames is what a page of Markdown may name, by the text of the name.
var pageNames = []struct {
	kind string
	text *regexp.Regexp
}{
	{"test", regexp.MustCompile(`\b((?:Test|Benchmark|Fuzz|Example)[A-Z]\w*)`)},
	{"file", regexp.MustCompile(`([\w./-]*\w\.(?:go|md))\b`)},
	{"folder", regexp.MustCompile("(?:^|[\\s`])\\./(\\w[\\w/]*)")}, // as in go run ./bench
}

// stalePages finds names of tests, files and folders in Markdown that are not there. A
// file or folder is named from the root or from the page's folder.
func stalePages(t *tree) (found []finding) {
	there := map[string]bool{}
	for _, f := range t.files {
		for at := f.path; at != "."; at = path.Dir(at) {
			there[at] = true
		}
		if f.isTest() {
			for _, decl := range f.syntax.Decls {
				if decl, ok := decl.(*ast.FuncDecl); ok {
					there[decl.Name.Name] = true
				}
			}
		}
	}
	for _, f := range t.files {
		if path.Ext(f.path) != ".md" {
			continue
		}
		for n, line := range strings.Split(string(f.text), "\n") {
			for _, names := range pageNames {
				for _, m := range names.text.FindAllStringSubmatch(line, -1) {
					if !there[path.Clean(m[1])] && !there[path.Join(f.dir(), m[1])] {
						found = append(found, finding{f.path, n + 1, "there is no " + names.kind + " " + m[1]})
					}
				}
			}
		}
	}
	return found
}
