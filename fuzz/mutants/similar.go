package main

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Renaming. A pattern that fits nowhere is compared once more, loosely: a name, or names joined by
// dots, may stand for another name, the same one everywhere, and w.records.at may be records.at. A
// place is accepted if at least half of the pattern's names have kept their last part, and if no
// other place has kept as many. Predeclared names, literals and operators must be the same.

// path returns n as a name: x, x.y.z.
func path(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.Ident:
		return n.Name, !strings.HasPrefix(n.Name, wildName)
	case *ast.SelectorExpr:
		if x, ok := path(n.X); ok {
			return x + "." + n.Sel.Name, true
		}
	}
	return "", false
}

// path compares the names p and t; is reports whether p is a name.
func (m *matcher) path(p, t ast.Node) (same, is bool) {
	from, ok := path(p)
	if ok {
		to, ok := path(t)
		return ok && m.rename(from, to), true
	}
	field, ok := p.(*ast.SelectorExpr)
	if !ok {
		return false, false
	}
	other, ok := t.(*ast.SelectorExpr)
	return ok && m.node(field.X, other.X) && m.rename("."+field.Sel.Name, "."+other.Sel.Name), true
}

func (m *matcher) rename(from, to string) bool {
	if types.Universe.Lookup(from) != nil || types.Universe.Lookup(to) != nil {
		return from == to
	}
	now, known := m.names[from]
	was, taken := m.back[to]
	m.names[from], m.back[to] = to, from
	return (!known || now == to) && (!taken || was == from)
}

// changed counts the names that differ at the place; ok reports whether at least half have kept
// their last part.
func (m match) changed() (n int, ok bool) {
	kept := 0
	for from, to := range m.names {
		if from != to {
			n++
		}
		if method(from) == method(to) {
			kept++
		}
	}
	return n, kept*2 >= len(m.names) && kept > 0
}

// nearest keeps the places that have kept the most names, among those that p fits loosely.
func nearest(found []match) []match {
	least := -1
	for _, m := range found {
		if n, ok := m.changed(); ok && (least < 0 || n < least) {
			least = n
		}
	}
	return slices.DeleteFunc(found, func(m match) bool {
		n, ok := m.changed()
		return !ok || n != least
	})
}

// renamed is the text of p with the names of a place. A name that only the replacement has follows
// the renaming of its first part.
func (p *pattern) renamed(names map[string]string) string {
	first := map[string]string{}
	for from, to := range names {
		a, x, ok := strings.Cut(from, ".")
		b, y, _ := strings.Cut(to, ".")
		if ok && a != "" && strings.Count(x, ".") == strings.Count(y, ".") {
			first[a] = b
		}
	}
	var edits []edit
	write := func(n ast.Node, from string) {
		to, known := names[from]
		if a, x, ok := strings.Cut(from, "."); !known && ok && first[a] != "" {
			to, known = first[a]+"."+x, true
		}
		if known {
			edits = append(edits, edit{int(n.Pos() - p.base), int(n.End() - p.base), strings.TrimPrefix(to, ".")})
		}
	}
	for _, root := range p.nodes() {
		eachName(root, write)
	}
	return written(apply(p.text, edits))
}

// eachName visits the names of a pattern; the name of a field begins with a dot if the field is not
// of a name.
func eachName(root ast.Node, visit func(n ast.Node, name string)) {
	ast.Inspect(root, func(n ast.Node) bool {
		if name, ok := path(n); ok {
			visit(n, name)
			return false
		}
		if s, ok := n.(*ast.SelectorExpr); ok {
			visit(s.Sel, "."+s.Sel.Name)
			eachName(s.X, visit)
			return false
		}
		return true
	})
}
