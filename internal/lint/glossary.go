package lint

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A word has one meaning. docs/glossary.md lists each word once, with the types, files and packages
// that are its meaning; a type or a file that is named for the word and is not listed is a finding,
// and so is a field that is named for the word and has the type of another one. A row whose third
// column has several types names one thing that several packages show.
//
// A term of several words (command buffer) may list a type that is named for one of them, where the
// package supplies the others: command.Buffer.

const glossaryPage = "docs/glossary.md"

var (
	// glossaryRow finds a row of the page's tables: word, meaning, places.
	glossaryRow = regexp.MustCompile(`^\| ([a-z][a-z ]*) \| (.+) \| (.+) \|$`)
	codeSpan    = regexp.MustCompile("`([^`]+)`")
)

// A glossaryWord is a row of the page.
type glossaryWord struct {
	line     int
	term     []string // the words of the first column
	places   []string // package.Type, folder/file.go or package, as the page lists them
	packages []string // of places
}

// inTerm reports whether a term of several words lists a type or a file that is named for one of
// them.
func inTerm(words map[string]*glossaryWord, name, place string) bool {
	for _, w := range words {
		if len(w.term) > 1 && slices.Contains(w.term, name) && slices.Contains(w.places, place) {
			return true
		}
	}
	return false
}

// otherMeanings has the types and files that take a word of the page for another thing, and both
// meanings. There is none today, and no row may be added: name the new type for what it is.
var otherMeanings = map[string]string{}

// ambiguousWords finds types and files that give a word of the glossary another meaning.
func ambiguousWords(t *tree) []finding {
	if t.file("internal/lint/glossary.go") == nil {
		return ambiguousBut(t, nil) // a test's tree, which lacks the code that the list is about
	}
	return ambiguousBut(t, otherMeanings)
}

// ambiguousBut finds types and files that give a word of the page another meaning, and are not in
// the list; rows of the page that name code which is not there; and rows of the list that no code
// needs.
func ambiguousBut(t *tree, listed map[string]string) []finding {
	page := t.file(glossaryPage)
	if page == nil {
		return []finding{{path: glossaryPage, what: "is missing"}}
	}
	code := namedCode(t)
	words, found := readGlossary(page, code)
	needed := map[string]bool{}
	for _, place := range slices.Sorted(maps.Keys(code)) {
		name, isFile := nameOfPlace(place)
		word := words[name]
		if word == nil || slices.Contains(word.places, place) || inTerm(words, name, place) ||
			isFile && slices.Contains(word.packages, packageOfPlace(place)) {
			continue
		}
		needed[place] = true
		if listed[place] == "" {
			at := code[place]
			at.what = place + " is named for the word " + name + ", which " + glossaryPage + " gives to " +
				strings.Join(word.places, ", ") + ": list it there if it is the same thing, or rename it"
			found = append(found, at)
		}
	}
	for _, f := range namedFields(t) {
		word, other := words[f.word()], ""
		if word == nil {
			continue
		}
		for name, w := range words {
			if name != f.word() && slices.Contains(w.places, f.of) && !inTerm(words, f.word(), f.of) {
				other = name
			}
		}
		if other == "" {
			continue
		}
		needed[f.place] = true
		if listed[f.place] == "" {
			f.at.what = f.place + " is named for the word " + f.word() +
				", and has the type of the word " + other + ", " + f.of
			found = append(found, f.at)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(listed)) {
		if !needed[place] {
			found = append(found, finding{
				"internal/lint/glossary.go", 0, "otherMeanings has " + place + " without need",
			})
		}
	}
	return found
}

// A namedField is a field of a struct and the type of its values, or of their elements.
type namedField struct {
	place string // package.Type.field
	of    string // package.Type
	at    finding
}

func (f *namedField) word() string {
	return strings.ToLower(f.place[strings.LastIndex(f.place, ".")+1:])
}

// namedFields returns the fields of the types that namedCode returns.
func namedFields(t *tree) (list []namedField) {
	eachType(t, func(f *file, s *ast.TypeSpec) {
		body, ok := s.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, field := range body.Fields.List {
			of := typeNamed(f.syntax.Name.Name, field.Type)
			for _, name := range field.Names {
				place := f.syntax.Name.Name + "." + s.Name.Name + "." + name.Name
				list = append(list, namedField{place, of, t.at(name.Pos(), "")})
			}
		}
	})
	return list
}

// typeNamed returns package.Type for the type of a field in a package, or of what it points to or
// has as elements.
func typeNamed(of string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return of + "." + e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	case *ast.StarExpr:
		return typeNamed(of, e.X)
	case *ast.ArrayType:
		return typeNamed(of, e.Elt)
	case *ast.MapType:
		return typeNamed(of, e.Value)
	case *ast.IndexExpr:
		return typeNamed(of, e.X)
	}
	return ""
}

// namedCode returns the types, files and packages of the root module that a word may name, and
// where they are. Files of tests and examples and this package are left out.
func namedCode(t *tree) map[string]finding {
	code := map[string]finding{}
	for _, f := range t.goFiles() {
		if hasWords(t, f) {
			code[f.syntax.Name.Name] = finding{path: f.dir()}
			code[f.path] = finding{path: f.path}
		}
	}
	eachType(t, func(f *file, s *ast.TypeSpec) { code[f.syntax.Name.Name+"."+s.Name.Name] = t.at(s.Pos(), "") })
	return code
}

// hasWords reports whether the words of a file are those of the page.
func hasWords(t *tree, f *file) bool {
	dir := f.dir()
	return t.inRoot(f) && !f.isTest() && !strings.Contains(dir+"/", "/examples/") &&
		!strings.HasPrefix(dir, "internal/lint") && dir != "ecs/internal/ecstest"
}

// eachType calls visit for the types of packages, not of functions, whose names are words. The old
// names of deprecated.go are not.
func eachType(t *tree, visit func(*file, *ast.TypeSpec)) {
	for _, f := range t.goFiles() {
		if !hasWords(t, f) || path.Base(f.path) == "deprecated.go" {
			continue
		}
		for _, d := range f.syntax.Decls {
			list, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range list.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					visit(f, s)
				}
			}
		}
	}
}

// readGlossary returns the rows of the page by word, without spaces, and what is wrong with them.
func readGlossary(page *file, code map[string]finding) (words map[string]*glossaryWord, found []finding) {
	words = map[string]*glossaryWord{}
	wordOf := map[string]string{} // by place
	for i, line := range strings.Split(string(page.text), "\n") {
		row := glossaryRow.FindStringSubmatch(line)
		if row == nil || row[1] == "word" {
			continue
		}
		report := func(what string) { found = append(found, finding{glossaryPage, i + 1, what}) }
		name := strings.ReplaceAll(row[1], " ", "")
		if words[name] != nil {
			report(row[1] + " has a row already")
			continue
		}
		word := &glossaryWord{line: i + 1, term: strings.Fields(row[1])}
		words[name] = word
		for _, span := range codeSpan.FindAllStringSubmatch(row[3], -1) {
			place := span[1]
			if _, ok := code[place]; !ok {
				report("no type, file or package is called " + place)
			}
			if wordOf[place] != "" {
				report(place + " is the meaning of " + wordOf[place] + " already")
			}
			wordOf[place] = row[1]
			word.places = append(word.places, place)
			word.packages = append(word.packages, packageOfPlace(place))
		}
		if len(word.places) == 0 {
			report(row[1] + " names no type, file or package")
		}
	}
	if len(words) == 0 {
		found = append(found, finding{glossaryPage, 0, "has no rows"})
	}
	return words, found
}

// nameOfPlace returns the name of a type or a file in small letters, which is compared with words,
// and whether it is a file. A package has no name to compare.
func nameOfPlace(place string) (name string, isFile bool) {
	if base, ok := strings.CutSuffix(place, ".go"); ok {
		return path.Base(base), true
	}
	_, name, _ = strings.Cut(place, ".")
	return strings.ToLower(name), false
}

// packageOfPlace returns the package of a type or a file, which has the name of its folder.
func packageOfPlace(place string) string {
	if strings.HasSuffix(place, ".go") {
		return path.Base(path.Dir(place))
	}
	of, _, _ := strings.Cut(place, ".")
	return of
}
