package world

import (
	"errors"
	"fmt"
	"reflect"

	"quarry/ecs/internal/table"
	"quarry/layout"
)

// MaxTypes is the maximum number of component types of a world, including the four built-in types.
const MaxTypes = table.MaxTypes

// Facts returns the facts that registration declared about a type.
func (info *Type) Facts() Facts {
	if info == nil {
		panic("ecs: door.FactsOf: " + Unmade["Component"])
	}
	return Facts{
		Kind: info.Kind, Enableable: info.Enableable, Cleanup: info.Cleanup, Links: info.Links,
	}
}

// CheckOwn panics unless the type belongs to w.
func (w *World) CheckOwn(op string, t *Type) {
	switch {
	case t == nil:
		panic("ecs: " + op + ": " + Unmade["Component"])
	case t.World != w:
		panic(fmt.Sprintf("ecs: %s: %s was registered in another world", op, t.Name))
	}
}

// WorldOrNil returns the world of the type, or nil for a zero handle.
func (t *Type) WorldOrNil() *World {
	if t == nil {
		return nil
	}
	return t.World
}

// Planned describes the type as a column for the layout planner.
func (t *Type) Planned() layout.Column {
	return layout.Column{Name: t.Name, Size: t.Size, Align: t.Align, Enableable: t.Enableable}
}

type (
	// Location is the place of an entity.
	Location = table.Location
	// Place is where a type's column lies in chunks.
	Place = table.Place
	owner = table.Owner // which chunk a row block belongs to
	// Column is a type with storage in chunks.
	Column = table.Column
)

// Key returns the identity of the type.
func (t *Type) Key() TypeKey {
	return TypeKey{t.Go, t.Kind}
}

// ShortName returns the name of a Go type without its package.
func ShortName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// ErrManyTypes explains the limit of types and how to stay below it. A larger set would cost every
// world that needs none: matching and each first move between archetypes go through all words of a
// signature.
var ErrManyTypes = errors.New("a set of types is 128 B, a bit for each, in every archetype, query and change " +
	"(make one type of those that always come together, variants of a type values of a field or of a shared type, or use a second world)")

// Register registers a type for the named call, or finds it if it is registered already.
func (w *World) Register(call string, info *Type) *Type {
	op := func() string { return call + "[" + ShortName(info.Go) + "]" }
	if w == nil || w.Universe == nil || w.Closed {
		w.CheckNew(op())
	}
	if err := info.reflect(); err != nil {
		panic(
			fmt.Sprintf("ecs: %s: %v; components must hold no Go pointers, for they lie outside the garbage collector's heap; RegisterManaged takes any type",
				op(), err))
	}
	if most := layout.MaxChunkSize; info.Kind == KindBuffer && int(info.Go.Size()) > most {
		panic(&LimitError{Op: op(), Limit: "bytes of an element", Max: most})
	}
	if most := layout.ChunkSize; info.Kind == KindChunk && info.Chunk.Bytes > most {
		panic(&LimitError{Op: op(), Limit: "bytes of a chunk component", Max: most})
	}
	if id, ok := w.Types.Find(info.Key()); ok {
		if !w.Types.List[id].IsLike(info) {
			panic("ecs: " + op() + ": registered before with other options")
		}
		return w.Types.List[id]
	}
	if len(w.Loops.Borrows) > 0 {
		w.CheckNotLent(op())
		w.EndBorrows(op())
	}
	for _, t := range w.Types.List[:min(len(w.Types.List), int(BuiltIn))] {
		if t.Go == info.Go {
			panic(fmt.Sprintf(
				"ecs: %s: %s is built in as another kind: RegisterBuffer has LinkedEntity, Register the others",
				op(), info.Name))
		}
	}
	if len(w.Types.List) == MaxTypes {
		panic(&LimitError{Op: op(), Limit: "component types a world", Max: MaxTypes, Err: ErrManyTypes})
	}
	if info.Size > layout.ChunkSize/4 { // no archetype could hold it
		if _, err := table.PlanOf(info.Planned()); err != nil {
			panic(WithOp(op(), planLimit(err)))
		}
	}
	w.AddType(info)
	return info
}

// reflect sets the facts that follow from the Go type. It returns the error that names a Go pointer
// in a value that is to lie in a chunk.
func (t *Type) reflect() error {
	of := GoTypeOf(t.Go)
	if t.Codec == nil && t.GoValues() {
		t.Codec = t.methodCodec()
	}
	if t.Kind == KindShared {
		return nil // its values know their own links, see linksOf
	}
	t.Links = of.Links
	if t.Kind == KindManaged {
		return nil
	}
	t.Fields = of.fields
	return of.pointers
}

// AddType adds a new type, which has been checked, to the world. The world keeps the info.
func (w *World) AddType(info *Type) {
	info.World, info.ID = w, TypeID(len(w.Types.List))
	info.Type, info.Spill, info.Writes = info, w.Buffers.OwnerSpill(), true
	info.Grant(true, true)
	w.Types.add(info)
	of := info.Tabled()
	switch info.Kind {
	case KindShared:
		info.Shared.Open(int(info.ID), &w.Types.serial)
	case KindSparse:
		info.Sparse.open(info)
	case KindBuffer:
		of.Buffers = &w.Buffers
	}
	w.Tables.Register(of)
}

// Tabled describes the type to tables, but for the heap of a buffer.
func (t *Type) Tabled() table.Type {
	return table.Type{Layout: t.Planned(), Managed: t.Managed, Chunk: t.Chunk, Tracked: t.Tracked, MaxRows: t.MaxRows,
		Lookups: &t.LookupTable}
}

// Copied returns the Type that registers the same type in another world.
func (t *Type) Copied() *Type {
	c := &Type{Go: t.Go, Name: t.Name, Lookup: Lookup{Size: t.Size, Shape: t.Shape}, Align: t.Align,
		Kind: t.Kind, Chunk: t.Chunk, Codec: t.Codec, Enableable: t.Enableable, Cleanup: t.Cleanup, Tracked: t.Tracked,
		MaxRows: t.MaxRows}
	switch t.Kind {
	case KindShared:
		c.Shared = t.Shared.Fresh()
	case KindManaged:
		c.Managed = t.Managed.Fresh()
	case KindSparse:
		c.Sparse = &SparseSet{}
	}
	return c
}

// IsLike reports whether two registrations of a type have the same options.
func (t *Type) IsLike(other *Type) bool {
	return t.Enableable == other.Enableable && t.Shape == other.Shape && t.Cleanup == other.Cleanup &&
		t.Tracked == other.Tracked && t.MaxRows == other.MaxRows &&
		t.mergesLike(other) && t.Copies() == other.Copies() &&
		(t.Codec != nil && t.Codec.Given) == (other.Codec != nil && other.Codec.Given)
}

// Facts is the declaration of a type at its registration.
type Facts struct {
	Kind                Kind
	Enableable, Cleanup bool   // options
	Links               []Link // entities in a value, or in an element of a buffer; read-only
}

// IndexOf returns the number of a type, or -1 if it is nil or of another world.
func (w *World) IndexOf(t *Type) int {
	if t == nil || t.World != w {
		return -1
	}
	return int(t.ID)
}
