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
var errorPackages = []string{"ecs", "ecs/command", "ecs/job", "ecs/hierarchy", "ecs/transform", "ecs/blob", "ecs/system", "ecs/image", "ecs/journal", "ecs/inspect", "ecs/scene", "alloc", "alloc/container", "arrowalloc"}

// An advice is a comment beside what says a text, of which docs/errors.md has a row:
//
//	// errors.md, Loops and rows: `...: ... is closed`, `is gone` | what happened | what to do
//	panic("ecs: " + op + ": " + name + " is closed")
//
// Loops and rows is the title of a table, with a colon there; sections with one table have none.
// Without texts in backquotes the row has the text of what stands on the next line.
type advice struct {
	dir, table string
	texts      string // the first cell
	rest       string // the other cells
	pos        token.Pos
}

// A message is a text that a package may say, and where.
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
	quoted  = regexp.MustCompile("`([^`]+)`")
	section = regexp.MustCompile("^## `?([a-z/]+)`?\\s*$")
	verb    = regexp.MustCompile(`%[-+# 0]*[0-9.*]*[a-zA-Z]`)
	wordy   = regexp.MustCompile(`[a-z]+ [a-z]+`)
	advised = regexp.MustCompile(`(?s)^// errors\.md(?:, ([^:` + "`" + `]+))?: (.*)`)
	typed   = regexp.MustCompile(`^\*?[A-Z]\w*$`) // a sentinel or a type, not a text
)

const gap = "..." // in a text: what differs from call to call

// staleErrors finds texts in the advice of packages that no package says, exported errors and
// texts of panics without advice, and tables of docs/errors.md that are not what the advice makes.
func staleErrors(t *tree) (found []finding) {
	page := t.file(errorsFile)
	if page == nil {
		return []finding{{path: errorsFile, what: "is missing"}}
	}
	made, found := t.errorsPage(string(page.text))
	if n := firstDifference(page.text, []byte(made)); n > 0 {
		found = append(found, finding{errorsFile, n, "is not what the comments errors.md in the source make: go test ./internal/lint -run TestErrors -update"})
	}
	rows := sayings(made)
	for _, dir := range errorPackages {
		said, names := t.messages(dir), t.errorNames(dir)
		told := map[string]bool{}
		for _, row := range rows {
			if row.dir != dir {
				continue
			}
			name := strings.TrimPrefix(row.text, "*")
			told[name] = true
			if typed.MatchString(row.text) && !slices.Contains(names, name) {
				found = append(found, finding{errorsFile, row.line, "there is no error " + row.text + " in " + dir})
			} else if !typed.MatchString(row.text) && !slices.ContainsFunc(said, func(m message) bool { return inOrder(row.text, m.text) }) {
				found = append(found, finding{errorsFile, row.line, fmt.Sprintf("%s says nothing like %q", dir, row.text)})
			}
		}
		for _, name := range names {
			if !told[name] {
				found = append(found, finding{path: errorsFile, what: "has no row for " + name + " of " + dir})
			}
		}
		for _, text := range t.panics(dir) {
			if !slices.ContainsFunc(rows, func(row saying) bool { return row.dir == dir && inOrder(row.text, text) }) {
				found = append(found, finding{path: errorsFile, what: fmt.Sprintf("%s panics with %q, which has no row: write // errors.md: what happened | what to do above it, and go test ./internal/lint -run TestErrors -update", dir, text)})
			}
		}
	}
	return found
}

// errorsPage returns the page with the rows that the advice in the source makes, by file and line,
// and finds advice for tables that are not there.
func (t *tree) errorsPage(text string) (made string, found []finding) {
	all := t.advice()
	used := make([]bool, len(all))
	var b strings.Builder
	dir, table, rows := "", "", false
	for line := range strings.Lines(text) {
		if rows = rows && strings.HasPrefix(line, "|"); rows {
			continue
		}
		if m := section.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			dir, table = m[1], ""
		} else if name, ok := strings.CutSuffix(line, ":\n"); ok && !strings.HasPrefix(line, "|") {
			table = name
		}
		b.WriteString(line)
		if rows = strings.HasPrefix(line, "|--"); !rows {
			continue
		}
		for i, a := range all {
			if a.dir == dir && a.table == table {
				used[i] = true
				fmt.Fprintf(&b, "| %s | %s |\n", a.texts, a.rest)
			}
		}
	}
	for i, a := range all {
		if !used[i] {
			found = append(found, t.at(a.pos, "%s has no table %q under ## %s", errorsFile, a.table, a.dir))
		}
	}
	return b.String(), found
}

// advice returns all advice in the order of files and lines.
func (t *tree) advice() (all []advice) {
	for _, dir := range errorPackages {
		for _, f := range t.goFiles() {
			if !speaksFor(dir, f.dir()) || f.isTest() {
				continue
			}
			for _, group := range f.syntax.Comments {
				for i, c := range group.List {
					m := advised.FindStringSubmatch(c.Text)
					if m == nil {
						continue
					}
					words := []string{m[2]}
					for _, more := range group.List[i+1:] {
						words = append(words, strings.TrimSpace(strings.TrimPrefix(more.Text, "//")))
					}
					a := advice{dir: dir, table: m[1], pos: c.Pos()}
					text := strings.Join(words, " ")
					if first, rest, ok := strings.Cut(text, " | "); ok && strings.HasPrefix(first, "`") {
						a.texts, a.rest = first, rest
					} else {
						a.texts, a.rest = "`"+t.saidAt(f, t.fset.Position(group.End()).Line+1)+"`", text
					}
					all = append(all, a)
					break
				}
			}
		}
	}
	return all
}

// saidAt returns the longest text on a line of a file.
func (t *tree) saidAt(f *file, line int) (text string) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if m := messageOf(n); m.pos.IsValid() && t.fset.Position(m.pos).Line == line && len(m.text) > len(text) {
			text = m.text
		}
		return true
	})
	return text
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
				if alias, ok := spec.(*ast.TypeSpec); ok && alias.Assign.IsValid() && strings.HasSuffix(alias.Name.Name, "Error") {
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
