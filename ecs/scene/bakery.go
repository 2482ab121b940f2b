package scene

import (
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/scene/internal/bake"
)

// Bakery makes files of scenes from authoring data, and remembers the results for each object. One
// goroutine at a time may use it.
type Bakery struct{ core bake.Bakery }

// Option is an option of NewBakery.
type Option func(*Bakery)

// Files are what Context.File reads.
func Files(from fs.FS) Option { return func(b *Bakery) { b.core.Files = from } }

// Workers is how many goroutines bake objects, by default as many as the program may run. The files
// do not depend on it. Below 1 it is 1.
func Workers(n int) Option { return func(b *Bakery) { b.core.Workers = max(n, 1) } }

// NewBakery returns a bakery for worlds with the types that a function registers, as that of
// image.Open does. An error is from ecs.NewWorld. It panics if the function is nil.
func NewBakery(register func(*ecs.World), options ...Option) (*Bakery, error) {
	if register == nil {
		panic("scene: NewBakery: the function that registers types is nil")
	}
	b := new(Bakery)
	for _, o := range options {
		o(b)
	}
	if err := b.core.Open(registering(register)); err != nil {
		return nil, err
	}
	return b, nil
}

// AddBaker registers the baker of authoring data of type A. The name is for messages and for
// ReadJSON. Content is compared by values, through pointers and interfaces. The baker is
// called once for each object whose Value is an A, or for which what it asked the context for has
// changed, by any goroutine, several at once. What it makes must follow from these alone: equal
// input, equal entities in equal order. An error or a panic ends the bake, with an *Error.
//
// It panics if A has a baker already, if the bakery or the function is nil, and if A has what JSON
// does not show, such as an unexported field: a change of it would go unnoticed. A type with
// methods of json.Marshaler decides itself.
func AddBaker[A any](b *Bakery, name string, bake func(c *Context, v A) error) {
	if b == nil || bake == nil {
		panic("scene: AddBaker: the bakery or the function is nil")
	}
	b.core.AddBaker(name, reflect.TypeFor[A](), onCore(func(c *Context, v any) error { return bake(c, v.(A)) }))
}

// onCore is a baker for the cores of contexts.
func onCore(f func(*Context, any) error) func(*bake.Context, any) error {
	// Safe because a Context is its core.
	return func(c *bake.Context, v any) error { return f((*Context)(unsafe.Pointer(c)), v) }
}

// AddSystem adds a baking system: a function that is called with the world of each section that is
// made anew, when all its objects are baked, after the systems that were added before. It may
// change everything but what this package registered. Entities that it creates get an Identity with
// Object 0. Entity values that lead to another section are placeholders then. The world's owner is
// the bakery, which closes it. Equal worlds must become equal worlds.
//
// It panics if the bakery or the function is nil.
func (b *Bakery) AddSystem(name string, run func(*ecs.World) error) { b.core.AddSystem(name, run) }

// ReadJSON reads objects from a list in JSON, whose values are of the type that the baker of a name
// takes:
//
//	[{"id": "inn", "section": "east", "baker": "house", "value": {"X": 1, "Doors": 2}},
//	 {"id": "sign", "section": "east", "parent": "inn", "baker": "sign", "value": {"Text": "Inn"}}]
//
// name is that of the input; an object's Place is name and line. The error joins those of objects,
// each an *Error: a baker that is not there, a field that the type does not have, a value that does
// not fit. A syntax error ends the reading.
func (b *Bakery) ReadJSON(name string, r io.Reader) ([]Object, error) {
	if r == nil {
		panic("scene: Bakery.ReadJSON: the reader is nil")
	}
	objects, err := b.core.ReadJSON(name, r)
	if err != nil {
		return nil, fmt.Errorf("scene: Bakery.ReadJSON: %w", err)
	}
	return viewOf[Object](objects), nil
}

// Report counts the work of a bake.
type Report struct {
	Objects  int // of the input
	Baked    int // for which a baker was called
	Sections []SectionReport
	Removed  []string // paths of sections that are gone
}

// SectionReport is the result of a bake for one section.
type SectionReport struct {
	Name     string
	Path     string // of its file
	Objects  int
	Entities int
	Parts    int
	Links    int  // entity values that lead to another part or section
	Written  bool // the file is new
}

var _ = bake.SectionReport(SectionReport{}) // lists of the one are viewed as lists of the other

// Bake makes the file of each section in a folder, named after the section with .world behind it,
// from all objects of a scene. Only objects that have changed since the last bake, or depend on
// what has, are baked; only files of sections that they are in, or lead to, are written. The files
// are those of a full bake, byte for byte, whatever the number of workers, as long as bakers and
// systems do as they promise. Files of sections that the last bake made and that have no object any
// more are removed.
//
// Files are made in a folder beside them, .bake- and a number, which is removed at the end. If the
// program is killed before, the next bake of the folder removes it, as it does those of others that
// were killed; that of a bake that is running in another program stays.
//
// The error joins errors of objects, each an *Error, up to 20, or one of a baking system, of the
// disk, or a *ecs.LimitError. Then no file has changed, unless the disk fails while files are
// renamed: each is the old or the new one. The bakery remembers what succeeded last.
func (b *Bakery) Bake(folder string, objects []Object) (Report, error) {
	r, err := b.core.Bake(folder, viewOf[bake.Object](objects))
	if err != nil {
		return Report{}, fmt.Errorf("scene: Bakery.Bake: %w", err)
	}
	return Report{r.Objects, r.Baked, viewOf[SectionReport](r.Sections), r.Removed}, nil
}

// Close ends the bakery; files stay.
func (b *Bakery) Close() error { return b.core.Close() }

// viewOf views a list of cores, or of pointers to them, as one of their faces, and the reverse.
func viewOf[To, From any](list []From) []To {
	// Safe because callers name a face and its core, or pointers to them.
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}
