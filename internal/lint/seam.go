package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// seamTable is a row of the table in the seam's package comment: a function, and who uses it.
var seamTable = regexp.MustCompile(`(?m)^\t([A-Z]\w*)  +(\w+(?:, \w+)*)  +\S`)

// looseSeam finds ways around the seam and what its page does not say: calls of ecs.Inside from
// elsewhere, methods behind it that do more than one call, functions on one side alone, and rows
// of the table of its package comment that are missing or wrong.
func looseSeam(t *tree) []finding {
	var found []finding
	behind, before, said := map[string]*ast.FuncDecl{}, map[string]*ast.FuncDecl{}, map[string]string{}
	users := map[string]map[string]bool{}
	for _, f := range t.goFiles() {
		dir := f.dir()
		if inside := importName(f, root+"/ecs"); inside != "" && dir != seam {
			for _, s := range selectors(f, inside) {
				if s.Sel.Name == "Inside" {
					found = append(found, t.at(s.Pos(), "uses ecs.Inside: only %s may", seam))
				}
			}
		}
		if f.isTest() {
			continue
		}
		if name := importName(f, root+"/"+seam); name != "" {
			for _, s := range selectors(f, name) {
				if users[s.Sel.Name] == nil {
					users[s.Sel.Name] = map[string]bool{}
				}
				users[s.Sel.Name][strings.TrimPrefix(roomOf(dir), "ecs/")] = true
			}
		}
		if dir == seam && f.syntax.Doc != nil {
			for _, row := range seamTable.FindAllStringSubmatch(f.syntax.Doc.Text(), -1) {
				said[row[1]] = row[2]
			}
		}
		for _, d := range f.syntax.Decls {
			switch d, ok := d.(*ast.FuncDecl); {
			case !ok:
			case dir == "ecs" && d.Recv != nil && receiver(d) == "inside":
				behind[d.Name.Name] = d
				if !oneCall(d) {
					found = append(found, t.at(d.Pos(), "inside.%s does more than one call: the seam has no logic", d.Name.Name))
				}
			case dir == seam && d.Recv == nil && d.Name.IsExported():
				before[d.Name.Name] = d
			}
		}
	}
	for name, d := range behind {
		if before[name] == nil {
			found = append(found, t.at(d.Pos(), "%s has no function %s", seam, name))
		}
	}
	for name, d := range before {
		who := strings.Join(slices.Sorted(maps.Keys(users[name])), ", ")
		switch {
		case behind[name] == nil:
			found = append(found, t.at(d.Pos(), "ecs has no inside.%s", name))
		case who == "":
			found = append(found, t.at(d.Pos(), "nobody uses %s but tests", name))
		case said[name] != who:
			found = append(found, t.at(d.Pos(), "%s is used by %s; the table of the package comment says %q", name, who, said[name]))
		}
	}
	for name := range said {
		if before[name] == nil {
			found = append(found, finding{path: seam, what: fmt.Sprintf("the table of the package comment has %s, which is no function", name)})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// importName returns what a file calls a package that it imports, "" if it does not.
func importName(f *file, path string) string {
	for _, spec := range f.syntax.Imports {
		if spec.Path.Value != `"`+path+`"` {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return ""
}

// selectors returns where a file selects from what has a name.
func selectors(f *file, name string) (list []*ast.SelectorExpr) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == name {
				list = append(list, s)
			}
		}
		return true
	})
	return list
}

// oneCall reports whether a function is one call, or the conversion of one, and returns what
// that returns.
func oneCall(d *ast.FuncDecl) bool {
	if d.Body == nil || len(d.Body.List) != 1 {
		return false
	}
	var call ast.Expr
	switch s := d.Body.List[0].(type) {
	case *ast.ExprStmt:
		call = s.X
	case *ast.ReturnStmt:
		if len(s.Results) == 1 {
			call = s.Results[0]
		}
	}
	if face, ok := call.(*ast.CompositeLit); ok && len(face.Elts) == 1 { // a face around its core
		call = face.Elts[0]
	}
	_, ok := call.(*ast.CallExpr)
	return ok
}
