package ecs

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/universe/door"
)

// Type is a handle of a registered type (a Component, a Buffer, a Managed, a Shared or a Sparse) or
// a SharedValue. Only this package implements it.
type Type interface {
	Operand
	info() *world.Type
}

// infoOf returns the Type that a handle points to.
func infoOf(op string, t Type) *world.Type {
	if t == nil {
		panic("ecs: " + op + ": a type is nil")
	}
	return t.info()
}

// idOf checks that the type belongs to w and returns its number.
func (w *World) idOf(op string, t Type) world.TypeID {
	info := infoOf(op, t)
	w.inner().CheckOwn(op, info)
	return info.ID
}

// TypeOption is an option of type registration: Enableable, Cleanup, TrackRows, MaxRows, for
// buffers Inline and Growth, for chunk types Merge, for managed types CopyWith, or for managed and
// shared types Codec.
type TypeOption func(*registration)

// registration is what options of a registration are about: a type and nothing else, whose fields
// programs cannot reach.
type registration struct{ core world.Type }

func (r *registration) inner() *world.Type { return (*world.Type)(unsafe.Pointer(r)) } // Safe because a registration is its type.

// Enableable gives every entity that has the type an enable bit. The bit is set when the type is
// added, so model what is on by default: Walk, not Stun. Terms decide which rows match, and loops
// skip the others with Rows.Each; enabling and disabling moves no rows. Enableable is itself an
// option: ecs.Register[Walk](w, ecs.Enableable).
func Enableable(r *registration) {
	if r == nil {
		panic("ecs: Enableable: the type is nil; Register calls its options")
	}
	r.core.Enableable = true
}

// Cleanup makes entities that have the type outlive World.Destroy. A destroyed entity keeps its
// Cleanup types, and has the tag CleanupEntity, until the last of those types is removed. A system
// that keeps a resource elsewhere for an entity can thus find destroyed entities with the terms
// With(the type, dying), and release the resource. World.Instantiate does not copy the type.
// Cleanup is itself an option, of components, buffers, shared and managed types.
func Cleanup(r *registration) {
	if r == nil {
		panic("ecs: Cleanup: the type is nil; Register calls its options")
	}
	r.core.Cleanup = true
}

// TrackRows gives every row of the type a change version of its own, besides that of its chunk. So
// Component.ChangedAt and ChangedSince tell of single rows, and a Changed term with Term.Masked
// matches only rows that were written. What marks the type changed in a chunk marks the rows that
// it is about: Set, Mut, enabling and disabling one row; Slice of Write and the fields W and
// BufferW of views all rows that they show, so a loop that writes few of its rows takes ReadOnly
// and MarkAt; a structural change the rows that come. Rows that fill a gap keep their version.
// TrackRows is itself an option, of components, buffers and managed types.
//
// Cost: 4 bytes in Go memory for each row that a chunk has room for; Slice of Write stores them;
// Set and Mut of one entity, and each of MutList, take about 12 ns more, and a row that comes marks
// each type. Archetypes without such a type pay nothing.
func TrackRows(r *registration) {
	if r == nil {
		panic("ecs: TrackRows: the type is nil; Register calls its options")
	}
	r.core.Tracked = true
}

// MaxRows limits how many rows chunks have whose entities have the type: to the least limit of
// their types. So chunks are units that versions, chunk components and Between tell apart, that
// jobs take, or that a program keeps something by, however small rows are. Without a limit chunks
// grow with their archetype to 1 MiB. MaxRows is an option of components, tags among them, of
// buffers and of managed types. It panics if n is less than 1.
//
// Cost: a chunk takes 16 KiB at least, or 2 KiB if it is the archetype's only one, so few rows in
// it waste the rest; and loops, look-ups and batches pay once more for each chunk. Whole chunks go
// only to archetypes that allow as many rows; other changes copy.
func MaxRows(n int) TypeOption {
	if n < 1 {
		panic(fmt.Sprintf("ecs: MaxRows: n=%d is less than 1", n))
	}
	return func(r *registration) { r.core.MaxRows = n }
}

// Inline sets how many elements of a buffer lie inside the chunk before the buffer spills to the
// heap. The default is as many as fit in 128 bytes; with 0 all elements lie on the heap. A row
// keeps its inline room after the buffer has spilled. Inline panics if n is negative.
func Inline(n int) TypeOption {
	if n < 0 {
		panic(fmt.Sprintf("ecs: Inline: n=%d is negative", n))
	}
	return func(r *registration) { r.core.Shape.Inline = n }
}

// Growth sets the growth policy of a buffer: the capacity, in elements, to which a full buffer
// grows. The default doubles the capacity. The buffer also uses what the heap block has beyond
// that.
func Growth(g alloc.Growth) TypeOption {
	return func(r *registration) {
		t := r.inner()
		if t.Kind != KindBuffer {
			panic(fmt.Sprintf("ecs: Register[%s]: Growth is an option of RegisterBuffer", t.Name))
		}
		t.Shape.Growth = door.Policy(g)
	}
}

// apply applies the options of a registration. It panics for an option that the kind of type does
// not support.
func applyOptions(t *world.Type, op string, options []TypeOption) {
	op += "[" + world.ShortName(t.Go) + "]"
	if t.Kind != KindBuffer {
		t.Shape = world.NoShape
	}
	for _, o := range options {
		if o == nil {
			panic("ecs: " + op + ": an option is nil")
		}
		o((*registration)(unsafe.Pointer(t))) // Safe because a registration is its type.
	}
	if why := t.OptionsRefusal(); why != "" {
		panic("ecs: " + op + ": " + why)
	}
	if t.Kind != KindBuffer {
		t.Shape = value.Shape{}
	}
}
