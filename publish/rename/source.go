package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A name is one of a package, whose path is that below the module's.
type name struct{ folder, ident string }

//go:embed table.txt
var tableText string

// table has the new name of each old one.
var table = readTable(tableText)

// readTable reads lines of an old and a new name.
func readTable(text string) map[name]name {
	t := map[name]name{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 2 {
			t[nameOf(fields[0])] = nameOf(fields[1])
		}
	}
	return t
}

// nameOf splits ecs/image.Journal.
func nameOf(s string) name {
	folder, ident, _ := strings.Cut(s, ".")
	return name{folder, ident}
}

// moves reports whether the table has names of a package.
func moves(folder string) bool {
	for old := range table {
		if old.folder == folder {
			return true
		}
	}
	return false
}

// A program is a file that is rewritten.
type program struct {
	module  string
	set     *token.FileSet
	syntax  *ast.File
	info    types.Info
	imports map[string]*ast.ImportSpec // by the name that the file has for the package
	uses    map[*ast.ImportSpec]int    // names of the package that were found
	stays   map[*ast.ImportSpec]int    // and those of them that stay names of the package
	added   []string                   // packages to import
	edits   []edit
}

// An edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// source returns a Go file with new names in place of old ones, and their number. What gofmt had
// formatted is formatted again.
func source(module, file string, text []byte) ([]byte, int, error) {
	p := &program{
		module: module, set: token.NewFileSet(), imports: map[string]*ast.ImportSpec{},
		info: types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}},
		uses: map[*ast.ImportSpec]int{}, stays: map[*ast.ImportSpec]int{},
	}
	var err error
	const mode = parser.ParseComments | parser.SkipObjectResolution
	if p.syntax, err = parser.ParseFile(p.set, file, text, mode); err != nil {
		return nil, 0, err
	}
	if err := p.readImports(); err != nil {
		return nil, 0, err
	}
	p.resolve()
	if err := p.rename(); err != nil {
		return nil, 0, err
	}
	n := len(p.edits)
	if n == 0 {
		return text, 0, nil
	}
	p.mendImports(text)
	out := slices.Clone(text)
	slices.SortFunc(p.edits, func(a, b edit) int { return b.start - a.start }) // the last first
	for _, e := range p.edits {
		out = slices.Concat(out[:e.start], []byte(e.text), out[e.end:])
	}
	if was, err := format.Source(text); err == nil && bytes.Equal(was, text) {
		if out, err = format.Source(out); err != nil {
			return nil, 0, fmt.Errorf("%s, rewritten: %w", file, err)
		}
	}
	return out, n, nil
}

// readImports lists the imports of the module's packages.
func (p *program) readImports() error {
	for _, spec := range p.syntax.Imports {
		folder := p.folderOf(spec)
		local := path.Base(folder)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "." && moves(folder) {
			return fmt.Errorf("%s: %s is imported by a dot, so its names are not found: import it by name",
				p.set.Position(spec.Pos()), spec.Path.Value)
		}
		if folder != "" && local != "." && local != "_" {
			p.imports[local] = spec
		}
	}
	return nil
}

// folderOf returns the path of an imported package below the module's, or "" for others.
func (p *program) folderOf(spec *ast.ImportSpec) string {
	whole, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
	folder, _ := strings.CutPrefix(whole, p.module+"/")
	if folder == whole {
		return ""
	}
	return folder
}

// resolve finds what each identifier is, as far as one file shows it: errors do not matter.
func (p *program) resolve() {
	c := types.Config{Importer: noImports{}, Error: func(error) {}, FakeImportC: true}
	_, _ = c.Check(p.syntax.Name.Name, p.set, []*ast.File{p.syntax}, &p.info)
}

// noImports gives no package; go/types then takes any name of it for one that is there.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not read") }

// rename collects the edits of names, and the packages that they need.
func (p *program) rename() (err error) {
	ast.Inspect(p.syntax, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok || p.imports[x.Name] == nil || !p.isPackage(x) {
			return true
		}
		spec := p.imports[x.Name]
		p.uses[spec]++
		folder := p.folderOf(spec)
		to, ok := table[name{folder, s.Sel.Name}]
		if !ok {
			p.stays[spec]++
			return true
		}
		by := x.Name
		if to.folder == folder {
			p.stays[spec]++
		} else if by = p.nameFor(to.folder); by == "" {
			base := path.Base(to.folder)
			err = fmt.Errorf("%s: %s.%s is %s.%s now, but %s is something else in this file: rename that first",
				p.set.Position(s.Pos()), x.Name, s.Sel.Name, base, to.ident, base)
			return false
		}
		p.edits = append(p.edits, edit{p.offset(s.Pos()), p.offset(s.End()), by + "." + to.ident})
		return true
	})
	return err
}

// isPackage reports whether an identifier, which is the name of an import, means that.
func (p *program) isPackage(x *ast.Ident) bool {
	if of, found := p.info.Uses[x]; found {
		_, is := of.(*types.PkgName)
		return is
	}
	return !p.declares(x.Name) // an expression that go/types gave up before it
}

// declares reports whether the file declares a name.
func (p *program) declares(ident string) bool {
	for x, of := range p.info.Defs {
		if _, is := of.(*types.PkgName); x.Name == ident && of != nil && !is {
			return true
		}
	}
	return false
}

func (p *program) offset(at token.Pos) int { return p.set.Position(at).Offset }

// nameFor returns the file's name for a package, which is imported if it is not yet, or "" if
// something else has the name.
func (p *program) nameFor(folder string) string {
	for local, spec := range p.imports {
		if p.folderOf(spec) == folder {
			return local
		}
	}
	base := path.Base(folder)
	switch {
	case slices.Contains(p.added, folder):
	case p.imported(base) || p.declares(base):
		return ""
	default:
		p.added = append(p.added, folder)
	}
	return base
}

// imported reports whether an import has a name in the file, as far as its path shows it.
func (p *program) imported(local string) bool {
	return slices.ContainsFunc(p.syntax.Imports, func(spec *ast.ImportSpec) bool {
		if spec.Name != nil {
			return spec.Name.Name == local
		}
		whole, _ := strconv.Unquote(spec.Path.Value)
		return path.Base(whole) == local
	})
}

// mendImports imports the added packages, in place of those that the file no longer uses.
func (p *program) mendImports(text []byte) {
	var last *ast.ImportSpec
	for _, spec := range p.syntax.Imports {
		if p.uses[spec] == 0 {
			continue
		}
		last = spec
		if p.stays[spec] > 0 {
			continue
		}
		e := edit{start: p.offset(spec.Pos()), end: p.offset(spec.End())}
		if len(p.added) > 0 {
			e.text, p.added = strconv.Quote(p.module+"/"+p.added[0]), p.added[1:]
		} else {
			if alone, block := p.importOf(spec); !block {
				e.start = p.offset(alone.Pos())
			}
			if rest, _, ok := bytes.Cut(text[e.end:], []byte("\n")); ok && len(bytes.TrimSpace(rest)) == 0 {
				e.end += len(rest) + 1 // with its line
			}
		}
		p.edits = append(p.edits, e)
	}
	for _, folder := range p.added {
		e := edit{start: p.offset(last.End()), end: p.offset(last.End()), text: "\n"}
		if _, block := p.importOf(last); !block {
			e.text = "\nimport "
		}
		e.text += strconv.Quote(p.module + "/" + folder)
		p.edits = append(p.edits, e)
	}
}

// importOf returns the declaration of an import; block reports whether it is one in parentheses.
func (p *program) importOf(spec *ast.ImportSpec) (d *ast.GenDecl, block bool) {
	i := slices.IndexFunc(p.syntax.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		return ok && slices.Contains(g.Specs, ast.Spec(spec))
	})
	d = p.syntax.Decls[i].(*ast.GenDecl)
	return d, d.Lparen.IsValid()
}
