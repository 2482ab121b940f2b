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
// that are its meaning; a type or a file that is named for the word and is not listed is a finding.
// A row whose third column has several types names one thing that several packages show.

const glossaryPage = "docs/glossary.md"

var (
	// glossaryRow finds a row of the page's tables: word, meaning, places.
	glossaryRow = regexp.MustCompile(`^\| ([a-z][a-z ]*) \| (.+) \| (.+) \|$`)
	codeSpan    = regexp.MustCompile("`([^`]+)`")
)

// A glossaryWord is a row of the page.
type glossaryWord struct {
	line     int
	places   []string // package.Type, folder/file.go or package, as the page lists them
	packages []string // of places
}

// otherMeanings has the types and files that take a word of the page for another thing, and both
// meanings. No row may be added: name the new type for what it is.
var otherMeanings = map[string]string{
	"alloc.Table":                           "a table of columns for programs, without entities",
	"alloc/table.go":                        "a table of columns for programs, without entities",
	"bake.group":                            "the entities of one archetype, not systems that run as one",
	"bake.kind":                             "a type of a bakery with its links, not one of the six kinds",
	"bake.record":                           "an object's baked components, not an entity's version and location",
	"ecs/scene/internal/bake/record.go":     "an object's baked components, not an entity's version and location",
	"bitmask.Hierarchy":                     "words under summaries of words, not parents and children",
	"bitmask/hierarchy.go":                  "words under summaries of words, not parents and children",
	"blob.kind":                             "an array, a string or a reference, not one of the six kinds",
	"blob.span":                             "an offset and a length, not consecutive megachunks",
	"change.Rows":                           "the writer of structural changes, not the rows of a loop",
	"change.Span":                           "rows of a table, not consecutive megachunks",
	"ecs/internal/change/rows.go":           "the writer of structural changes, not the rows of a loop",
	"command.Batch":                         "a part of a job, not the rows that a call has created",
	"command.Buffer":                        "a list of commands, not a component with elements",
	"command.block":                         "commands that are checked together, not memory",
	"command.column":                        "the codec of a component, not its values in a chunk",
	"command.kind":                          "what a command does, not one of the six kinds",
	"command.record":                        "a command in a stream, not an entity's version and location",
	"ecs/command/block.go":                  "commands that are checked together, not memory",
	"ecs/command/buffer.go":                 "a list of commands, not a component with elements",
	"ecs/command/group.go":                  "subjects with the same commands, not systems that run as one",
	"ecs/command/record.go":                 "a command in a stream, not an entity's version and location",
	"container.Buffer":                      "bytes that grow, not a component with elements",
	"container.stretch":                     "a loop's copy of a table's fields, not 2,048 row numbers",
	"alloc/container/buffer.go":             "bytes that grow, not a component with elements",
	"delta.chunkList":                       "the values of a chunk type in a table, not the chunks of a loop",
	"disk.System":                           "the file system of the operating system, not code of a frame",
	"internal/disk/system.go":               "the file system of the operating system, not code of a frame",
	"ecs.Chunk":                             "a component of which each chunk has one value, not the chunk",
	"ecs/chunk.go":                          "a component of which each chunk has one value, not the chunk",
	"entity.View":                           "what a look-up needs of a store, not a struct that a loop fills",
	"entity.block":                          "8,192 indices of entities, not memory",
	"inspect.cell":                          "a value in words, not an address and a version",
	"inspect.column":                        "a heading of an export, not the values in a chunk",
	"inspect.table":                         "an archetype in an export, not the rows of one",
	"ecs/journal/view.go":                   "opens a journal's world, not a struct that a loop fills",
	"load.change":                           "what leads from a base to a newer one, not a change of parts",
	"mmap.span":                             "granules by number, not consecutive megachunks",
	"mmap.system":                           "calls of the operating system, not code of a frame",
	"mmap/system.go":                        "calls of the operating system, not code of a frame",
	"past.span":                             "the life of a block by layers, not consecutive megachunks",
	"query.Span":                            "rows of a chunk, not consecutive megachunks",
	"ecs/scene/internal/section/section.go": "a part of a scene, not a part of a file",
	"simdisk.kind":                          "what an operation on a disk does, not one of the six kinds",
	"sparse.View":                           "what a look-up needs of a set, not a struct that a loop fills",
	"ecs/internal/sparse/view.go":           "what a look-up needs of a set, not a struct that a loop fills",
	"table.Span":                            "rows of a chunk with their books, not consecutive megachunks",
	"transform.chunk":                       "the components of a chunk, not the chunk",
	"universe.lease":                        "a shard's hold of a line of masks, not a borrow's part in a world",
	"internal/universe/lease.go":            "a shard's hold of a line of masks, not a borrow's part in a world",
	"ecs/internal/world/chunk.go":           "the registration of chunk types, not the chunk",
	"worldfile.Stretch":                     "values on their way between layouts, not 2,048 row numbers",
	"wrap.filter":                           "counts of addresses by hash, not a part of a query",
	"wrap.location":                         "a place in a program, not a chunk and a row",
}

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
		if word == nil || slices.Contains(word.places, place) ||
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
	for _, place := range slices.Sorted(maps.Keys(listed)) {
		if !needed[place] {
			found = append(found, finding{
				"internal/lint/glossary.go", 0, "otherMeanings has " + place + " without need",
			})
		}
	}
	return found
}

// namedCode returns the types, files and packages of the root module that a word may name, and
// where they are. Files of tests and examples and this package are left out.
func namedCode(t *tree) map[string]finding {
	code := map[string]finding{}
	for _, f := range t.goFiles() {
		dir := f.dir()
		if !t.inRoot(f) || f.isTest() || strings.Contains(dir+"/", "/examples/") ||
			strings.HasPrefix(dir, "internal/lint") || dir == "ecs/internal/ecstest" {
			continue
		}
		of := f.syntax.Name.Name
		code[of] = finding{path: dir}
		code[f.path] = finding{path: f.path}
		for _, d := range f.syntax.Decls {
			list, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range list.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					code[of+"."+s.Name.Name] = t.at(s.Pos(), "")
				}
			}
		}
	}
	return code
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
		word := &glossaryWord{line: i + 1}
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
