package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Each exported name of a public package is used by a program: an Example function, a program of
// an examples folder, a workload of bench, another module, a sibling package, or a page. A name is
// a function, type, constant or variable of a package's scope, or a method or field of such a type;
// its key is the package's folder, and behind dots the type and the name.
//
// What comes with a used name needs no use of its own: types of its signature or field, the
// constants of a type, the methods of an interface, and those by which a type is an error, a
// Stringer or what an interface of a public package requires. Verify and Close need none either.
//
// Code is type-checked (go/types), with compiled imports (go list -export), so that methods are
// told apart by their types. Test files of a package count for their Example functions alone.

// listed is what the go command knows of a package.
type listed struct {
	ImportPath, Dir, Export, Name string
	GoFiles                       []string
	Module                        *struct{ Dir string }
}

// A face is the exported names of some packages.
type face struct {
	fset     *token.FileSet
	home     string
	imports  types.Importer
	packages []*listed        // all of the modules that are read
	names    map[string]*name // by key
	keys     map[types.Object][]string
	known    map[*types.Package]bool
}

// A name is an exported one of a public package.
type name struct {
	object types.Object
	owner  string // the key of the type whose method, field or constant it is
	used   bool
}

// readFace reads the exported names of a tree, whose folder is home, and marks those that programs
// and pages use, in the packages that the patterns name for the go command.
func readFace(t *tree, home string, patterns ...string) (*face, error) {
	f := &face{fset: t.fset, home: home}
	f.names, f.keys, f.known = map[string]*name{}, map[types.Object][]string{}, map[*types.Package]bool{}
	list := []string{"list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,Name,GoFiles,Module"}
	command := exec.Command("go", append(list, patterns...)...)
	command.Dir = home
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("lint: readFace: %w: %s", err, complaint.Bytes())
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("lint: readFace: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil &&
			(p.Module.Dir == home || strings.HasPrefix(p.Module.Dir, home+string(filepath.Separator))) {
			f.packages = append(f.packages, p)
		}
	}
	f.imports = importer.ForCompiler(f.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("lint: no package %s", path)
		}
		return os.Open(exports[path])
	})
	return f, f.readTree(t)
}

// isPublic reports whether programs can import a package of the root module.
func (f *face) isPublic(p *listed) bool {
	return p.Module.Dir == f.home && p.Name != "main" &&
		!inFolder(p.ImportPath, "internal") && !inFolder(p.ImportPath, "examples")
}

func inFolder(path, folder string) bool { return slices.Contains(strings.Split(path, "/"), folder) }

// folder returns where a package lies, from the root.
func (f *face) folder(p *listed) string {
	dir, err := filepath.Rel(f.home, p.Dir)
	if err != nil {
		return p.ImportPath
	}
	return filepath.ToSlash(dir)
}

// declare adds the names of a package. A package that was checked from source has other objects
// for the same names.
func (f *face) declare(p *types.Package, folder string) {
	if f.known[p] {
		return
	}
	f.known[p] = true
	scope := p.Scope()
	for _, text := range scope.Names() {
		o, key := scope.Lookup(text), folder+"."+text
		if !o.Exported() || strings.HasSuffix(f.fset.Position(o.Pos()).Filename, "_test.go") || f.isDeprecated(o) {
			continue
		}
		owner := ""
		if c, ok := o.(*types.Const); ok {
			if of, ok := types.Unalias(c.Type()).(*types.Named); ok && of.Obj().Pkg() == p {
				owner = folder + "." + of.Obj().Name()
			}
		}
		f.add(o, key, owner)
		if of, ok := o.(*types.TypeName); ok {
			f.declareMembers(of.Type(), key)
		}
	}
}

// declareMembers adds the exported methods and fields of a type, promoted ones with it.
func (f *face) declareMembers(t types.Type, key string) {
	t = types.Unalias(t)
	methods := types.NewMethodSet(types.NewPointer(t))
	if types.IsInterface(t) {
		methods = types.NewMethodSet(t)
	}
	for m := range methods.Methods() {
		if m.Obj().Exported() && !f.isDeprecated(m.Obj()) {
			f.add(m.Obj(), key+"."+m.Obj().Name(), key)
		}
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for v := range s.Fields() {
			if v.Exported() {
				f.add(v, key+"."+v.Name(), key)
			}
		}
	}
}

// isDeprecated reports whether a file deprecated.go declares the name, so that nothing here uses
// it.
func (f *face) isDeprecated(o types.Object) bool {
	return filepath.Base(f.fset.Position(o.Pos()).Filename) == "deprecated.go"
}

func (f *face) add(o types.Object, key, owner string) {
	o = origin(o)
	f.keys[o] = append(f.keys[o], key)
	if f.names[key] == nil {
		f.names[key] = &name{object: o, owner: owner}
	}
}

// origin returns the object that an instance of a generic one was made from.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// check type-checks files of a package and notes what they use of others. Only the nodes that keep
// accepts count; errors are passed over, as in tests that need what only they declare.
func (f *face) check(path, folder string, files []*ast.File, keep func(ast.Decl, *ast.File) bool) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: f.imports, Error: func(error) {}, FakeImportC: true}
	p, _ := config.Check(path, f.fset, files, info)
	own := strings.TrimSuffix(path, "_test")
	if p != nil && path == own && f.hasPackage(folder) {
		f.declare(p, folder)
	}
	for _, file := range files {
		for _, d := range file.Decls {
			if !keep(d, file) {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && info.Uses[id] != nil && (info.Uses[id].Pkg() != p || isExample(d)) {
					for _, key := range f.keys[origin(info.Uses[id])] {
						f.names[key].used = true
					}
				}
				return true
			})
		}
	}
}

// hasPackage reports whether a folder has a public package.
func (f *face) hasPackage(folder string) bool {
	return slices.ContainsFunc(f.packages, func(p *listed) bool { return f.isPublic(p) && f.folder(p) == folder })
}

// imply marks what comes with a used name.
func (f *face) imply() {
	var contracts []*types.Interface
	for _, n := range f.names {
		if of, ok := n.object.(*types.TypeName); ok && types.IsInterface(of.Type()) {
			if i := of.Type().Underlying().(*types.Interface); i.IsMethodSet() && i.NumMethods() > 0 {
				contracts = append(contracts, i)
			}
		}
	}
	for marked := true; marked; {
		marked = false
		mark := func(n *name) {
			if n != nil && !n.used {
				n.used, marked = true, true
			}
		}
		for _, n := range f.names {
			owner := f.names[n.owner]
			switch {
			case n.used:
				mark(owner)
				for _, of := range namedIn(n.object) {
					for _, key := range f.keys[of] {
						mark(f.names[key])
					}
				}
			case owner != nil && owner.used && comesWith(n, owner, contracts):
				mark(n)
			}
		}
	}
}

// expected are methods by which types implement interfaces of the standard library, and those that
// each owner of memory has here.
var expected = []string{"String", "Error", "Unwrap", "Is", "Close", "Verify"}

// comesWith reports whether a constant or method comes with its type.
func comesWith(n, owner *name, contracts []*types.Interface) bool {
	switch o := n.object.(type) {
	case *types.Const:
		return true
	case *types.Func:
		of := owner.object.Type()
		required := func(i *types.Interface) bool {
			m, _, _ := types.LookupFieldOrMethod(i, false, nil, o.Name())
			return m != nil && (types.Implements(of, i) || types.Implements(types.NewPointer(of), i))
		}
		return slices.Contains(expected, o.Name()) || types.IsInterface(of) || slices.ContainsFunc(contracts, required)
	}
	return false
}

// namedIn returns the named types that a name's declaration shows.
func namedIn(o types.Object) (list []types.Object) {
	seen := map[types.Type]bool{}
	var look func(t types.Type)
	look = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			list = append(list, t.Obj())
			look(t.Rhs())
		case *types.Named:
			list = append(list, t.Obj())
			for arg := range t.TypeArgs().Types() {
				look(arg)
			}
		case *types.Pointer:
			look(t.Elem())
		case *types.Slice:
			look(t.Elem())
		case *types.Array:
			look(t.Elem())
		case *types.Chan:
			look(t.Elem())
		case *types.Map:
			look(t.Key())
			look(t.Elem())
		case *types.TypeParam:
			look(t.Constraint())
		case *types.Union:
			for term := range t.Terms() {
				look(term.Type())
			}
		case *types.Signature:
			for p := range t.TypeParams().TypeParams() {
				look(p.Constraint())
			}
			for v := range t.Params().Variables() {
				look(v.Type())
			}
			for v := range t.Results().Variables() {
				look(v.Type())
			}
		case *types.Interface:
			for e := range t.EmbeddedTypes() {
				look(e)
			}
		}
	}
	look(o.Type())
	return list
}

// chains finds names and what is selected from them.
var chains = regexp.MustCompile(`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`)

// code finds what a page has as code: a block, or a span.
var code = regexp.MustCompile("(?s)```.*?```|`[^`]*`")

// readPage marks the names that the code of a page has: with the name of their package or type, or
// alone where no other public name is the same.
func (f *face) readPage(text string) {
	named := map[string][]string{} // keys by last name
	for key := range f.names {
		last := key[strings.LastIndex(key, ".")+1:]
		named[last] = append(named[last], key)
	}
	for _, span := range code.FindAllString(text, -1) {
		for _, chain := range chains.FindAllString(span, -1) {
			parts := strings.Split(chain, ".")
			for i, part := range parts {
				for _, key := range named[part] {
					before := path.Base(key[:strings.LastIndex(key, ".")])
					before = before[strings.LastIndex(before, ".")+1:]
					if i > 0 && parts[i-1] == before || len(named[part]) == 1 {
						f.names[key].used = true
					}
				}
			}
		}
	}
}

// unused finds names that no program uses and that are not excepted, and exceptions that are used
// or gone. Exceptions are names of each package, by its folder.
func (f *face) unused(excepted map[string]string) (found []finding) {
	f.imply()
	spared := map[string]bool{}
	for folder, names := range excepted {
		for _, name := range strings.Fields(names) {
			key := folder + "." + name
			spared[key] = true
			switch n := f.names[key]; {
			case n == nil:
				found = append(found, finding{path: unusedFile, what: key + " is gone: delete it here"})
			case n.used:
				found = append(found, finding{path: unusedFile, what: key + " is used: delete it here"})
			}
		}
	}
	for key, n := range f.names {
		if !n.used && !spared[key] {
			found = append(found, finding{
				path: key, what: "no example, page, workload or sibling uses it: it gets one, or it goes",
			})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// readTree type-checks the programs of a tree and reads its pages.
func (f *face) readTree(t *tree) error {
	for _, p := range f.packages {
		if f.isPublic(p) {
			of, err := f.imports.Import(p.ImportPath)
			if err != nil {
				return fmt.Errorf("lint: readTree: %w", err)
			}
			f.declare(of, f.folder(p))
		}
	}
	for _, p := range f.packages {
		f.readPackage(t, p)
	}
	for _, page := range t.files {
		if page.isManual() {
			f.readPage(string(page.text))
		}
	}
	return nil
}

// readPackage type-checks the files of a package that can have uses of public names.
func (f *face) readPackage(t *tree, p *listed) {
	folder := f.folder(p)
	if inFolder(folder, "internal") || inFolder(folder, "fuzz") || inFolder(folder, "publish") {
		return
	}
	public := f.isPublic(p)
	var files, apart, inside []*ast.File
	for _, file := range t.goFiles() {
		switch {
		case file.dir() != folder:
		case !file.isTest():
			if slices.Contains(p.GoFiles, path.Base(file.path)) {
				files = append(files, file.syntax)
			}
		case public && !hasExample(file.syntax):
		case file.isApart():
			apart = append(apart, file.syntax)
		default:
			inside = append(inside, file.syntax)
		}
	}
	if both := append(slices.Clone(files), inside...); len(both) > 0 {
		f.check(p.ImportPath, folder, both, func(d ast.Decl, file *ast.File) bool {
			return !public || slices.Contains(files, file) || isExample(d)
		})
	}
	if len(apart) > 0 {
		f.check(p.ImportPath+"_test", folder, apart, func(d ast.Decl, file *ast.File) bool {
			return !public || isExample(d) ||
				strings.HasPrefix(path.Base(t.fset.Position(file.Package).Filename), "example_")
		})
	}
}

// hasExample reports whether a file has an Example function.
func hasExample(f *ast.File) bool { return slices.ContainsFunc(f.Decls, isExample) }

// isExample reports whether a declaration is an Example function.
func isExample(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example")
}

// isManual reports whether f is a page for those who write programs, on names that they use.
func (f *file) isManual() bool {
	switch f.path {
	case "docs/STYLE.md", "docs/architecture.md", "docs/ci.md", "docs/errors.md", "docs/glossary.md":
		return false
	}
	return f.path == "README.md" || f.dir() == "docs" && path.Ext(f.path) == ".md"
}
