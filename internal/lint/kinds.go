package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Which code depends on the kind of a component type. docs/architecture.md lists it for those who
// add a kind. A function that the page lacks, or that no longer depends on the kind, is a finding.

const (
	kindsPage = architectureFile
	kindFile  = "ecs/internal/world/kind.go" // has the constants and the table
)

// kindNames finds the constants by name: none of another type begins so.
var kindNames = regexp.MustCompile(`^Kind[A-Z]\w*$|^kindCount$|^kinds$`)

// placeNames finds what a kind's row says of where values lie.
var placeNames = regexp.MustCompile(`^[pP]er(Row|Chunk|Archetype|Entity)$|^[gG]oValues$`)

// kindRows returns the functions of the root module that name a kind, by folder and file, as lines
// of the page.
func kindRows(t *tree) []string {
	rows := map[string]map[string]bool{}
	for _, f := range t.goFiles() {
		if dir := f.dir(); f.isTest() || !strings.HasPrefix(dir+"/", "ecs/") || strings.HasPrefix(dir, "ecs/examples") {
			continue
		}
		for _, d := range f.syntax.Decls {
			of, how := namesKind(d)
			if how == "" {
				continue
			}
			at := fmt.Sprintf("| `%s` | %s |", f.path, how)
			if rows[at] == nil {
				rows[at] = map[string]bool{}
			}
			rows[at][of] = true
		}
	}
	var list []string
	for _, at := range slices.Sorted(maps.Keys(rows)) {
		list = append(list, at+" "+strings.Join(slices.Sorted(maps.Keys(rows[at])), ", ")+" |")
	}
	return list
}

// namesKind returns what a declaration is called and how it depends on kinds: by a switch, by a
// test, or by the row of a kind; "" if it does not.
func namesKind(d ast.Decl) (of, how string) {
	function, ok := d.(*ast.FuncDecl)
	if !ok {
		return "", ""
	}
	of = "`" + function.Name.Name + "`"
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, isKind) {
				how = "switch"
			}
		case *ast.Ident:
			switch {
			case how == "" && placeNames.MatchString(n.Name):
				how = "row"
			case how != "switch" && kindNames.MatchString(n.Name):
				how = "test"
			}
		}
		return true
	})
	return of, how
}

// isKind reports whether an expression is a constant of type Kind.
func isKind(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return kindNames.MatchString(e.Name)
	case *ast.SelectorExpr:
		return kindNames.MatchString(e.Sel.Name)
	}
	return false
}

// staleKinds finds where the page's table of functions is not what the code has.
func staleKinds(t *tree) (found []finding) {
	page := t.file(kindsPage)
	if page == nil {
		return []finding{{path: kindsPage, what: "is missing"}}
	}
	want := kindRows(t)
	for i, line := range strings.Split(string(page.text), "\n") {
		if !strings.HasPrefix(line, "| `ecs/") {
			continue
		}
		if at := slices.Index(want, line); at >= 0 {
			want = slices.Delete(want, at, at+1)
			continue
		}
		found = append(found, finding{kindsPage, i + 1, "no code is as this row says: " + line})
	}
	for _, line := range want {
		found = append(found, finding{
			kindsPage, 0, "a row is missing, beside those of " + path.Dir(strings.Fields(line)[1][1:]) + ": " + line,
		})
	}
	return found
}
