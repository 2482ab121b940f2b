package lint

import (
	"go/ast"
	"slices"
	"strings"
)

// Walks of a whole world answer for each of its parts (world.Part). A walk is a table of structs
// with two fields, the step and the reason why there is none; the entry of a part has one of the
// two. A walk in another order than that of the parts has a list of parts beside its table: those
// for which it does something, each once.
//
// That a table has as many entries as there are parts, the compiler checks (TestMadeUpPart).

const partsFile = "ecs/internal/world/parts.go" // has the constants

// unansweredParts finds entries of walks that do and excuse, or neither, and orders that lack a
// part or have it twice.
func unansweredParts(t *tree) (found []finding) {
	parts := t.parts()
	for _, f := range t.goFiles() {
		if f.isTest() || !strings.HasPrefix(f.path, "ecs/internal/") || !strings.HasSuffix(f.path, "/parts.go") {
			continue
		}
		var walk *partWalk // the last one, to which a list belongs
		walks := 0
		for _, v := range variables(f) {
			if entries := tableOf(v); entries != nil {
				walk = &partWalk{name: v.Names[0].Name, does: map[string]bool{}}
				walks++
				found = append(found, walk.read(t, parts, entries)...)
			} else if order := orderOf(v); order != nil {
				found = append(found, walk.compare(t, v, order)...)
			}
		}
		if walks == 0 {
			found = append(found, finding{path: f.path, what: "has no table of a walk"})
		}
	}
	return found
}

// partWalk is a table that was read.
type partWalk struct {
	name string
	does map[string]bool // the parts for which it does something
}

// read reads the entries of a table, and reports those that are not one of the two.
func (w *partWalk) read(t *tree, parts []string, entries *ast.CompositeLit) (found []finding) {
	if len(entries.Elts) != len(parts) {
		return []finding{t.at(entries.Pos(), "%s has %d entries for %d parts", w.name, len(entries.Elts), len(parts))}
	}
	for i, e := range entries.Elts {
		entry, ok := e.(*ast.CompositeLit)
		if !ok || len(entry.Elts) != 2 {
			found = append(found, t.at(e.Pos(), "%s of %s: an entry is {what it does, because of what it does nothing}",
				w.name, parts[i]))
			continue
		}
		does, excuse := !isNil(entry.Elts[0]), textOf(entry.Elts[1]) != ""
		w.does[parts[i]] = does
		switch {
		case does && excuse:
			found = append(found, t.at(e.Pos(), "%s of %s does something, so nothing explains why not",
				w.name, parts[i]))
		case !does && !excuse:
			found = append(found, t.at(e.Pos(), "%s of %s does nothing and gives no reason", w.name, parts[i]))
		}
	}
	return found
}

// compare compares the list of a walk's order with its table.
func (w *partWalk) compare(t *tree, v *ast.ValueSpec, order *ast.CompositeLit) (found []finding) {
	if w == nil {
		return []finding{t.at(v.Pos(), "%s stands before the table of its walk", v.Names[0].Name)}
	}
	times := map[string]int{}
	for _, e := range order.Elts {
		part := selected(e)
		if times[part]++; times[part] > 1 {
			found = append(found, t.at(e.Pos(), "%s has %s twice", v.Names[0].Name, part))
		}
		if !w.does[part] {
			found = append(found, t.at(e.Pos(), "%s has %s, for which %s does nothing", v.Names[0].Name, part, w.name))
		}
	}
	for part, does := range w.does {
		if does && times[part] == 0 {
			found = append(found, t.at(v.Pos(), "%s lacks %s, for which %s does something",
				v.Names[0].Name, part, w.name))
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// parts returns the constants that are the parts of a world, in their order.
func (t *tree) parts() (names []string) {
	f := t.file(partsFile)
	if f == nil {
		return nil
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.GenDecl); ok && len(names) == 0 {
			for _, s := range s.Specs {
				if s, ok := s.(*ast.ValueSpec); ok && strings.HasPrefix(s.Names[0].Name, "Part") &&
					s.Names[0].Name != "PartCount" {
					names = append(names, s.Names[0].Name)
				}
			}
		}
		return true
	})
	return names
}

// variables returns the declarations of variables with one name and one value.
func variables(f *file) (list []*ast.ValueSpec) {
	for _, d := range f.syntax.Decls {
		if d, ok := d.(*ast.GenDecl); ok {
			for _, s := range d.Specs {
				if s, ok := s.(*ast.ValueSpec); ok && len(s.Names) == 1 && len(s.Values) == 1 {
					list = append(list, s)
				}
			}
		}
	}
	return list
}

// tableOf returns the entries of a variable that is an array of structs with a field because.
func tableOf(v *ast.ValueSpec) *ast.CompositeLit {
	list, of := arrayOf(v)
	s, ok := of.(*ast.StructType)
	if !ok || !slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		return slices.ContainsFunc(f.Names, func(name *ast.Ident) bool { return name.Name == "because" })
	}) {
		return nil
	}
	return list
}

// orderOf returns the parts of a variable that is an array of parts.
func orderOf(v *ast.ValueSpec) *ast.CompositeLit {
	if list, of := arrayOf(v); of != nil && selected(of) == "Part" {
		return list
	}
	return nil
}

// arrayOf returns the literal of an array that is the value of v, and the type of its elements.
func arrayOf(v *ast.ValueSpec) (list *ast.CompositeLit, of ast.Expr) {
	if list, ok := v.Values[0].(*ast.CompositeLit); ok {
		if array, ok := list.Type.(*ast.ArrayType); ok {
			return list, array.Elt
		}
	}
	return nil, nil
}

// selected returns the name that an expression is or selects from a package.
func selected(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// isNil reports whether an expression is the identifier nil.
func isNil(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "nil"
}

// textOf returns the text of an expression that is a string literal, otherwise "".
func textOf(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok {
		return strings.Trim(lit.Value, "\"`")
	}
	return ""
}
