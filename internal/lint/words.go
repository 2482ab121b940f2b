package lint

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The needles below are put together from pieces, so that this file does not
// find itself.
var (
	// emptyNames say nothing about what a file or package holds.
	emptyNames = []string{"ut" + "il", "hel" + "per", "man" + "ager", "com" + "mon"}

	// layoutNames are the names of types with which code copies the runtime's
	// layouts of types and interfaces.
	layoutNames = []string{"r" + "type", "_" + "type", "e" + "face", "i" + "face", "i" + "tab",
		"empty" + "Interface", "nonEmpty" + "Interface"}

	linkname = regexp.MustCompile(`(?m)^[ \t]*//` + `go:link` + `name\b`)
	marker   = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	encoded  = regexp.MustCompile(`(^|[\s;])(BYTE|WORD|LONG|QUAD)[ \t]+\$`)

	// headless matches phrases in which a comment names nobody or nothing.
	headless = regexp.MustCompile(`(?i)//.*\b(who` + `ever|of which it sa` + `ys|sa` + `ys no|` +
		`what is n` + `o [a-z]+|is n` + `one of a)\b`)

	// predicate matches none in the place of what a thing is not, with the word before; a clause of
	// there is none is English.
	predicate = regexp.MustCompile(`(?i)\b(\w+) ((?:is|are|was|were) n` + `one)\b`)

	// speaking matches errors that speak: they mean something, or have a text.
	speaking = regexp.MustCompile(`(?i)\berrors? (?:sa` + `ys?|te` + `lls?)\b`)

	// machinePath is an absolute path into places that differ by machine. A
	// slash after a name, a dot or a closing brace continues a path and is not
	// the start of one.
	machinePath = regexp.MustCompile(`(^|[^\w.~)}>*-])/(` + `work|tmp|root|home|Users)\b`)

	registry = regexp.MustCompile(`\b(` + strings.Join([]string{
		`proxy\.` + `golang\.org`, `sum\.` + `golang\.org`, `goproxy\.` + `(io|cn)`, `py` + `pi\.org`,
		`python` + `hosted\.org`, `registry\.npm` + `js\.org`, `npm` + `js\.com`, `crates\.` + `io`,
		`ruby` + `gems\.org`, `repo1?\.maven\.` + `(apache\.)?org`, `deb\.` + `debian\.org`,
		`archive\.` + `ubuntu\.com`}, "|") + `)\b`)
)

// forbiddenWords finds what no file may hold or be called.
func forbiddenWords(t *tree) []finding {
	found := forbiddenNames(t)
	for _, f := range t.files {
		if path.Ext(f.path) == ".sum" {
			continue // sums of modules, written by the go command
		}
		n := 0
		for line := range strings.Lines(string(f.text)) {
			n++
			for _, why := range forbiddenInLine(f, line) {
				found = append(found, finding{f.path, n, why})
			}
		}
		if f.syntax != nil {
			found = append(found, forbiddenLayouts(t, f)...)
			found = append(found, unclearDeclarations(t, f)...)
		}
	}
	return found
}

func forbiddenInLine(f *file, line string) []string {
	var list []string
	if word := marker.FindString(line); word != "" {
		list = append(list, "leaves work for later: "+word)
	}
	if machinePath.MatchString(line) {
		list = append(list, "names a path of one machine")
	}
	if host := registry.FindString(line); host != "" {
		list = append(list, "names the host of a package registry: "+host)
	}
	if phrase := headless.FindStringSubmatch(line); f.syntax != nil && phrase != nil {
		list = append(list, "names no thing: "+phrase[1]+": write what is meant")
	}
	if _, comment, ok := strings.Cut(line, "//"); ok && f.syntax != nil {
		for _, m := range predicate.FindAllStringSubmatch(comment, -1) {
			if !strings.EqualFold(m[1], "there") {
				list = append(list, m[2]+" is no predicate: write what "+m[1]+" is, or is not")
			}
		}
		if phrase := speaking.FindString(comment); phrase != "" {
			list = append(list, "an error means something, or has a text: "+phrase)
		}
	}
	if f.isSource() && linkname.MatchString(line) {
		list = append(list, "links to a name that its owner does not export")
	}
	if path.Ext(f.path) == ".s" {
		code, _, _ := strings.Cut(line, "//")
		if encoded.MatchString(code) {
			list = append(list, "encodes an instruction as numbers: write its mnemonic")
		}
	}
	return list
}

// unclearDeclarations finds parameters that are called is or was, and declarations whose comment
// begins with the name and says or tells: code returns, reports, checks or has.
func unclearDeclarations(t *tree, f *file) []finding {
	var found []finding
	speaks := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		for _, c := range comments {
			first, rest, _ := strings.Cut(c.Text(), " ")
			verb, _, _ := strings.Cut(rest, " ")
			if first == name.Name && (verb == "sa"+"ys" || verb == "te"+"lls") {
				found = append(found, t.at(name.Pos(), "%s %s nothing: it returns, reports, checks or has",
					first, verb))
			}
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			speaks(n.Name, n.Doc)
		case *ast.GenDecl:
			for _, s := range n.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					speaks(s.Name, n.Doc, s.Doc, s.Comment)
				case *ast.ValueSpec:
					speaks(s.Names[0], n.Doc, s.Doc, s.Comment)
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				speaks(name, n.Doc, n.Comment)
			}
		case *ast.FuncType:
			for _, p := range n.Params.List {
				for _, name := range p.Names {
					if name.Name == "is" || name.Name == "was" {
						found = append(found, t.at(name.Pos(), "parameter %s: name it for what it is", name.Name))
					}
				}
			}
		}
		return true
	})
	return found
}

// forbiddenLayouts finds code that depends on how the runtime lays out types
// and interfaces: a type that is named as the runtime names its own, and the
// reading of a value as an array of words.
func forbiddenLayouts(t *tree, f *file) []finding {
	var found []finding
	name := unsafeName(f.syntax)
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if slices.Contains(layoutNames, n.Name.Name) {
				found = append(found, t.at(n.Pos(), "type %s looks like a copy of a layout inside the runtime",
					n.Name.Name))
			}
		case *ast.CallExpr:
			if name != "" && readsWords(n, name) {
				found = append(found, t.at(n.Pos(), "reads a value as words, as one takes an interface apart"))
			}
		}
		return true
	})
	return found
}

// readsWords reports whether call has the form (*[n]uintptr)(unsafe.Pointer(x)),
// or the same with unsafe.Pointer as the element.
func readsWords(call *ast.CallExpr, name string) bool {
	paren, ok := call.Fun.(*ast.ParenExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	star, ok := paren.X.(*ast.StarExpr)
	if !ok {
		return false
	}
	array, ok := star.X.(*ast.ArrayType)
	if !ok || array.Len == nil {
		return false
	}
	arg, ok := call.Args[0].(*ast.CallExpr)
	if !ok || !isPointerType(arg.Fun, name) {
		return false
	}
	element, ok := array.Elt.(*ast.Ident)
	return ok && element.Name == "uintptr" || isPointerType(array.Elt, name)
}

func isPointerType(expr ast.Expr, name string) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Pointer" {
		return false
	}
	of, ok := selector.X.(*ast.Ident)
	return ok && of.Name == name
}

// forbiddenNames finds files, folders and packages with a name that says nothing.
func forbiddenNames(t *tree) []finding {
	var found []finding
	seen := map[string]bool{}
	for _, f := range t.files {
		at := ""
		for element := range strings.SplitSeq(f.path, "/") {
			at = path.Join(at, element)
			if word := emptyName(element); word != "" && !seen[at] {
				seen[at] = true
				found = append(found, finding{path: at, what: word + " says nothing: name it for what it holds"})
			}
		}
		if f.syntax == nil {
			continue
		}
		if word := emptyName(f.syntax.Name.Name); word != "" {
			found = append(found, t.at(f.syntax.Name.Pos(), "package name: %s says nothing: name it for what it holds",
				word))
		}
	}
	return found
}

func emptyName(name string) string {
	for _, word := range emptyNames {
		if strings.Contains(strings.ToLower(name), word) {
			return word
		}
	}
	return ""
}
