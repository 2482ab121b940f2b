package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// NilCall is a call of a package with nil for something that may be nil.
type NilCall struct {
	name   string // of the function, Type.Method for a method; behind ": " what tells two calls of it apart
	panics string // how the text of its panic begins; "": the call returns
	call   func(t *testing.T)
}

// NilPanics is a call that panics with a text that begins as given.
func NilPanics(name, text string, call func()) NilCall {
	return NilCall{name, text, func(*testing.T) { call() }}
}

// NilReturns is a call that returns, and checks what it returned.
func NilReturns(name string, call func(t *testing.T)) NilCall { return NilCall{name, "", call} }

// foreign lists the types of other packages that may be nil. A type that is not listed is an error,
// so that no function is forgotten.
var foreign = map[string]bool{
	"alloc.Allocator":     true,
	"alloc.Growth":        false,
	"alloc.Ref":           false,
	"command.Buffer":      false,
	"context.Context":     true,
	"entity.ID":           false,
	"ecs.Access":          false,
	"ecs.Buffer":          false,
	"ecs.Component":       false,
	"ecs.Entity":          false,
	"ecs.Option":          true,
	"ecs.Rows":            false,
	"ecs.Shared":          false,
	"ecs.Sparse":          false,
	"ecs.Term":            false,
	"ecs.Type":            true,
	"fs.FS":               true,
	"image.Option":        true,
	"journal.Option":      true,
	"io.Reader":           true,
	"io.Writer":           true,
	"reflect.Type":        true,
	"unsafe.Pointer":      true,
	"job.Handle":          false,
	"job.Option":          true,
	"layout.Plan":         false,
	"time.Duration":       false,
	"time.Time":           false,
	"under.Key":           false,
	"universe.ChunkIndex": false,
	"heap.Option":         true,
	"hierarchy.Hierarchy": false,
	"universe.Option":     true,
}

// CheckNil makes the calls, and fails for one that does not end as it says. It fails too
// unless they are of just those exported functions and methods of the package in the
// working directory that take a pointer, a function or an interface, or a list of such.
// Receivers do not count. Methods of an unexported type do where a struct embeds it.
func CheckNil(t *testing.T, calls ...NilCall) {
	t.Run("all", func(t *testing.T) {
		takers, err := nilTakers(os.DirFS("."))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("the source is not in the working directory: ", err)
		} else if err != nil {
			t.Fatal(err)
		}
		var called []string
		for _, c := range calls {
			name, _, _ := strings.Cut(c.name, ": ")
			if called = append(called, name); !slices.Contains(takers, name) {
				t.Errorf("%s is called, and takes nothing that may be nil", name)
			}
		}
		for _, name := range takers {
			if !slices.Contains(called, name) {
				t.Errorf("%s has no row: what does it do with nil?", name)
			}
		}
	})
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				value := recover()
				text := fmt.Sprint(value)
				if _, raw := value.(runtime.Error); raw || value == nil != (c.panics == "") ||
					value != nil && !strings.HasPrefix(text, c.panics) {
					t.Errorf("ended with %T %v, want %q", value, value, c.panics)
				}
			}()
			c.call(t)
		})
	}
}

// nilTakers returns the names of the functions that CheckNil asks for, sorted.
func nilTakers(dir fs.FS) (takers []string, err error) {
	paths, err := fs.Glob(dir, "*.go")
	if err != nil {
		return nil, err
	}
	var functions []*ast.FuncDecl
	declared, embedded := map[string]ast.Expr{}, map[string]bool{}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(dir, p)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path.Base(p), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				functions = append(functions, d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						declared[s.Name.Name] = s.Type
						if of, ok := s.Type.(*ast.StructType); ok {
							for _, field := range of.Fields.List {
								if name, ok := field.Type.(*ast.Ident); ok && field.Names == nil {
									embedded[name.Name] = true
								}
							}
						}
					}
				}
			}
		}
	}
	if len(functions) == 0 {
		return nil, fmt.Errorf("a package: %w", fs.ErrNotExist)
	}
	for _, f := range functions {
		name := f.Name.Name
		if f.Recv != nil {
			name = receiver(f) + "." + name
		}
		if !f.Name.IsExported() || !ast.IsExported(name) && !embedded[receiver(f)] {
			continue
		}
		for _, p := range f.Type.Params.List {
			takes, err := mayBeNil(p.Type, declared)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if takes && !slices.Contains(takers, name) { // which several systems may have
				takers = append(takers, name)
			}
		}
	}
	slices.Sort(takers)
	return takers, nil
}

// mayBeNil reports whether a type is a pointer, function or interface, or a list of such.
func mayBeNil(e ast.Expr, declared map[string]ast.Expr) (bool, error) {
	switch e := e.(type) {
	case *ast.StarExpr, *ast.FuncType, *ast.InterfaceType:
		return true, nil
	case *ast.ParenExpr:
		return mayBeNil(e.X, declared)
	case *ast.ArrayType:
		return mayBeNil(e.Elt, declared)
	case *ast.Ellipsis:
		return mayBeNil(e.Elt, declared)
	case *ast.IndexExpr: // of a generic type
		return mayBeNil(e.X, declared)
	case *ast.IndexListExpr:
		return mayBeNil(e.X, declared)
	case *ast.Ident:
		if of := declared[e.Name]; of != nil {
			return mayBeNil(of, declared)
		}
		return e.Name == "any" || e.Name == "error", nil
	case *ast.SelectorExpr:
		name := fmt.Sprintf("%s.%s", e.X, e.Sel)
		may, known := foreign[name]
		if !known {
			return false, fmt.Errorf("foreign in internal/lint/nil.go does not say whether a %s may be nil", name)
		}
		return may, nil
	}
	return false, nil
}
