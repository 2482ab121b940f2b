package lint

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// siblings are the layers that the door is for.
var siblings = []string{"ecs/command", "ecs/job", "ecs/system", "ecs/image", "ecs/journal"}

// spared are the exported names of ecs that no program here uses, and why they are exported all
// the same.
var spared = map[string]string{
	"Closed":        "whether a world can be asked anything is its owner's question",
	"IsPlaceholder": "programs hold the placeholders of command buffers",
	"Location":      "what Locate returns, to be kept and compared",
	"SharedValue":   "what Shared.Of returns, to be kept",
	"KindComponent": "a constant of Kind, which ComponentInfo has",
	"KindShared":    "a constant of Kind, which ComponentInfo has",
	"KindSparse":    "a constant of Kind, which ComponentInfo has",
}

var word = regexp.MustCompile(`\w+`)

// siblingNames finds exported names of ecs that its siblings use and no program does: no example,
// no layer made as programs are, no workload of bench, and no page. They belong behind the door.
// It looks at names alone, so one that means two things is taken for the one in use.
func siblingNames(t *tree) []finding {
	bySiblings, byPrograms := map[string]bool{}, map[string]bool{}
	for _, f := range t.files {
		switch {
		case f.syntax == nil:
			if f.isGuide() {
				for _, w := range word.FindAllString(string(f.text), -1) {
					byPrograms[w] = true
				}
			}
		case f.isProgram():
			noteSelected(f, byPrograms)
		case slices.Contains(siblings, f.dir()) && !f.isTest():
			noteSelected(f, bySiblings)
		}
	}
	var found []finding
	owed := map[string]bool{}
	for _, f := range t.goFiles() {
		if f.dir() != "ecs" || f.isTest() {
			continue
		}
		for _, name := range exportedNames(f) {
			if !bySiblings[name.Name] || byPrograms[name.Name] {
				continue
			}
			owed[name.Name] = true
			if spared[name.Name] == "" {
				found = append(found,
					t.at(name.Pos(),
						"%s is used by siblings of ecs and by no program or page: it belongs behind %s, or among spared in internal/lint/sibling.go",
						name.Name, door))
			}
		}
	}
	if t.file("internal/lint/sibling.go") == nil {
		return found // a tree of a test, which spares nothing
	}
	for name := range spared {
		if !owed[name] {
			found = append(found, finding{
				path: "internal/lint/sibling.go", what: fmt.Sprintf("spared has %s, which needs it no longer", name),
			})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// isGuide reports whether f is a page for those who write programs.
func (f *file) isGuide() bool {
	switch f.path {
	case "README.md", "docs/guide.md", "docs/semantics.md", "docs/coming.md":
		return true
	}
	return false
}

// isProgram reports whether f is made as programs are.
func (f *file) isProgram() bool {
	room := roomOf(f.dir())
	return room == "ecs/examples" || room == "ecs/hierarchy" || room == "bench" ||
		strings.HasPrefix(path.Base(f.path), "example_")
}

// noteSelected notes the names that a file selects.
func noteSelected(f *file, names map[string]bool) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			names[s.Sel.Name] = true
		}
		return true
	})
}

// exportedNames returns the exported functions, methods, types, constants and variables of a file.
func exportedNames(f *file) (names []*ast.Ident) {
	add := func(list ...*ast.Ident) {
		for _, name := range list {
			if name.IsExported() {
				names = append(names, name)
			}
		}
	}
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					add(s.Names...)
				}
			}
		}
	}
	return names
}
