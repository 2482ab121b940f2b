package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// All mutants are built at once. A function that has mutants is instrumented like this:
//
//	func (g *Store) Full() bool { switch mutantOn.On {
//	case 17:
//		return g.count > g.tail.full
//	default:
//		return g.count >= g.tail.full
//	}}
//
// and the environment of a test has the number that is on. So one build serves all mutants, and a
// verdict costs as much time as its test. The body stays in its function, so that recover, stacks
// and the compiler's check that a function returns are unchanged; only its outermost scope is one
// deeper, for which := and labels are rewritten (nested).

// variable is the environment variable with the number of the mutant that is on, from 1; unset or 0
// is the unchanged code.
const variable = "QUARRY_MUTANT"

const switchFile = `package mutanton

import (
	"os"
	"strconv"
)

var On = func() int { n, _ := strconv.Atoi(os.Getenv("` + variable + `")); return n }()
`

// instrument writes the instrumented files into dir, and the overlay file of the build that names
// them. A mutant's number is its place's index in the list, from 1.
func (t *tree) instrument(places []place, dir string) (overlay string, err error) {
	byFile := map[*goFile][]int{}
	var files []*goFile // in the order of the table, so that the cache has the build next time
	for i, p := range places {
		if byFile[p.fn.file] == nil {
			files = append(files, p.fn.file)
		}
		byFile[p.fn.file] = append(byFile[p.fn.file], i)
	}
	replace := map[string]string{}
	write := func(path, text string) error {
		name := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[path] = name
		return os.WriteFile(name, []byte(text), 0o600)
	}
	if err := write(filepath.Join(t.root, "internal/mutanton/on.go"), switchFile); err != nil {
		return "", err
	}
	for _, f := range files {
		text, err := t.instrumentFile(f, places, byFile[f])
		if err != nil {
			return "", err
		}
		if err := write(f.path, text); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

func (t *tree) instrumentFile(f *goFile, places []place, numbers []int) (string, error) {
	name := f.offset(f.syntax.Name.End())
	edits := []edit{{name, name, "; import mutantOn \"" + t.module + "/internal/mutanton\""}}
	byFunc := map[*goFunc][]int{}
	for _, i := range numbers {
		byFunc[places[i].fn] = append(byFunc[places[i].fn], i)
	}
	for fn, numbers := range byFunc {
		body, err := t.instrumentBody(fn, places, numbers)
		if err != nil {
			return "", err
		}
		edits = append(edits, edit{f.offset(fn.decl.Body.Lbrace + 1), f.offset(fn.decl.Body.Rbrace), body})
	}
	return apply(string(f.text), edits), nil
}

// instrumentBody is the body of a function with its mutants, between the braces. Lines are numbered
// as in the file; for the compiler, the lines of mutant 17 are in a file mutant17.
func (t *tree) instrumentBody(fn *goFunc, places []place, numbers []int) (string, error) {
	f, open, shut := fn.file, fn.decl.Body.Lbrace+1, fn.decl.Body.Rbrace
	head, body := f.source(fn.decl.Pos(), open), f.source(open, shut)
	var b strings.Builder
	b.WriteString(" switch mutantOn.On {")
	at := f.offset(open)
	for _, i := range numbers {
		p := places[i]
		text, err := nested(head, apply(body, []edit{{p.from - at, p.to - at, p.text}}), i+1)
		if err != nil {
			return "", fmt.Errorf("mutant%d: %w", i+1, err)
		}
		fmt.Fprintf(&b, "\ncase %d:\n//line mutant%[1]d:%d\n%s", i+1, t.fset.Position(open).Line, text)
	}
	text, err := nested(head, body, 0)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\ndefault:\n//line %s:%d\n%s}", f.path, t.fset.Position(open).Line, text)
	return b.String(), nil
}

// nested is the body of a function rewritten for one scope deeper. A := in the outermost scope that
// assigns to a parameter still does so: k, err := f() becomes k, err_1 := f(); err = err_1. Labels
// get names of this copy.
func nested(head, body string, number int) (string, error) {
	const before = "package p; "
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", before+head+body+"}", parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	decl := f.Decls[0].(*ast.FuncDecl)
	at := func(pos token.Pos) int { return int(pos) - 1 - len(before) - len(head) }
	parameters := parameterNames(decl)
	var edits []edit
	for n, s := range decl.Body.List {
		if labeled, ok := s.(*ast.LabeledStmt); ok {
			s = labeled.Stmt
		}
		define, ok := s.(*ast.AssignStmt)
		if !ok || define.Tok != token.DEFINE {
			continue
		}
		for _, x := range define.Lhs {
			if id := x.(*ast.Ident); slices.Contains(parameters, id.Name) {
				fresh := fmt.Sprintf("%s_%d", id.Name, n)
				edits = append(edits, edit{at(id.Pos()), at(id.End()), fresh}, edit{
					at(s.End()), at(s.End()), "; " + id.Name + " = " + fresh,
				})
			}
		}
	}
	rename := func(label *ast.Ident) {
		if label != nil {
			edits = append(edits, edit{at(label.End()), at(label.End()), fmt.Sprintf("_%d", number)})
		}
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			rename(n.Label)
		case *ast.BranchStmt:
			rename(n.Label)
		}
		return true
	})
	return apply(body, edits), nil
}

func parameterNames(d *ast.FuncDecl) []string {
	var names []string
	for _, list := range []*ast.FieldList{d.Recv, d.Type.Params, d.Type.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				if id.Name != "_" {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// An edit replaces some bytes of a text.
type edit struct {
	from, to int
	text     string
}

// apply makes all edits, which do not overlap.
func apply(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	return b.String() + text[at:]
}
