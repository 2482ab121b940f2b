package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"slices"
	"strings"
)

// A place is the location of a mutant: some bytes of a file, in the body of a function.
type place struct {
	fn       *goFunc
	from, to int    // in the file's text
	text     string // the replacement
}

// weight is the number of names that a pattern needs to be looked for everywhere.
const weight = 3

// locate finds the place of m, and the table's new line for it, which changes only if the code has
// moved. It looks into the function that the table names; if that does not exist or does not match,
// into functions with the same name in other packages, then of other types, then everywhere, and
// into the methods of the type. Most of these are compared exactly, then loosely (similar.go).
func (t *tree) locate(m *mutant) (place, mutant, error) {
	replaced, replacement, err := parsePatterns(m.old, m.new)
	if err != nil {
		return place{}, *m, fmt.Errorf("%v: %w", m, err)
	}
	named := func(f *goFunc) bool { return f.pkg.name == m.pkg && f.name == m.fn }
	stays := slices.ContainsFunc(t.functions, named)
	// If the function still exists, a match that is only similar and elsewhere is a different
	// thing.
	gone := func(f *goFunc) bool { return !stays || f.pkg.name != m.pkg }
	sameName := func(f *goFunc) bool { return f.name == m.fn }
	sameMethod := func(f *goFunc) bool { return method(f.name) == method(m.fn) }
	says := replaced.names() >= weight
	for i, look := range []struct {
		where func(*goFunc) bool
		loose bool
	}{
		{named, false},
		{named, true},
		{sameName, false},
		{func(f *goFunc) bool { return gone(f) && sameName(f) }, true},
		{sameMethod, false},
		{func(f *goFunc) bool { return gone(f) && sameMethod(f) }, true},
		{func(*goFunc) bool { return says }, false},
		{func(f *goFunc) bool { return says && f.pkg.name == m.pkg && receiver(f.name) == receiver(m.fn) }, true},
	} {
		fn, found, err := t.only(replaced, look.where, look.loose, m)
		if err != nil && i == 0 {
			return place{}, *m, fmt.Errorf("%v: %w", m, err)
		}
		if fn != nil {
			return t.placeIn(fn, found, replaced, replacement, m)
		}
	}
	return place{}, *m, fmt.Errorf("%v: nothing matches.%s", m, t.hint(m, replaced, named))
}

// only finds the one of these functions that has as many places as the mutant wants. The error has
// the number of places in a function that has more or fewer.
func (t *tree) only(replaced *pattern, where func(*goFunc) bool, loose bool, m *mutant) (*goFunc, match, error) {
	var only *goFunc
	var which match
	var others error
	for _, f := range t.functions {
		if !where(f) {
			continue
		}
		found := replaced.find(f, loose)
		if loose {
			found = nearest(found)
		}
		switch {
		case len(found) == 0:
		case len(found) != max(m.of, 1):
			if !loose {
				others = fmt.Errorf("it is in %v %d times; name the place as N of %[2]d", f, len(found))
			}
		case only != nil:
			return nil, match{}, fmt.Errorf("it is in %v and in %v", only, f)
		default:
			only, which = f, found[max(m.nth, 1)-1]
		}
	}
	return only, which, others
}

func (t *tree) placeIn(fn *goFunc, found match, replaced, replacement *pattern, m *mutant) (place, mutant, error) {
	now := *m
	now.pkg, now.fn = fn.pkg.name, fn.name
	if len(found.names) > 0 {
		now.old, now.new = replaced.renamed(found.names), replacement.renamed(found.names)
		var err error
		if _, replacement, err = parsePatterns(now.old, now.new); err != nil {
			return place{}, now, fmt.Errorf("%v: %w", m, err)
		}
	}
	text, err := replacement.fill(found, fn.file)
	if err != nil {
		return place{}, now, fmt.Errorf("%v: %w", m, err)
	}
	p := place{fn, fn.file.offset(found.from), fn.file.offset(found.to), text}
	if e, err := parser.ParseExpr(text); err == nil && replaced.expr != nil && isOperation(e) {
		p.text = "(" + text + ")"
	}
	if strings.Join(strings.Fields(text), "") == strings.Join(strings.Fields(string(fn.file.text[p.from:p.to])), "") {
		return p, now, fmt.Errorf("%v: this changes nothing", m)
	}
	return p, now, nil
}

// names counts the names that are not predeclared.
func (p *pattern) names() int {
	var all []string
	for _, root := range p.nodes() {
		eachName(root, func(_ ast.Node, name string) { all = append(all, name) })
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

// hint shows where one might look for a mutant that was not found: the function as it is now, and
// the places that have the text.
func (t *tree) hint(m *mutant, replaced *pattern, named func(*goFunc) bool) string {
	var b strings.Builder
	for _, f := range t.functions {
		if n := len(replaced.find(f, false)); n > 0 {
			fmt.Fprintf(&b, "\nthe text is in %v, %d times", f, n)
		}
		if named(f) {
			fmt.Fprintf(&b, "\nthe function is now:\n%s", f.file.source(f.decl.Pos(), f.decl.End()))
		}
	}
	if !slices.ContainsFunc(t.functions, named) {
		fmt.Fprintf(&b, "\nno function %s %s", m.pkg, m.fn)
	}
	return b.String()
}

// locateAll finds the places of all mutants; moved has a line for each mutant whose place differs
// from the table's, which is then corrected.
func (t *tree) locateAll(list []*mutant) (places []place, moved []string, err error) {
	places = make([]place, len(list))
	var all []error
	for i, m := range list {
		var now mutant
		places[i], now, err = t.locate(m)
		if err != nil {
			all = append(all, err)
			continue
		}
		if now.String() != m.String() {
			moved = append(moved, fmt.Sprintf("moved: %v\n    -> %v", m, &now))
		}
		*m = now
	}
	seen := map[string]bool{}
	for _, m := range list {
		if seen[m.String()] {
			all = append(all, fmt.Errorf("%v is there twice: one of them was another, or is to go", m))
		}
		seen[m.String()] = true
	}
	return places, moved, errors.Join(all...)
}
