package lint

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// undocumented finds, in the root module without its tests, exported
// declarations without a comment and packages without a doc.go that has the
// package comment. Packages under internal may have that comment in another
// file; so may a program.
func undocumented(t *tree) []finding {
	var found []finding
	type contract struct{ program, inDoc, anywhere bool }
	packages := map[string]*contract{}
	for _, f := range t.goFiles() {
		if !t.inRoot(f) || f.isTest() {
			continue
		}
		p := packages[f.dir()]
		if p == nil {
			p = &contract{}
			packages[f.dir()] = p
		}
		p.program = p.program || f.syntax.Name.Name == "main"
		if says(f.syntax.Doc) {
			p.anywhere = true
			p.inDoc = p.inDoc || path.Base(f.path) == "doc.go"
		}
		found = append(found, undocumentedIn(t, f)...)
	}
	for dir, p := range packages {
		free := p.program || strings.HasPrefix(dir, "internal/")
		if free && !p.anywhere || !free && !p.inDoc {
			found = append(found, finding{path: dir, what: "this package has no doc.go with a package comment"})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.path, b.path) })
	return found
}

// says reports whether a comment has words, not directives only.
func says(group *ast.CommentGroup) bool { return strings.TrimSpace(group.Text()) != "" }

func undocumentedIn(t *tree, f *file) []finding {
	var found []finding
	for _, decl := range f.syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.IsExported() && (decl.Recv == nil || ast.IsExported(receiver(decl))) && !says(decl.Doc) {
				found = append(found, t.at(decl.Pos(), "%s has no doc comment", decl.Name.Name))
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				found = append(found, undocumentedSpec(t, decl, spec)...)
			}
		}
	}
	return found
}

// receiver returns the name of the type that a method belongs to.
func receiver(method *ast.FuncDecl) string {
	expr := method.Recv.List[0].Type
	for {
		switch x := expr.(type) {
		case *ast.StarExpr:
			expr = x.X
		case *ast.ParenExpr:
			expr = x.X
		case *ast.IndexExpr:
			expr = x.X
		case *ast.IndexListExpr:
			expr = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// undocumentedSpec judges one type, or one line of constants or variables. In a
// block, the comment of the block covers constants and variables but not types;
// a comment at the end of the line does as well for constants and variables.
func undocumentedSpec(t *tree, decl *ast.GenDecl, spec ast.Spec) []finding {
	var found []finding
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return nil
		}
		if !says(spec.Doc) && (decl.Lparen != token.NoPos || !says(decl.Doc)) {
			found = append(found, t.at(spec.Pos(), "%s has no doc comment", spec.Name.Name))
		}
		if face, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, method := range face.Methods.List {
				for _, name := range method.Names {
					if name.IsExported() && !says(method.Doc) && !says(method.Comment) {
						found = append(found, t.at(name.Pos(), "%s.%s has no doc comment", spec.Name.Name, name.Name))
					}
				}
			}
		}
	case *ast.ValueSpec:
		if says(spec.Doc) || says(spec.Comment) || says(decl.Doc) {
			return nil
		}
		for _, name := range spec.Names {
			if name.IsExported() {
				found = append(found, t.at(name.Pos(), "%s has no doc comment", name.Name))
			}
		}
	}
	return found
}
