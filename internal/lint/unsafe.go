package lint

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// proof is how a comment begins that says why a use of unsafe holds.
const proof = "Safe because"

// unexplainedUnsafe finds, in the root module without its tests, top-level
// declarations (functions above all) that go around the type system and have no
// comment with the words "Safe because", neither inside nor as their doc
// comment. One comment per declaration is enough for the machine; that it
// covers every line is for the reader to judge. These count as going around:
//
//	unsafe.Add, unsafe.Slice, unsafe.String
//	unsafe.Pointer(x)
//	(*T)(x), in a file that imports unsafe, unless x is nil
//
// The last is read from syntax alone, so a conversion between two ordinary
// pointer types counts too. Sizes, offsets, unsafe.SliceData and declarations
// that only mention the type unsafe.Pointer do not count.
func unexplainedUnsafe(t *tree) []finding {
	var found []finding
	for _, f := range t.goFiles() {
		name := unsafeName(f.syntax)
		if !t.inRoot(f) || f.isTest() || name == "" {
			continue
		}
		for _, decl := range f.syntax.Decls {
			use := firstUnsafe(decl, name)
			if use == nil || explained(t, f.syntax, decl) {
				continue
			}
			what := "declaration"
			if fn, ok := decl.(*ast.FuncDecl); ok {
				what = fn.Name.Name
			}
			found = append(found, t.at(use.Pos(), "%s uses unsafe, and no comment in it says %q", what, proof+" ..."))
		}
	}
	return found
}

// unsafeName returns the name under which a file knows package unsafe, or "".
func unsafeName(f *ast.File) string {
	for _, spec := range f.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != "unsafe" {
			continue
		}
		if spec.Name == nil {
			return "unsafe"
		}
		return spec.Name.Name
	}
	return ""
}

// firstUnsafe returns the first call under n that goes around the type system,
// or nil.
func firstUnsafe(n ast.Node, name string) *ast.CallExpr {
	var first *ast.CallExpr
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && first == nil && isUnsafe(call, name) {
			first = call
		}
		return first == nil
	})
	return first
}

func isUnsafe(call *ast.CallExpr, name string) bool {
	switch fun := call.Fun.(type) {
	case *ast.SelectorExpr:
		of, ok := fun.X.(*ast.Ident)
		return ok && of.Name == name && slices.Contains([]string{"Add", "Slice", "String", "Pointer"}, fun.Sel.Name)
	case *ast.ParenExpr:
		_, pointer := fun.X.(*ast.StarExpr)
		if !pointer || len(call.Args) != 1 {
			return false
		}
		arg, named := call.Args[0].(*ast.Ident)
		return !named || arg.Name != "nil"
	}
	return false
}

// explained reports whether a comment in decl, before it as its doc, or at the
// end of its last line has the proof. Line breaks in the words do not matter.
func explained(t *tree, f *ast.File, decl ast.Decl) bool {
	var doc *ast.CommentGroup
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		doc = decl.Doc
	case *ast.GenDecl:
		doc = decl.Doc
	}
	end := t.fset.Position(decl.End()).Line
	return slices.ContainsFunc(f.Comments, func(group *ast.CommentGroup) bool {
		inside := group.Pos() >= decl.Pos() && t.fset.Position(group.Pos()).Line <= end
		return (group == doc || inside) &&
			strings.Contains(strings.Join(strings.Fields(group.Text()), " "), proof)
	})
}
