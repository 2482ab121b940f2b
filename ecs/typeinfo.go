package ecs

import (
	"errors"
	"fmt"
	"reflect"

	"quarry/alloc"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/seam/under"
	"quarry/layout"
)

// MaxTypes is the maximum number of component types of a world, including the four built-in types.
const MaxTypes = table.MaxTypes

// typeID numbers a world's component types in order of registration.
type typeID = table.TypeID

// signature is a set of types.
type signature = table.Signature

// Type is a handle of a registered type (a Component, a Buffer, a Managed, a Shared or a Sparse) or
// a SharedValue. Only this package implements it.
type Type interface {
	Operand
	info() *typeInfo
}

// noShape is the shape of a type that is not a buffer, until its options have been checked.
var noShape = value.Shape{Inline: -1}

// typeInfo holds everything that a world knows about a registered type.
type typeInfo struct {
	finder  // serves the owner's look-ups; the first field, see own
	w       *World
	id      typeID
	readers int32 // active borrows that read the type
	writers int32 // active borrows that write the type

	ordered uint32 // latest order version of archetypes with the type that were retired, see World.OrderVersion

	kind       Kind
	rtype      reflect.Type
	name       string           // for messages: Position, []Hit for a buffer, managed Conn
	align      int              // alignment of a column element in bytes
	fields     []layout.Field   // bytes of a value that are not padding
	links      []under.Link     // where a value holds entities
	shared     value.AnyValues  // the values of a shared type; nil for other kinds
	managed    value.Managed    // the values of a managed type; nil for other kinds
	sparse     *sparseSet       // the values of a sparse type; nil for other kinds
	chunk      *table.ChunkType // the values of a chunk type; nil for other kinds
	codec      *valueCodec      // of a managed or shared type; nil: there is none, see codec.go
	enableable bool
	cleanup    bool // see Cleanup
	tracked    bool // see TrackRows
	maxRows    int  // see MaxRows; 0: no limit

	live *typeInfo // the world's type, of which this is a snapshot's copy; nil: it is none
}

// factsOf returns what registration declared about a type.
func factsOf(t Type) under.Facts {
	info := infoOf("seam.FactsOf", t)
	if info == nil {
		panic("ecs: seam.FactsOf: " + unmade["Component"])
	}
	return under.Facts{
		Kind: uint8(info.kind), Enableable: info.enableable, Cleanup: info.cleanup, Links: info.links,
	}
}

// infoOf returns the typeInfo that a handle points to.
func infoOf(op string, t Type) *typeInfo {
	if t == nil {
		panic("ecs: " + op + ": a type is nil")
	}
	return t.info()
}

// idOf checks that the type belongs to w and returns its number.
func (w *World) idOf(op string, t Type) typeID {
	info := infoOf(op, t)
	w.checkOwn(op, info)
	return info.id
}

// indexOf returns the number of the type, or -1 if the type is nil, the zero value, or of another
// world.
func (w *World) indexOf(t Type) int {
	if t == nil {
		return -1
	}
	info := t.info()
	if info == nil || info.w != w {
		return -1
	}
	return int(info.id)
}

// checkOwn panics unless the type belongs to w.
func (w *World) checkOwn(op string, t *typeInfo) {
	switch {
	case t == nil:
		panic("ecs: " + op + ": " + unmade["Component"])
	case t.w != w:
		// errors.md, Types, terms and handles: `was registered in another world` | A handle of
		// another world. | Handles are of one world; register there.
		panic(fmt.Sprintf("ecs: %s: %s was registered in another world", op, t.name))
	}
}

// world returns the world of the type, or nil for a zero handle.
func (t *typeInfo) world() *World {
	if t == nil {
		return nil
	}
	return t.w
}

// planned describes the type as a column for the layout planner.
func (t *typeInfo) planned() layout.Column {
	return layout.Column{Name: t.name, Size: t.size, Align: t.align, Enableable: t.enableable}
}

// A location says where an entity is, an owner which chunk a stretch of memory belongs to, a place
// where a type's column lies in chunks; a column is a type with storage in chunks.
type (
	location = table.Location
	owner    = table.Owner
	place    = table.Place
	column   = table.Column
)

// typeKey identifies a type: a Go type may be registered once as each kind.
type typeKey struct {
	rtype reflect.Type
	kind  Kind
}

func (t *typeInfo) key() typeKey {
	return typeKey{t.rtype, t.kind}
}

// TypeOption is an option of type registration: Enableable, Cleanup, TrackRows, MaxRows, for
// buffers Inline and Growth, for chunk types Merge, for managed types CopyWith, or for managed and
// shared types Codec.
type TypeOption func(*typeInfo)

// Enableable gives every entity that has the type an enable bit. The bit is set when the type is
// added, so model what is on by default: Walk, not Stun. Terms decide which rows match, and loops
// skip the others with Rows.Each; enabling and disabling moves no rows. Enableable is itself an
// option: ecs.Register[Walk](w, ecs.Enableable).
func Enableable(t *typeInfo) {
	if t == nil {
		panic("ecs: Enableable: the type is nil; Register calls its options")
	}
	t.enableable = true
}

// Cleanup makes entities that have the type outlive World.Destroy. A destroyed entity keeps its
// Cleanup types, and has the tag CleanupEntity, until the last of those types is removed. A system
// that keeps a resource elsewhere for an entity can thus find destroyed entities with the terms
// With(the type, dying), and release the resource. World.Instantiate does not copy the type.
// Cleanup is itself an option, of components, buffers, shared and managed types.
func Cleanup(t *typeInfo) {
	if t == nil {
		panic("ecs: Cleanup: the type is nil; Register calls its options")
	}
	t.cleanup = true
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
func TrackRows(t *typeInfo) {
	if t == nil {
		panic("ecs: TrackRows: the type is nil; Register calls its options")
	}
	t.tracked = true
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
		// errors.md, Types, terms and handles: `ecs: MaxRows: n=... is less than 1` | A chunk has a
		// row at least. | Leave the option out for no limit.
		panic(fmt.Sprintf("ecs: MaxRows: n=%d is less than 1", n))
	}
	return func(t *typeInfo) { t.maxRows = n }
}

// Inline sets how many elements of a buffer lie inside the chunk before the buffer spills to the
// heap. The default is as many as fit in 128 bytes; with 0 all elements lie on the heap. A row
// keeps its inline room after the buffer has spilled. Inline panics if n is negative.
func Inline(n int) TypeOption {
	if n < 0 {
		panic(fmt.Sprintf("ecs: Inline: n=%d is negative", n))
	}
	return func(t *typeInfo) { t.shape.Inline = n }
}

// Growth sets the growth policy of a buffer: the capacity, in elements, to which a full buffer
// grows. The default doubles the capacity. The buffer also uses what the heap block has beyond
// that.
func Growth(g alloc.Growth) TypeOption {
	return func(t *typeInfo) {
		if t.kind != KindBuffer {
			panic(fmt.Sprintf("ecs: Register[%s]: Growth is an option of RegisterBuffer", t.name))
		}
		t.shape.Growth = g
	}
}

// apply applies the options of a registration. It panics for an option that the kind of type does
// not support.
func (t *typeInfo) apply(op string, options []TypeOption) {
	op += "[" + shortName(t.rtype) + "]"
	if t.kind != KindBuffer {
		t.shape = noShape
	}
	for _, o := range options {
		if o == nil {
			panic("ecs: " + op + ": an option is nil")
		}
		o(t)
	}
	if t.options()&^kinds[t.kind].options != 0 {
		// errors.md, Types, terms and handles: `is an option of RegisterBuffer`, `the options of
		// shared types are Cleanup and Codec`, `the only option of sparse types is Enableable`,
		// `the only option of chunk types is Merge`, `Merge is an option of RegisterChunk` | An
		// option of another kind of type: one that says something of rows, for a value that belongs
		// to a chunk or an archetype, or `Cleanup` of a sparse type, whose values end with Destroy.
		// | Leave it out; for a sparse type, a component with `Cleanup` beside it, or a buffer.
		panic("ecs: " + op + ": " + kinds[t.kind].refusal)
	}
	if t.kind != KindBuffer {
		t.shape = value.Shape{}
	}
}

func shortName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// errManyTypes says why there is a limit of types, and what to do about it. A larger set would cost
// every world that needs none: matching and each first move between archetypes go through all words
// of a signature.
var errManyTypes = errors.New("a set of types is 128 B, a bit for each, in every archetype, query and change " +
	"(make one type of those that always come together, variants of a type values of a field or of a shared type, or use a second world)")

// register registers a type, or finds it if it is registered already.
func (w *World) register(op string, info *typeInfo) *typeInfo {
	op += "[" + shortName(info.rtype) + "]"
	w.checkNew(op)
	if err := info.reflect(); err != nil {
		// errors.md, Types, terms and handles: `components must hold no Go pointers, for they lie
		// outside the garbage collector's heap; RegisterManaged takes any type` | The type has a
		// string, slice, map, pointer or function; the text says where. | Text and lists are
		// buffers, links are entities; `RegisterManaged` or `RegisterShared` for the rest.
		panic(fmt.Sprintf("ecs: %s: %v; components must hold no Go pointers, for they lie outside the garbage collector's heap; RegisterManaged takes any type", op, err))
	}
	if most := layout.MaxChunkSize; info.kind == KindBuffer && int(info.rtype.Size()) > most {
		panic(&LimitError{Op: op, Limit: "bytes of an element", Max: most})
	}
	if most := layout.ChunkSize; info.kind == KindChunk && info.chunk.Bytes > most {
		panic(&LimitError{Op: op, Limit: "bytes of a chunk component", Max: most})
	}
	if id, ok := w.types.find(info.key()); ok {
		if !w.types.list[id].isLike(info) {
			// errors.md, Types, terms and handles: `registered before with other options` |
			// `Register` again, with other options. | Register in one place and hand the handle on.
			panic("ecs: " + op + ": registered before with other options")
		}
		return w.types.list[id]
	}
	w.checkUnshared(op)
	w.endBorrows(op)
	for _, t := range w.types.list[:min(len(w.types.list), int(builtIn))] {
		if t.rtype == info.rtype {
			// errors.md, Types, terms and handles: `is built in as another kind` | `LinkedEntity`,
			// `Prefab` and so on, registered by the wrong call. | As it says.
			panic(fmt.Sprintf("ecs: %s: %s is built in as another kind: RegisterBuffer has LinkedEntity, Register the others", op, info.name))
		}
	}
	if len(w.types.list) == MaxTypes {
		panic(&LimitError{Op: op, Limit: "component types a world", Max: MaxTypes, Err: errManyTypes})
	}
	if _, err := table.PlanOf(info.planned()); err != nil { // no archetype could hold it
		panic(during(op, planLimit(err)))
	}
	w.enroll(info)
	return info
}

// reflect sets what follows from the Go type. It returns the error that names a Go pointer in a
// value that is to lie in a chunk.
func (t *typeInfo) reflect() error {
	of := goTypeOf(t.rtype)
	if t.codec == nil && t.goValues() {
		t.codec = t.methodCodec()
	}
	if t.kind == KindShared {
		return nil // its values know their own links, see linksOf
	}
	t.links = of.links
	if t.kind == KindManaged {
		return nil
	}
	t.fields = of.fields
	return of.pointers
}

// enroll adds a new type, which has been checked, to the world. The world keeps the info.
func (w *World) enroll(info *typeInfo) {
	info.w, info.id = w, typeID(len(w.types.list))
	info.t, info.spill, info.writes = info, w.buffers.Own(), true
	info.grant(true, true)
	w.types.add(info)
	of := info.tabled()
	switch info.kind {
	case KindShared:
		info.shared.Open(int(info.id), &w.types.serial)
	case KindSparse:
		info.sparse.open(info)
	case KindBuffer:
		of.Buffers = &w.buffers
	}
	w.tables.Register(of)
}

// tabled describes the type to tables, but for the heap of a buffer.
func (t *typeInfo) tabled() table.Type {
	return table.Type{Layout: t.planned(), Managed: t.managed, Chunk: t.chunk, Tracked: t.tracked, MaxRows: t.maxRows, Sight: &t.Sight}
}

// copied returns the typeInfo that registers the same type in another world.
func (t *typeInfo) copied() *typeInfo {
	c := &typeInfo{rtype: t.rtype, name: t.name, finder: finder{size: t.size, shape: t.shape}, align: t.align,
		kind: t.kind, chunk: t.chunk, codec: t.codec, enableable: t.enableable, cleanup: t.cleanup, tracked: t.tracked, maxRows: t.maxRows}
	switch t.kind {
	case KindShared:
		c.shared = t.shared.Fresh()
	case KindManaged:
		c.managed = t.managed.Fresh()
	case KindSparse:
		c.sparse = &sparseSet{}
	}
	return c
}

// isLike reports whether two registrations of a type have the same options.
func (t *typeInfo) isLike(other *typeInfo) bool {
	return t.enableable == other.enableable && t.shape == other.shape && t.cleanup == other.cleanup && t.tracked == other.tracked && t.maxRows == other.maxRows &&
		t.mergesLike(other) && t.copies() == other.copies() && (t.codec != nil && t.codec.given) == (other.codec != nil && other.codec.given)
}
