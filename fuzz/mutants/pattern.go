package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"strings"
)

// A pattern is Go that is compared with a function as a syntax tree: comments, spaces and line ends
// do not matter. It is an expression, or a list of consecutive statements. Names stand for
// themselves, except
//
//	$x    any expression, or statement where it stands alone: the same each time
//	$*x   any number of expressions or statements of a list
//	$_    anything, and something else each time; so $*_
//
// The replacement may use the same $x, which stand for the text that they matched.
type pattern struct {
	text  string     // with $x as names
	expr  ast.Expr   // nil for statements
	stmts []ast.Stmt // nil for an expression
	base  token.Pos  // where text begins
}

// How $x and $*x are written as names that go/parser accepts.
const (
	wildName = "any__"
	oneName  = wildName + "one__"
	manyName = wildName + "many__"
)

var wildcard = regexp.MustCompile(`\$(\*?)([A-Za-z_]\w*)`)

// parsePatterns reads the old and the new text of a mutant: both are expressions, or both
// statements.
func parsePatterns(oldText, newText string) (replaced, replacement *pattern, err error) {
	replaced, replacement = newPattern(oldText), newPattern(newText)
	if replaced.parseExpr() && replacement.parseExpr() {
		return replaced, replacement, nil
	}
	if err := replaced.parseStmts(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", code(oldText), err)
	}
	if err := replacement.parseStmts(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", code(newText), err)
	}
	if len(replaced.stmts) == 0 {
		return nil, nil, fmt.Errorf("no text is replaced")
	}
	return replaced, replacement, nil
}

func newPattern(text string) *pattern {
	return &pattern{text: wildcard.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "$*") {
			return manyName + s[2:]
		}
		return oneName + s[1:]
	})}
}

// written is a pattern's text as it is in the table.
func written(text string) string {
	return strings.NewReplacer(oneName, "$", manyName, "$*").Replace(text)
}

func (p *pattern) parseExpr() bool {
	expr, err := parser.ParseExprFrom(token.NewFileSet(), "", p.text, parser.SkipObjectResolution)
	p.expr, p.base = expr, 1
	return err == nil
}

func (p *pattern) parseStmts() error {
	const before = "package p; func _() {\n"
	f, err := parser.ParseFile(token.NewFileSet(), "", before+p.text+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("neither an expression nor statements: %w", err)
	}
	if len(f.Decls) != 1 {
		return fmt.Errorf("neither an expression nor statements")
	}
	p.expr, p.stmts, p.base = nil, f.Decls[0].(*ast.FuncDecl).Body.List, token.Pos(1+len(before))
	return nil
}

// nodes are the roots of the pattern's tree.
func (p *pattern) nodes() []ast.Node {
	if p.expr != nil {
		return []ast.Node{p.expr}
	}
	var list []ast.Node
	for _, s := range p.stmts {
		list = append(list, s)
	}
	return list
}

// A match is a place that a pattern fits.
type match struct {
	from, to token.Pos
	bound    map[string][]ast.Node // what each $x matched
	names    map[string]string     // loose: the name at the place for each name of the pattern (similar.go)
}

// find lists the places of a function that p fits, in the order of the text.
func (p *pattern) find(fn *goFunc, loose bool) []match {
	var found []match
	try := func(m *matcher, from, to token.Pos) {
		found = append(found, match{from, to, m.bound, m.names})
	}
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		switch {
		case p.expr != nil:
			if _, ok := n.(ast.Expr); ok {
				if m := newMatcher(fn.file, loose); m.node(p.expr, n) {
					try(m, n.Pos(), n.End())
				}
			}
		default:
			for _, list := range statements(n) {
				for i := range list {
					if i > 0 && isMany(p.stmts[0]) {
						break
					}
					m := newMatcher(fn.file, loose)
					if k := m.prefix(asNodes(p.stmts), asNodes(list[i:])); k > 0 {
						try(m, list[i].Pos(), list[i+k-1].End())
					}
				}
			}
		}
		return true
	})
	return found
}

// statements returns n's own lists of statements. A statement that stands alone, as in the head of
// a loop, is a list of one.
func statements(n ast.Node) [][]ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return [][]ast.Stmt{n.List}
	case *ast.CaseClause:
		return [][]ast.Stmt{n.Body}
	case *ast.CommClause:
		return [][]ast.Stmt{{n.Comm}, n.Body}
	case *ast.IfStmt:
		return [][]ast.Stmt{{n.Init}}
	case *ast.SwitchStmt:
		return [][]ast.Stmt{{n.Init}}
	case *ast.ForStmt:
		return [][]ast.Stmt{{n.Init}, {n.Post}}
	case *ast.LabeledStmt:
		return [][]ast.Stmt{{n.Stmt}}
	}
	return nil
}

func asNodes[T ast.Node](list []T) []ast.Node {
	nodes := make([]ast.Node, len(list))
	for i, n := range list {
		nodes[i] = n
	}
	return nodes
}

// A matcher compares one place with a pattern.
type matcher struct {
	file  *goFile
	loose bool
	bound map[string][]ast.Node
	names map[string]string // loose: from the pattern's names to the names at the place
	back  map[string]string // and back
}

func newMatcher(file *goFile, loose bool) *matcher {
	return &matcher{
		file: file, loose: loose, bound: map[string][]ast.Node{}, names: map[string]string{}, back: map[string]string{},
	}
}

// wild is the name of a pattern's $x.
func wild(n ast.Node, prefix string) (name string, ok bool) {
	if s, ok := n.(*ast.ExprStmt); ok {
		n = s.X
	}
	id, ok := n.(*ast.Ident)
	if !ok {
		return "", false
	}
	return strings.CutPrefix(id.Name, prefix)
}

func isMany(n ast.Node) bool { _, ok := wild(n, manyName); return ok }

// bind records what a $x matched: it must be the same text each time.
func (m *matcher) bind(name string, nodes []ast.Node) bool {
	if name == "_" {
		return true
	}
	was, known := m.bound[name]
	m.bound[name] = nodes
	return !known || m.file.sourceOf(was) == m.file.sourceOf(nodes)
}

// sourceOf is the text of a list of nodes.
func (f *goFile) sourceOf(nodes []ast.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	return f.source(nodes[0].Pos(), nodes[len(nodes)-1].End())
}

// prefix matches the list p with the first nodes of t, as many as possible, and returns how many;
// -1 if there is no match.
func (m *matcher) prefix(p, t []ast.Node) int {
	if len(p) == 0 {
		return 0
	}
	if name, ok := wild(p[0], manyName); ok {
		before := m.bound
		for n := len(t); n >= 0; n-- {
			m.bound = maps.Clone(before)
			if k := m.prefix(p[1:], t[n:]); k >= 0 && m.bind(name, t[:n]) {
				return n + k
			}
		}
		return -1
	}
	if len(t) == 0 || !m.node(p[0], t[0]) {
		return -1
	}
	k := m.prefix(p[1:], t[1:])
	if k < 0 {
		return -1
	}
	return k + 1
}

// node matches one node of the pattern with one node of the place.
func (m *matcher) node(p, t ast.Node) bool {
	if p == nil || t == nil {
		return p == nil && t == nil
	}
	if name, ok := wild(p, oneName); ok {
		_, one := p.(ast.Stmt)
		_, is := t.(ast.Stmt)
		return one == is && m.bind(name, []ast.Node{t})
	}
	if m.loose {
		if same, is := m.path(p, t); is {
			return same
		}
	}
	return m.value(reflect.ValueOf(p), reflect.ValueOf(t))
}

var (
	nodeType = reflect.TypeFor[ast.Node]()
	posType  = reflect.TypeFor[token.Pos]()
)

// value compares two values of the syntax tree's types, except for positions and comments.
func (m *matcher) value(p, t reflect.Value) bool {
	if p.Type() != t.Type() {
		return false
	}
	switch p.Kind() {
	case reflect.Interface:
		if p.IsNil() || t.IsNil() {
			return p.IsNil() == t.IsNil()
		}
		return m.node(p.Interface().(ast.Node), t.Interface().(ast.Node))
	case reflect.Pointer:
		if p.IsNil() || t.IsNil() {
			return p.IsNil() == t.IsNil()
		}
		return m.fields(p.Elem(), t.Elem())
	case reflect.Slice:
		return m.list(p, t)
	}
	return p.Interface() == t.Interface() // a token, a name, a literal
}

func (m *matcher) fields(p, t reflect.Value) bool {
	for i := range p.NumField() {
		a, b, name := p.Field(i), t.Field(i), p.Type().Field(i).Name
		switch {
		case name == "Obj": // an object that the parser resolved
		case a.Type() == posType:
			// Most positions do not affect the meaning; for these, it matters whether they are set.
			if (name == "Ellipsis" || name == "Assign") && (a.Int() == 0) != (b.Int() == 0) {
				return false
			}
		case a.Kind() == reflect.Pointer && a.Type().Implements(nodeType) && !a.IsNil() && !b.IsNil():
			if !m.node(a.Interface().(ast.Node), b.Interface().(ast.Node)) {
				return false
			}
		case !m.value(a, b):
			return false
		}
	}
	return true
}

func (m *matcher) list(p, t reflect.Value) bool {
	nodes := func(v reflect.Value) []ast.Node {
		list := make([]ast.Node, v.Len())
		for i := range list {
			list[i] = v.Index(i).Interface().(ast.Node)
		}
		return list
	}
	return m.prefix(nodes(p), nodes(t)) == t.Len()
}

// fill is the text of p with each $x replaced by its match.
func (p *pattern) fill(found match, file *goFile) (string, error) {
	var edits []edit
	var missing error
	for _, root := range p.nodes() {
		ast.Inspect(root, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			name, one := strings.CutPrefix(id.Name, oneName)
			if !one {
				if name, ok = strings.CutPrefix(id.Name, manyName); !ok {
					return true
				}
			}
			nodes, ok := found.bound[name]
			if !ok {
				missing = fmt.Errorf("$%s is not in what is replaced", name)
			}
			text := file.sourceOf(nodes)
			if one && len(nodes) == 1 && ast.Node(id) != root && isOperation(nodes[0]) {
				text = "(" + text + ")"
			}
			edits = append(edits, edit{int(id.Pos() - p.base), int(id.End() - p.base), text})
			return true
		})
	}
	return apply(p.text, edits), missing
}

// isOperation reports whether n may need parentheses in another place.
func isOperation(n ast.Node) bool {
	switch n.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr:
		return true
	}
	return false
}
