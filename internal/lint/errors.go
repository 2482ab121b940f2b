package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const errorsFile = "docs/errors.md"

// errorPackages have a section each in docs/errors.md.
var errorPackages = []string{"ecs", "ecs/command", "ecs/job", "ecs/hierarchy", "ecs/transform", "ecs/blob",
	"ecs/system", "ecs/image", "ecs/journal", "ecs/inspect", "ecs/scene", "alloc", "alloc/container", "arrowalloc"}

// A message is a text that a package may use, and where.
type message struct {
	text string
	pos  token.Pos
}

// A saying is a text or name in the first cell of a row of docs/errors.md, in backquotes.
type saying struct {
	dir, text string
	line      int
}

var (
	cell    = regexp.MustCompile(`^\|[^|]*`)
	row     = regexp.MustCompile("^\\| `[^|]+` \\| [^|]+ \\| [^|]+ \\|$")
	quoted  = regexp.MustCompile("`([^`]+)`")
	section = regexp.MustCompile("^## `?([a-z/]+)`?\\s*$")
	verb    = regexp.MustCompile(`%[-+# 0]*[0-9.*]*[a-zA-Z]`)
	wordy   = regexp.MustCompile(`[a-z]+ [a-z]+`)
	typed   = regexp.MustCompile(`^\*?[A-Z]\w*$`) // a sentinel or a type, not a text
)

const gap = "..." // in a text: what differs from call to call

// staleErrors finds rows of docs/errors.md that are no row of three cells or have a text that no
// package uses, and exported errors and texts of panics without a row.
func staleErrors(t *tree) (found []finding) {
	page := t.file(errorsFile)
	if page == nil {
		return []finding{{path: errorsFile, what: "is missing"}}
	}
	rows := sayings(string(page.text))
	for _, dir := range errorPackages {
		said, names := t.messages(dir), t.errorNames(dir)
		told := map[string]bool{}
		for _, of := range rows {
			if of.dir != dir {
				continue
			}
			name := strings.TrimPrefix(of.text, "*")
			told[name] = true
			if typed.MatchString(of.text) && !slices.Contains(names, name) {
				found = append(found, finding{errorsFile, of.line, "there is no error " + of.text + " in " + dir})
			} else if !typed.MatchString(of.text) &&
				!slices.ContainsFunc(said, func(m message) bool { return inOrder(of.text, m.text) }) {
				found = append(found, finding{errorsFile, of.line, fmt.Sprintf("%s has no text like %q", dir, of.text)})
			}
		}
		for _, name := range names {
			if !told[name] {
				found = append(found, finding{path: errorsFile, what: "has no row for " + name + " of " + dir})
			}
		}
		for _, text := range t.panics(dir) {
			if !slices.ContainsFunc(rows, func(of saying) bool { return of.dir == dir && inOrder(of.text, text) }) {
				found = append(found, finding{
					path: errorsFile,
					what: fmt.Sprintf("has no row for a panic of %s: %q; write | `text` | what happened | what to do | below ## %[1]s",
						dir, text),
				})
			}
		}
	}
	return append(found, brokenRows(string(page.text))...)
}

// brokenRows finds rows of tables below the headings of packages that are not three cells, the
// first of which has a text in backquotes.
func brokenRows(text string) (found []finding) {
	dir, table := "", false
	for n, line := range strings.Split(text, "\n") {
		if m := section.FindStringSubmatch(line); m != nil {
			dir = m[1]
		}
		if table && dir != "" && strings.HasPrefix(line, "|") && !row.MatchString(line) {
			found = append(found, finding{errorsFile, n + 1, "is no row | `text` | what happened | what to do |"})
		}
		table = strings.HasPrefix(line, "|--") || table && strings.HasPrefix(line, "|")
	}
	return found
}

// panics returns the texts that a package panics with, but for those that hold nothing but
// names and what is made elsewhere.
func (t *tree) panics(dir string) (texts []string) {
	t.inPackage(dir, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return
		}
		if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "panic" {
			return
		}
		if made, ok := call.Args[0].(*ast.CallExpr); ok {
			if of, ok := made.Fun.(*ast.SelectorExpr); !ok || of.Sel.Name != "Sprintf" && of.Sel.Name != "Errorf" {
				return // another function says the text
			}
		}
		if text := joined(call.Args[0]); wordy.MatchString(strings.ReplaceAll(text, gap, "")) {
			texts = append(texts, text)
		}
	})
	return texts
}

// sayings returns what is quoted in the first cells of a page, under the packages of its
// headings.
func sayings(text string) (rows []saying) {
	dir := ""
	for n, line := range strings.Split(text, "\n") {
		if m := section.FindStringSubmatch(line); m != nil {
			dir = m[1]
		}
		for _, m := range quoted.FindAllStringSubmatch(cell.FindString(line), -1) {
			rows = append(rows, saying{dir, m[1], n + 1})
		}
	}
	return rows
}

// inOrder reports whether the pieces of text, between gaps, stand in said one after the
// other.
func inOrder(text, said string) bool {
	for piece := range strings.SplitSeq(text, gap) {
		piece = strings.TrimSpace(piece)
		at := strings.Index(said, piece)
		if at < 0 {
			return false
		}
		said = said[at+len(piece):]
	}
	return true
}

// messages returns what a package may say: each text that it is made of, with gaps where
// values come in, of which those that are joined by + or are arguments of one call stand
// together.
func (t *tree) messages(dir string) (said []message) {
	t.inPackage(dir, func(n ast.Node) {
		if m := messageOf(n); m.pos.IsValid() {
			said = append(said, m)
		}
	})
	return said
}

// messageOf returns the text of an expression, without a position where it has none.
func messageOf(n ast.Node) message {
	switch n := n.(type) {
	case *ast.CallExpr, *ast.BinaryExpr, *ast.BasicLit:
		if text := joined(n.(ast.Expr)); strings.Trim(text, ". ") != "" {
			return message{text, n.Pos()}
		}
	}
	return message{}
}

// joined is the text of an expression as far as it is written there.
func joined(expr ast.Expr) string {
	switch x := expr.(type) {
	case *ast.BasicLit:
		if x.Kind != token.STRING {
			return gap
		}
		text, err := strconv.Unquote(x.Value)
		if err != nil {
			return gap // the parser has checked it
		}
		return verb.ReplaceAllString(text, gap)
	case *ast.BinaryExpr:
		return joined(x.X) + joined(x.Y)
	case *ast.CallExpr:
		text := ""
		for _, arg := range x.Args {
			text += joined(arg)
		}
		return text
	}
	return gap
}

// errorNames returns a package's exported variables Err..., types with a method Error, and aliases
// whose names end in Error.
func (t *tree) errorNames(dir string) (names []string) {
	t.inFolders(func(at string) bool { return at == dir }, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil && n.Name.Name == "Error" && ast.IsExported(receiver(n)) {
				names = append(names, receiver(n))
			}
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				if alias, ok := spec.(*ast.TypeSpec); ok && alias.Assign.IsValid() &&
					strings.HasSuffix(alias.Name.Name, "Error") {
					names = append(names, alias.Name.Name)
				}
				if spec, ok := spec.(*ast.ValueSpec); ok && n.Tok == token.VAR {
					for _, name := range spec.Names {
						if strings.HasPrefix(name.Name, "Err") {
							names = append(names, name.Name)
						}
					}
				}
			}
		}
	})
	return names
}

// inPackage calls f for all syntax of a package outside tests, that of its strata included:
// users meet their texts as those of the package.
func (t *tree) inPackage(dir string, f func(ast.Node)) {
	t.inFolders(func(at string) bool { return speaksFor(dir, at) }, f)
}

// speaksFor reports whether users meet the texts of a folder as those of a package.
func speaksFor(dir, at string) bool {
	return at == dir || dir == faceOf(at)
}

// inFolders calls f for all syntax of some folders outside tests.
func (t *tree) inFolders(wanted func(dir string) bool, f func(ast.Node)) {
	for _, file := range t.goFiles() {
		if wanted(file.dir()) && !file.isTest() {
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				f(n)
				return true
			})
		}
	}
}
