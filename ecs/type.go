package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/universe/door"
)

// Type is a handle of a registered type (a Component, a Buffer, a Managed, a Shared, a Sparse or a
// Chunk) or a SharedValue. Only this package implements it.
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
// shared types Codec. Sparse types take Enableable alone, shared types Cleanup and Codec, chunk
// types Merge.
type TypeOption func(*registration)

// registration is what options of a registration are about: a type and nothing else, whose fields
// programs cannot reach.
type registration struct{ core world.Type }

func (r *registration) inner() *world.Type {
	return (*world.Type)(unsafe.Pointer(r)) // Safe because a registration is its type.
}

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
// Component.ChangedAt and ChangedSince are exact to the row, and a Changed term with Term.Masked
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
// their types. So chunks are the units of versions, chunk components, Between and jobs, and of data
// that a program keeps, however small rows are. Without a limit chunks grow with their archetype to
// 1 MiB. MaxRows is an option of components, tags among them, of buffers and of managed types. It
// panics if n is less than 1.
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

// applyOptions applies the options of a registration. It panics for an option that the kind of type
// does not support.
func applyOptions(t *world.Type, op string, options []TypeOption) {
	refuse := func(why string) { panic("ecs: " + op + "[" + world.ShortName(t.Go) + "]: " + why) }
	if t.Kind != KindBuffer {
		t.Shape = world.NoShape
	}
	for _, o := range options {
		if o == nil {
			refuse("an option is nil")
		}
		o((*registration)(unsafe.Pointer(t))) // Safe because a registration is its type.
	}
	if why := t.OptionsRefusal(); why != "" {
		refuse(why)
	}
	if t.Kind != KindBuffer {
		t.Shape = value.Shape{}
	}
}

// Kind is the way in which the values of a registered type are stored.
type Kind = world.Kind

// The kinds of registered types.
const (
	KindComponent = world.KindComponent // a column of values; a tag has size 0 and no column
	KindBuffer    = world.KindBuffer    // a dynamic buffer
	KindShared    = world.KindShared    // one value for all entities of an archetype
	KindManaged   = world.KindManaged   // values in Go memory
	KindSparse    = world.KindSparse    // values in a set beside the chunks
	KindChunk     = world.KindChunk     // one value for all entities of a chunk
)

// Prefab is the tag of entities that serve as patterns for others. Queries skip them unless a term
// names Prefab or is IncludePrefabs. Register it like any type.
type Prefab struct{}

// DisabledEntity is the tag of entities that are disabled as a whole. Queries skip them unless a
// term names DisabledEntity or is IncludeDisabled. Register it like any type.
type DisabledEntity struct{}

// CleanupEntity is the tag of entities that were destroyed and still have Cleanup types. Register
// it like any type to query it. Only World.Destroy adds it, and it ends with the last Cleanup type
// of the entity.
type CleanupEntity struct{}

// LinkedEntity is a buffer element: the buffer of an entity that heads a group lists the other
// members. World.Destroy of the head destroys the members too, unless the head already has the tag
// CleanupEntity. Buffers of members do not count. Dead members, the head itself and entities of
// other worlds are skipped. Register it by RegisterBuffer without options. For hierarchies, see
// package hierarchy.
type LinkedEntity struct{ Entity Entity }

func init() {
	world.TypeOfHandle = Type.info
	world.Declare(reflect.TypeFor[Entity](), reflect.TypeFor[DisabledEntity](), reflect.TypeFor[Prefab](),
		reflect.TypeFor[CleanupEntity](), reflect.TypeFor[LinkedEntity]())
}

// Codec is the option of managed and shared types by which world files, and deltas of shared
// values, have their values: encode appends the bytes of a value to b and returns the result,
// decode makes a zero value what encode wrote. Without it a type's methods do that, if T or *T is
// an encoding.BinaryAppender or BinaryMarshaler and an encoding.BinaryUnmarshaler. Shared types of
// numbers and texts need neither. A managed type whose values no file is to have gets an encode
// that appends nothing; two shared values that are decoded to the same one are an error of the
// save.
//
// encode is called once for each row with a value, by the goroutine that saves: the owner if a
// world is saved, else any, several at once if several save. It changes nothing. Equal states make
// equal files if it appends the same bytes for the same value, so one that goes through a map sorts
// the keys. What values share by pointers is written for each, and no longer shared afterwards.
// decode is called by the goroutine that opens a file, before the world has entities to look up,
// and for shared values by the goroutine that saves too, to compare them; it copies what it keeps
// of b. Neither makes a structural change of the world, which refuses it. An error or a panic of
// either ends the call with an error that names the type and the entity: no byte is written, no
// world is made.
//
// Codec panics if a function is nil, and RegisterManaged or RegisterShared if the functions are of
// another type. A type that is registered again keeps its first codec.
func Codec[T any](encode func(b []byte, v *T) ([]byte, error), decode func(b []byte, v *T) error) TypeOption {
	if encode == nil || decode == nil {
		panic("ecs: Codec: a function is nil")
	}
	return func(r *registration) {
		t := r.inner()
		switch of := reflect.TypeFor[T](); {
		case !t.GoValues():
			panic(fmt.Sprintf("ecs: Register[%s]: Codec is an option of RegisterManaged and RegisterShared", t.Name))
		case of != t.Go:
			panic(fmt.Sprintf("ecs: Register[%s]: Codec is of %s", t.Name, world.ShortName(of)))
		}
		// Safe because callers pass pointers to values of the type.
		t.Codec = &world.ValueCodec{Given: true,
			Append: func(b []byte, p unsafe.Pointer) ([]byte, error) { return encode(b, (*T)(p)) },
			Read:   func(b []byte, p unsafe.Pointer, _ reflect.Type) error { return decode(b, (*T)(p)) }}
	}
}
