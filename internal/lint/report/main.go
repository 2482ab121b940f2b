// Report counts what the shape of package ecs is judged by and prints it: lines without tests,
// fields of World, references between the files of ecs that run up, and of each package the
// exported names, and of these the types and functions of its scope, but for those that a file
// deprecated.go declares: the next version does not have them.
//
//	go run ./internal/lint/report
//	go run ./internal/lint/report -up
//
// A reference is an arrow from a file that uses a name to the file that declares it, counted once
// for each pair of files. The files are brought into an order, by the heuristic of Eades, Lin and
// Smyth (1993) and then by a search that moves one file at a time, in which few arrows run up: from
// a file to one that comes before it. What is left shows circles between files; -up lists it, with
// the order of the files and the names that each reference is for.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"log"
	"os"
	"path/filepath"
	"strings"

	_ "quarry/internal/debug" // the line that ends builds for 32 bits
)

// rooms are the packages that are counted, the lowest first.
var rooms = []string{"internal/universe", "internal/store", "alloc", "ecs/internal/entity", "ecs/internal/value",
	"ecs/internal/table", "ecs/internal/change", "ecs/internal/match", "ecs/internal/world", "ecs/internal/query",
	"ecs/internal/edit", "ecs/internal/snapshot", "ecs/internal/delta", "ecs/internal/worldfile", "ecs",
	"ecs/hierarchy", "ecs/command", "ecs/job", "ecs/system", "ecs/scene/internal/section", "ecs/scene/internal/bake",
	"ecs/scene/internal/load", "ecs/scene"}

// mostUp is how many references between the files of a package of ecs may run up. Above it the
// report fails: then a file does two things, or a room is missing.
const mostUp = 10

// mostNames is how many exported names ecs may have. It rises only with what issues ask for: 12 for
// Cursor and Direct, 11 for Hasher, one for View.List.
const mostNames = 354

// mostExported is how many types and functions the scope of a package may export. Above it the
// report fails: what programs cannot use belongs to a stratum below.
var mostExported = map[string]int{"alloc": 75}

func main() {
	log.SetFlags(0)
	log.SetPrefix("report: ")
	if _, err := os.Stat("ecs"); err != nil {
		log.Fatal("run it in the folder of go.mod: ", err)
	}
	list := flag.Bool("up", false, "list the order of the files of each package of ecs and the references that run up")
	flag.Parse()
	load := loader{token.NewFileSet(), nil}
	load.Importer = importer.ForCompiler(load.FileSet, "source", nil)
	fmt.Printf("%-24s %6s %6s %9s %6s %6s %3s\n", "package", "files", "lines", "exported", "scope", "arrows", "up")
	over := ""
	for _, dir := range rooms {
		p, err := load.read(dir)
		if err != nil {
			log.Fatal(err)
		}
		arrows := p.arrows()
		order := arrange(len(p.names), arrows)
		n := len(up(order, arrows))
		fmt.Printf("%-24s %6d %6d %9d %6d %6d %3d\n",
			dir, len(p.names), p.lines, p.exported(), p.scope(), len(arrows), n)
		if most := mostExported[dir]; most > 0 && p.scope() > most {
			over += fmt.Sprintf(" %s exports %d types and functions, at most %d;", dir, p.scope(), most)
		}
		if dir != "ecs" && !strings.HasPrefix(dir, "ecs/") {
			continue
		}
		if *list {
			p.listUp(os.Stdout, order, arrows)
		}
		if dir == "ecs" && p.exported() > mostNames {
			over += fmt.Sprintf(" %s has %d exported names, at most %d;", dir, p.exported(), mostNames)
		}
		if n > mostUp {
			over += fmt.Sprintf(" %s has %d references up, at most %d;", dir, n, mostUp)
		}
		if dir == "ecs/internal/world" {
			defer fmt.Printf("\nworld.World has %d fields\n", fields(p.types.Scope().Lookup("World").Type()))
		}
	}
	if over != "" {
		log.Fatalf("%s -up lists references", over[1:])
	}
}

// fields counts the fields of a struct, those of embedded structs one by one.
func fields(t types.Type) (n int) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return 1
	}
	for f := range s.Fields() {
		if f.Embedded() {
			n += fields(f.Type())
			continue
		}
		n++
	}
	return n
}

// room is a package that was read.
type room struct {
	types *types.Package
	info  *types.Info
	set   *token.FileSet
	names []string // of the files
	lines int
}

// deprecated is the name of a file of what the next version of its package does not have.
const deprecated = "deprecated.go"

// counts reports whether a name is one that programs use and may go on to use.
func (p *room) counts(o types.Object) bool {
	return o.Exported() && filepath.Base(p.set.Position(o.Pos()).Filename) != deprecated
}

// exported counts such names: of the package's scope, and methods and fields of its types.
func (p *room) exported() (n int) {
	scope := p.types.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !p.counts(o) {
			continue
		}
		n++
		of, ok := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !ok || !isType {
			continue
		}
		for m := range of.Methods() {
			if p.counts(m) {
				n++
			}
		}
		if s, ok := of.Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				if p.counts(f) {
					n++
				}
			}
		}
	}
	return n
}

// scope counts the types and functions among such names of the package's scope.
func (p *room) scope() (n int) {
	for _, name := range p.types.Scope().Names() {
		switch o := p.types.Scope().Lookup(name).(type) {
		case *types.TypeName, *types.Func:
			if p.counts(o) {
				n++
			}
		}
	}
	return n
}

// arrows returns the references between files, by number, and the names that each is for.
func (p *room) arrows() map[[2]int]map[string]bool {
	number := map[string]int{}
	for i, name := range p.names {
		number[name] = i
	}
	arrows := map[[2]int]map[string]bool{}
	for use, of := range p.info.Uses {
		if of.Pkg() != p.types {
			continue
		}
		from, to := number[p.set.Position(use.Pos()).Filename], number[p.set.Position(of.Pos()).Filename]
		if from == to {
			continue
		}
		arrow := [2]int{from, to}
		if arrows[arrow] == nil {
			arrows[arrow] = map[string]bool{}
		}
		arrows[arrow][of.Name()] = true
	}
	return arrows
}

// loader reads packages.
type loader struct {
	*token.FileSet
	types.Importer
}

// read parses and checks the files of a package but its tests, as this system builds them.
func (l *loader) read(dir string) (*room, error) {
	p := &room{set: l.FileSet, info: &types.Info{Uses: map[*ast.Ident]types.Object{}}}
	files, err := l.parse(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		at := l.Position(f.FileStart)
		p.names = append(p.names, at.Filename)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		p.lines += strings.Count(string(text), "\n")
	}
	p.types, err = (&types.Config{Importer: l.Importer}).Check("quarry/"+dir, l.FileSet, files, p.info)
	return p, err
}
