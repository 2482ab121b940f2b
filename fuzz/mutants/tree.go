package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A tree is the go command's view of a workspace on this machine.
type tree struct {
	root, module string    // the folder and the path of the module to break
	packages     []*pkg    // of all modules of the workspace
	functions    []*goFunc // only of that module, with a body, outside of tests
	fset         *token.FileSet
}

// A pkg is a package as go list reports it.
type pkg struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Module                             struct{ Path, Dir string }

	name  string                   // the import path without the module's: the table's name for it
	tests func() ([]string, error) // their names
}

// A goFunc is a function or method.
type goFunc struct {
	pkg  *pkg
	name string // Function or Type.Method
	decl *ast.FuncDecl
	file *goFile
}

// A goFile is a file that is not a test.
type goFile struct {
	path   string
	text   []byte
	syntax *ast.File
	at     int // where it begins in the set of files
}

// load reads the workspace around root, which is the folder of a module.
func load(root string) (*tree, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "list",
		"-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Module", "work")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", root, err)
	}
	t := &tree{root: root, fset: token.NewFileSet()}
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := list.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module.Dir == root {
			t.module = p.Module.Path
		}
		t.packages = append(t.packages, p)
	}
	for _, p := range t.packages {
		p.name, p.tests = strings.TrimPrefix(p.ImportPath, t.module+"/"), sync.OnceValues(p.parseTests)
		if p.Module.Path == t.module {
			if err := t.parse(p); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (t *tree) parse(p *pkg) error {
	for _, name := range p.GoFiles {
		f := &goFile{path: filepath.Join(p.Dir, name), at: t.fset.Base()}
		var err error
		if f.text, err = os.ReadFile(f.path); err != nil {
			return err
		}
		if f.syntax, err = parser.ParseFile(t.fset, f.path, f.text, parser.SkipObjectResolution); err != nil {
			return err
		}
		for _, d := range f.syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				t.functions = append(t.functions, &goFunc{p, funcName(d), d, f})
			}
		}
	}
	return nil
}

// funcName is the name of a function, after the name of its receiver's type, without star and type
// parameters, which a change of the code may add or drop.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name + "." + d.Name.Name
}

// source is the text of a file from one position to another.
func (f *goFile) source(from, to token.Pos) string {
	return string(f.text[f.offset(from):f.offset(to)])
}

func (f *goFile) offset(pos token.Pos) int { return int(pos) - f.at }

func (f *goFunc) String() string { return f.pkg.name + " " + f.name }

// method is the name without the receiver's type.
func method(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// receiver is the type of a method, "" for a function.
func receiver(name string) string { return name[:max(strings.LastIndexByte(name, '.'), 0)] }

// pkg finds a package by the name that the table gives it, or nil.
func (t *tree) pkg(name string) *pkg {
	i := slices.IndexFunc(t.packages, func(p *pkg) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return t.packages[i]
}

// testers lists the packages of the module whose tests reach p: p itself, then the packages that
// import it, the nearest first.
func (t *tree) testers(p *pkg) []*pkg {
	steps := map[string]int{p.ImportPath: 0}
	nearest := func(imports ...[]string) int {
		least := -1
		for _, path := range slices.Concat(imports...) {
			if n, ok := steps[path]; ok && (least < 0 || n < least) {
				least = n
			}
		}
		return least
	}
	for n, more := 0, true; more; n++ {
		more = false
		for _, q := range t.packages {
			if _, ok := steps[q.ImportPath]; !ok && nearest(q.Imports) == n {
				steps[q.ImportPath], more = n+1, true
			}
		}
	}
	list, far := []*pkg{p}, map[*pkg]int{}
	for _, q := range t.packages {
		if n := nearest(q.Imports, q.TestImports, q.XTestImports); n >= 0 && q != p && q.Module.Path == t.module {
			list, far[q] = append(list, q), n+1
		}
	}
	slices.SortStableFunc(list, func(a, b *pkg) int { return far[a] - far[b] })
	return list
}

// has reports whether p has a test of that name.
func (p *pkg) has(test string) (bool, error) {
	names, err := p.tests()
	return slices.Contains(names, test), err
}

// parseTests finds the names of the tests of p.
func (p *pkg) parseTests() ([]string, error) {
	var names []string
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names, nil
}
