package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Chunk is the handle of a chunk type: a component of which each chunk has one value, for all its
// entities, such as the box around them or when they were last visited. Archetypes, changes and
// terms take a Chunk like a component: entities with it lie in chunks of their own, and adding it
// to an entity moves its row. The value belongs to the chunk. Rows that come, go, or fill a gap
// take no value along and change none; the terms Changed of their components and Ordered are about
// rows.
//
// A chunk begins with the zero value. When the chunk is outgrown or shrunk, or is handed to another
// archetype with all its rows, the value stays with the rows. Where the rows of one chunk join
// those of another as a chunk, the value of both is made by the option Merge, and is zero without
// it. Changed of a chunk type passes chunks whose value was written, and those whose value the
// library set: chunks that are new, came from another archetype or were merged. docs/semantics.md
// lists when that is.
//
// All methods belong to the world's owner: one goroutine at a time. Bodies of jobs use At and
// ReadOnly.
type Chunk[T any] struct{ handle }

// RegisterChunk registers T as a chunk type of w; see Register. A T that is also registered as a
// component is a separate type there. T must hold no Go pointers, and a value has at most 16 KiB.
// The only option is Merge.
func RegisterChunk[T any](w *World, options ...TypeOption) Chunk[T] {
	info := world.ChunkOf(reflect.TypeFor[T]())
	applyOptions(info, "RegisterChunk", options)
	return Chunk[T]{handle{w.inner().Register("RegisterChunk", info)}}
}

// Merge is the option of a chunk type by which two values become one, when the rows of a chunk join
// those of another: f changes into, the value of the chunk that stays, by from, the value of the
// chunk that ends. It runs in the midst of a structural change, so it must not use the world and
// must not panic. A function that does nothing keeps the value of the chunk that stays. Merge
// panics if f is nil, and RegisterChunk if f is of another type. A type that is registered again
// keeps its first function.
func Merge[T any](f func(into, from *T)) TypeOption {
	if f == nil {
		panic("ecs: Merge: the function is nil")
	}
	return func(r *registration) {
		t := r.inner()
		switch of := reflect.TypeFor[T](); {
		case t.Kind != KindChunk:
			panic(fmt.Sprintf("ecs: Register[%s]: Merge is an option of RegisterChunk", t.Name))
		case of != t.Go:
			panic(fmt.Sprintf("ecs: RegisterChunk[%s]: Merge is of %s", world.ShortName(t.Go), world.ShortName(of)))
		}
		// Safe because values of the type are Ts.
		t.Chunk.Merge = func(into, from unsafe.Pointer) { f((*T)(into), (*T)(from)) }
	}
}

// At returns the value of the rows' chunk, or nil if the chunk lacks an Optional type. If the query
// declares Write, or the rows come from a Batch, At marks the value changed. It panics like
// Component.Slice, and the pointer is valid as long as its slice. A job that declares Write gets
// the rows of a chunk whole, so no two bodies have one value.
func (c Chunk[T]) At(rows Rows) *T {
	if rows.core.Column(c.t, "Chunk.At") == nil {
		return nil
	}
	return c.value(rows)
}

// ReadOnly is like At but does not mark the value changed.
func (c Chunk[T]) ReadOnly(rows Rows) *T {
	if _, ok := rows.core.PlaceOf(c.t, "Chunk.ReadOnly"); !ok {
		return nil
	}
	return c.value(rows)
}

// value returns the value of the chunk of rows, which has the type.
func (c Chunk[T]) value(rows Rows) *T {
	s := rows.core.Scan
	// Safe because the type's values are Ts.
	return (*T)(s.Binding.Archetype.Table.Metadata.Value(s.Binding.ColumnOf(c.t.ID).Slot(), s.Pos))
}

// Get returns the value of e's chunk for reading, or nil if e is not alive or does not have the
// type. The pointer is valid until the next structural change of the world.
func (c Chunk[T]) Get(e Entity) *T {
	p, at := c.t.OwnerLookup().LookUp(world.OpChunkGet, entity.ID(e))
	if p == nil {
		return nil
	}
	return (*T)(c.t.ValueOf(at)) // Safe because the type's values are Ts.
}

// Mut is Get for writing: it also marks the value changed.
func (c Chunk[T]) Mut(e Entity) *T {
	return (*T)(c.t.MutValue(world.OpChunkMut, entity.ID(e))) // Safe because the type's values are Ts.
}

// Add gives e the type, whose value is that of the chunk that e comes to. It returns false if e
// already has the type. It panics like Component.Add.
func (c Chunk[T]) Add(e Entity) bool { return edit.Add(c.t, "Chunk.Add", entity.ID(e)) != nil }
