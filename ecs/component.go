package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/alloc"
	"quarry/layout"
)

// MaxTypes is the number of component types of a world, the two built-in ones
// included.
const MaxTypes = 1024

// typeID numbers the component types of a world in order of registration.
type typeID uint16

// Type is a handle of a registered type: a Component or a Buffer. Only this
// package implements it.
type Type interface {
	Operand
	handle() (*World, typeID)
}

// typeInfo is what a world knows of a registered type.
type typeInfo struct {
	rtype      reflect.Type
	name       string         // for messages: Position, []Hit for a buffer
	size       int            // bytes of an element of the column; 0 for a tag
	align      int            // alignment of an element of the column in bytes
	fields     []layout.Field // bytes of a value that are not padding
	element    int            // buffers: bytes of one element; else 0
	inline     int            // buffers: elements that fit the chunk
	growth     alloc.Growth   // buffers: of the room in elements
	buffer     bool
	enableable bool
}

type typeKey struct {
	rtype  reflect.Type
	buffer bool
}

// TypeOption changes how a type is registered: Enableable; Inline and Growth of a
// buffer.
type TypeOption func(*typeInfo)

// Enableable gives every entity that has the type a bit that says whether it is
// enabled; new ones are, so the type to switch is what should work from the start:
// Walk, not Stun. Terms say which rows match, loops pass the others by with
// Rows.Each, and nothing moves. It is an option itself: ecs.Register[Walk](w, ecs.Enableable).
func Enableable(t *typeInfo) { t.enableable = true }

// Inline sets how many elements of a buffer lie inside the chunk before it
// spills to the heap; the default is 128 bytes' worth. It panics for a negative
// number.
func Inline(n int) TypeOption {
	if n < 0 {
		panic(fmt.Sprintf("ecs: Inline: n=%d is negative", n))
	}
	return func(t *typeInfo) { t.inline = n }
}

// Growth sets how much room a buffer has, in elements, after it must grow; the
// default is doubling. What the heap gives beyond that is used too.
func Growth(g alloc.Growth) TypeOption {
	return func(t *typeInfo) {
		if !t.buffer {
			panic(fmt.Sprintf("ecs: Register[%s]: Growth is an option of RegisterBuffer", t.name))
		}
		t.growth = g
	}
}

// Component is the handle of a component type. A type without fields is a tag:
// entities have it or not, and it takes no room.
//
// All methods belong to the world's owner: one goroutine at a time.
type Component[T any] struct {
	w  *World
	id typeID
	d  *directory // of id
}

// Register makes T a component type of w and returns its handle; a second call
// for the same type returns the same handle. It panics when T holds a Go
// pointer, with the path to it, when T was registered with other options, and
// with a *LimitError for more than MaxTypes types or a type of over 1 MiB.
func Register[T any](w *World, options ...TypeOption) Component[T] {
	t := reflect.TypeFor[T]()
	info := typeInfo{rtype: t, name: shortName(t), size: int(t.Size()), align: t.Align(), inline: -1}
	for _, o := range options {
		o(&info)
	}
	if info.inline >= 0 {
		panic(fmt.Sprintf("ecs: Register[%s]: Inline is an option of RegisterBuffer", info.name))
	}
	info.inline = 0
	id := w.register("Register", info)
	return Component[T]{w, id, w.directories[id]}
}

func shortName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// register enters a type, or finds it.
func (w *World) register(op string, info typeInfo) typeID {
	if w.closed {
		panic(fmt.Sprintf("ecs: %s[%s]: the world is closed", op, info.name))
	}
	if err := layout.PointerFree(info.rtype); err != nil {
		panic(fmt.Sprintf("ecs: %s[%s]: %v; components must hold no Go pointers, for they lie outside the garbage collector's heap",
			op, shortName(info.rtype), err))
	}
	if most := layout.MaxChunkSize; int(info.rtype.Size()) > most {
		panic(&LimitError{Op: op + "[" + shortName(info.rtype) + "]", Limit: "bytes of a value", Max: most})
	}
	key := typeKey{info.rtype, info.buffer}
	if id, ok := w.byType[key]; ok {
		if old := &w.types[id]; old.enableable != info.enableable || old.inline != info.inline || old.growth != info.growth {
			panic(fmt.Sprintf("ecs: %s[%s]: registered before with other options", op, shortName(info.rtype)))
		}
		return id
	}
	w.checkUnshared(op + "[" + shortName(info.rtype) + "]")
	if len(w.types) == MaxTypes {
		panic(&LimitError{Op: op + "[" + shortName(info.rtype) + "]", Limit: "component types a world", Max: MaxTypes})
	}
	info.fields = layout.Fields(info.rtype, reflect.TypeFor[Entity]())
	id := typeID(len(w.types))
	w.types = append(w.types, info)
	w.directories = append(w.directories, &directory{w: w, tag: w.tag, table: w.records.table, base: w.base, id: id, size: uintptr(info.size)})
	w.byType[key] = id
	return id
}

func (c Component[T]) handle() (*World, typeID) { return c.w, c.id }

// String returns the type's name.
func (c Component[T]) String() string { return nameOf(c.w, c.id) }

func nameOf(w *World, id typeID) string {
	if w == nil {
		return "unregistered"
	}
	return w.types[id].name
}

// Has reports whether e is alive and has the component, enabled or not.
func (c Component[T]) Has(e Entity) bool {
	p, _ := c.d.find(opHas, e)
	return p != nil
}

// Get returns e's component to read, or nil when e is not alive or does not
// have it. The pointer is good until the next structural change of the world. A loop
// over rows may look up any entity, whatever its query declares. Of hundreds in no
// order GetMany is faster.
func (c Component[T]) Get(e Entity) *T { return value[T](c.d.find(opGet, e)) }

// Mut is Get for writing: it marks the component changed in e's chunk. The mark is set
// now, not when the pointer is written through: after a loop with Changed has ended take
// it again.
func (c Component[T]) Mut(e Entity) *T { return value[T](c.d.mut(opMut, e)) }

// Set writes e's component and marks it changed. It returns false when e is not
// alive or does not have it.
func (c Component[T]) Set(e Entity, v T) bool {
	p := value[T](c.d.mut(opSet, e))
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Add gives e the component with value v. It returns false, and keeps the old
// value, when e has it already. It panics when e is not alive, during
// iteration, and with a *LimitError when there is no room; the world is as it
// was then. Cost: one move of e's row to another archetype.
func (c Component[T]) Add(e Entity, v T) bool {
	p := c.w.add("Component.Add", e, c.id)
	if p == nil {
		return false
	}
	*(*T)(p) = v // Safe because add returns the place of a T.
	return true
}

// TryAdd is Add that returns the *LimitError.
func (c Component[T]) TryAdd(e Entity, v T) (bool, error) {
	if err := c.w.ready("Component.Add", e, c.id, true); err != nil {
		return false, err
	}
	return c.Add(e, v), nil
}

// Remove takes the component from e. It returns false when e is not alive or
// does not have it, and panics like Add.
func (c Component[T]) Remove(e Entity) bool {
	return c.w.remove("Component.Remove", e, c.id)
}

// TryRemove is Remove that returns the *LimitError: the row may need a chunk in
// the archetype that it moves to.
func (c Component[T]) TryRemove(e Entity) (bool, error) {
	if err := c.w.ready("Component.Remove", e, c.id, false); err != nil {
		return false, err
	}
	return c.Remove(e), nil
}

// Slice returns the component's column of rows, one element per row, and nil where
// the chunk lacks an Optional type. When the query declares Write, or the rows come
// from a Batch, the column is marked changed. It panics for a type that the query
// does not declare, for rows of another world and for rows that are no longer
// current. The slice is good until the next structural change. It has rows that do
// not match, too: see Rows.Each. Nothing stops a write to what was declared Read,
// but no version tells of it.
func (c Component[T]) Slice(rows Rows) []T {
	return slice[T](rows.s, rows.base, rows.span, c.w, uint(c.id))
}

// slice is Rows.column and sliceOf in one, for a loop over one row is little else. Its
// arguments are single words: of structs that come in registers the compiler writes every
// pointer to the stack.
func slice[T any](s *scan, base unsafe.Pointer, span uint64, w *World, id uint) []T {
	if s != nil && uint32(span) == s.serial && s.w == w {
		t := s.t
		if i := id - t.lowest; i < uint(len(t.columns)) {
			p := t.columns[i]
			if p.use&mayWrite != 0 {
				*t.a.changedOf(p.slot(), s.pos) = w.version
			} else if p.use&mayRead == 0 {
				goto missing
			}
			var v T
			at := uintptr(p.offset)*s.scale + uintptr(s.first)*unsafe.Sizeof(v)
			n := span >> (64 - spanBits)
			// Safe because the column holds one T per row of the chunk, and the n rows from
			// the first on lie inside it, see sliceOf.
			return (*[mostRows]T)(unsafe.Add(base, at))[:n:n]
		}
	}
missing:
	Rows{s, base, span}.missing(w, typeID(id), "Component.Slice")
	return nil
}

// sliceOf returns a column's elements of the rows.
func sliceOf[T any](rows Rows, column unsafe.Pointer) []T {
	n := rows.Len()
	// Safe because the column holds one T per row of the chunk and the n rows from the
	// first on lie inside it. No more than mostRows rows are, so this form of
	// unsafe.Slice needs no check.
	return (*[mostRows]T)(unsafe.Pointer(element[T](column, rows.s.first)))[:n:n]
}

// element returns the row'th T of a column.
func element[T any](column unsafe.Pointer, row int) *T {
	var t T
	// Safe because the caller's row is one of the chunk's rows, and the column
	// has room for them all.
	return (*T)(unsafe.Add(column, uintptr(row)*unsafe.Sizeof(t)))
}
