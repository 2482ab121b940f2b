package lint

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	architectureFile = "docs/architecture.md"
	tolerance        = 10 // per cent that a package may have grown or shrunk since its row was written
)

var qualified = regexp.MustCompile(`([A-Za-z]\w*)\.([A-Za-z]\w*)`)

// staleArchitecture finds what docs/architecture.md says that is no longer so: names of
// package.Declaration or Type.member, and rows of the table of packages.
func staleArchitecture(t *tree) []finding {
	doc := t.file(architectureFile)
	if doc == nil {
		return []finding{{path: architectureFile, what: "is missing"}}
	}
	var found []finding
	n, known, rows := 0, t.names(), map[string][]string{}
	for line := range strings.Lines(string(doc.text)) {
		n++
		for _, m := range qualified.FindAllStringSubmatch(line, -1) {
			if m[2] != "go" && !known[m[0]] {
				found = append(found, finding{architectureFile, n, "there is no " + m[0] + " in the root module"})
			}
		}
		if cells := strings.Split(line, "|"); len(cells) == 5 && floorOf(strings.TrimSpace(cells[1])) >= 0 {
			rows[strings.TrimSpace(cells[1])] = cells
		}
	}
	return append(found, staleRows(t, rows)...)
}

// names returns package.Declaration and Type.member for what the root module declares
// outside tests, members being methods and fields.
func (t *tree) names() map[string]bool {
	known := map[string]bool{}
	for _, f := range t.goFiles() {
		if !t.inRoot(f) || f.isTest() {
			continue
		}
		of := func(owner string, names ...*ast.Ident) {
			for _, name := range names {
				known[owner+"."+name.Name] = true
			}
		}
		for _, decl := range f.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					of(receiver(decl), decl.Name)
				} else {
					of(f.syntax.Name.Name, decl.Name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						of(f.syntax.Name.Name, spec.Names...)
					case *ast.TypeSpec:
						of(f.syntax.Name.Name, spec.Name)
						if s, ok := spec.Type.(*ast.StructType); ok {
							for _, field := range s.Fields.List {
								of(spec.Name.Name, field.Names...)
							}
						}
					}
				}
			}
		}
	}
	return known
}

// staleRows finds rows of the table of packages, by package, that are missing or wrong.
// The row of a module of its own stands for all its packages, and that of a folder of
// programs, which nobody can import, for all of those.
func staleRows(t *tree, rows map[string][]string) []finding {
	lines, programs := map[string]int{}, map[string]bool{}
	for _, f := range t.files {
		if dir := f.dir(); f.isSource() && !f.isTest() && floorOf(dir) >= 0 {
			if module := t.module(f); module != "." {
				dir = module
			} else if f.syntax != nil && f.syntax.Name.Name == "main" {
				dir = path.Dir(dir)
				programs[dir] = true
			}
			lines[dir] += countLines(f.text)
		}
	}
	var found []finding
	for dir, n := range lines {
		row := rows[dir]
		if row == nil {
			found = append(found, finding{path: architectureFile, what: "the table has no package " + dir})
			continue
		}
		said, _ := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(row[2]), ",", ""))
		if 100*max(said-n, n-said) > tolerance*n {
			found = append(found, finding{
				path: architectureFile, what: fmt.Sprintf("%s has %d lines, the table says %d", dir, n, said),
			})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.what, b.what) })
	return found
}
