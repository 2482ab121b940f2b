package lint

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// largest is the size in bytes above which a file that is no source code is
// taken for data and not read.
const largest = 1 << 20

// A tree is the part of the repository that people write.
type tree struct {
	fset    *token.FileSet
	files   []*file  // by path
	modules []string // folders with a go.mod, "." among them
}

// A file is one file of a tree.
type file struct {
	path   string    // from the root of the repository, with slashes
	text   []byte    // nil for data
	syntax *ast.File // nil for what is not Go
}

// A finding is one breach of a rule.
type finding struct {
	path string
	line int // from 1; 0 when it is about the file or folder as a whole
	what string
}

func (f finding) String() string {
	if f.line == 0 {
		return f.path + ": " + f.what
	}
	return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.what)
}

// findRoot returns the nearest folder at or above dir that has a go.work.
func findRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		_, err := os.Stat(filepath.Join(at, "go.work"))
		switch {
		case err == nil:
			return at, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("lint: findRoot: %w", err)
		case at == filepath.Dir(at):
			return "", fmt.Errorf("lint: findRoot: no go.work in %s or above it: run inside the repository", dir)
		}
	}
}

// load reads the tree of fsys. It fails on a Go file that does not parse.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	ignore, err := readIgnore(fsys)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		switch {
		case name == ".":
			return nil
		case d.IsDir():
			if base == "testdata" || base[0] == '.' && base != ".ci" || ignore.match(name) {
				return fs.SkipDir
			}
			return nil
		case base == ".git" || !d.Type().IsRegular() || ignore.match(name): // in a worktree .git is a file
			return nil
		}
		f, err := t.read(fsys, name, d)
		if err != nil {
			return err
		}
		t.files = append(t.files, f)
		if base == "go.mod" {
			t.modules = append(t.modules, path.Dir(name))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("lint: load: %w", err)
	}
	return t, nil
}

func (t *tree) read(fsys fs.FS, name string, d fs.DirEntry) (*file, error) {
	f := &file{path: name}
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	if info.Size() > largest && !f.isSource() {
		return f, nil
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	if !f.isSource() && (bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text)) {
		return f, nil
	}
	f.text = text
	if path.Ext(name) == ".go" {
		f.syntax, err = parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	}
	return f, err
}

// module returns the folder of the module that f belongs to, "" for none.
func (t *tree) module(f *file) string {
	for dir := f.dir(); ; dir = path.Dir(dir) {
		if slices.Contains(t.modules, dir) {
			return dir
		}
		if dir == "." {
			return ""
		}
	}
}

// inRoot reports whether f belongs to the root module.
func (t *tree) inRoot(f *file) bool { return t.module(f) == "." }

// goFiles returns the Go files of the tree.
func (t *tree) goFiles() []*file {
	return slices.DeleteFunc(slices.Clone(t.files), func(f *file) bool { return f.syntax == nil })
}

// file returns the file at name, or nil.
func (t *tree) file(name string) *file {
	for _, f := range t.files {
		if f.path == name {
			return f
		}
	}
	return nil
}

// at returns a finding at a position of a Go file.
func (t *tree) at(pos token.Pos, format string, args ...any) finding {
	p := t.fset.Position(pos)
	return finding{path: p.Filename, line: p.Line, what: fmt.Sprintf(format, args...)}
}

func (f *file) dir() string { return path.Dir(f.path) }

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// isApart reports whether f is a test in a package of its own.
func (f *file) isApart() bool { return f.isTest() && strings.HasSuffix(f.syntax.Name.Name, "_test") }

func (f *file) isSource() bool { return path.Ext(f.path) == ".go" || path.Ext(f.path) == ".s" }

// isGenerated reports whether a line of f marks it as written by a program, in
// the form that the go command defines.
func (f *file) isGenerated() bool {
	for line := range strings.Lines(string(f.text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "// Code generated ") && strings.HasSuffix(line, " DO NOT EDIT.") {
			return true
		}
	}
	return false
}
