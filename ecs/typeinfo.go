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
	info() *typeInfo
}

// typeInfo is what a world knows of a registered type. A handle is a pointer to
// it, so what handles can do that does not depend on T is here, and is compiled once
// and not for each type.
type typeInfo struct {
	w     *World
	tag   uint32 // of the world, as are table and base: each look-up asks for them
	id    typeID
	table *table
	base  unsafe.Pointer
	size  int // bytes of an element of the column; 0 for a tag
	directory

	rtype      reflect.Type
	name       string         // for messages: Position, []Hit for a buffer
	align      int            // alignment of an element of the column in bytes
	fields     []layout.Field // bytes of a value that are not padding
	element    int            // buffers: bytes of one element; else 0
	inline     int            // buffers: elements that fit the chunk
	growth     alloc.Growth   // buffers: of the room in elements
	buffer     bool
	enableable bool
}

// world returns the world of a handle's type, nil for a zero handle.
func (t *typeInfo) world() *World {
	if t == nil {
		return nil
	}
	return t.w
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

func shortName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// register enters a type, or finds it.
func (w *World) register(op string, info typeInfo) *typeInfo {
	op += "[" + shortName(info.rtype) + "]"
	w.checkNew(op)
	if err := layout.PointerFree(info.rtype); err != nil {
		panic(fmt.Sprintf("ecs: %s: %v; components must hold no Go pointers, for they lie outside the garbage collector's heap", op, err))
	}
	if most := layout.MaxChunkSize; int(info.rtype.Size()) > most {
		panic(&LimitError{Op: op, Limit: "bytes of a value", Max: most})
	}
	key := typeKey{info.rtype, info.buffer}
	if id, ok := w.byType[key]; ok {
		if old := w.types[id]; old.enableable != info.enableable || old.inline != info.inline || old.growth != info.growth {
			panic("ecs: " + op + ": registered before with other options")
		}
		return w.types[id]
	}
	w.checkUnshared(op)
	if len(w.types) == MaxTypes {
		panic(&LimitError{Op: op, Limit: "component types a world", Max: MaxTypes})
	}
	info.fields = layout.Fields(info.rtype, reflect.TypeFor[Entity]())
	info.w, info.tag, info.table, info.base, info.id = w, w.tag, w.records.table, w.base, typeID(len(w.types))
	w.byType[key] = info.id
	w.types = append(w.types, &info)
	return &info
}

func (t *typeInfo) info() *typeInfo { return t }

func (t *typeInfo) operand() operand { return operand{t: t} }

// String returns the type's name; that of a buffer is [] and the element's.
func (t *typeInfo) String() string {
	if t == nil {
		return "unregistered"
	}
	return t.name
}

// Has reports whether e is alive and has the type, enabled or not.
func (t *typeInfo) Has(e Entity) bool {
	p, _ := t.find(opHas, e)
	return p != nil
}

// Remove takes the type from e, with the elements of a buffer. It returns false when
// e is not alive or does not have it, and panics like Component.Add.
func (t *typeInfo) Remove(e Entity) bool { return t.remove("Component.Remove", e) }

// TryRemove is Remove that returns the *LimitError: the row may need a chunk in
// the archetype that it moves to.
func (t *typeInfo) TryRemove(e Entity) (bool, error) { return t.tryRemove("Component.Remove", e) }

// Enable switches e's component on. It returns false when e is not alive or
// does not have it, and panics when the type is not Enableable. It may be
// called during iteration: a loop's masks are snapshots and do not change.
func (t *typeInfo) Enable(e Entity) bool { return t.toggle("Component.Enable", e, true) }

// Disable switches e's component off: queries that name it pass e by, while Has
// and Get still find it. It returns and panics like Enable.
func (t *typeInfo) Disable(e Entity) bool { return t.toggle("Component.Disable", e, false) }

// Enabled reports whether e is alive and has the component, switched on. A type
// that is not Enableable is always on.
func (t *typeInfo) Enabled(e Entity) bool { return t.enabled("Component.Enabled", e) }

// EnableQuery switches the component on for every entity that matches q and has it,
// and returns how many those are. Rows that do not match stay as they are: to switch
// all on, ask for ecs.Present or ecs.Disabled of the component. It may be called inside
// a loop, whose masks do not change, but not while the world is shared. It panics when
// the type is not Enableable. Cost: per 64 rows.
func (t *typeInfo) EnableQuery(q *Query) int { return t.toggleQuery("Component.EnableQuery", q, true) }

// DisableQuery switches the component off; see EnableQuery.
func (t *typeInfo) DisableQuery(q *Query) int {
	return t.toggleQuery("Component.DisableQuery", q, false)
}

// EnableList switches the component on for the entities of a list that are alive and
// have it, and returns how many those are, each counted once. It panics like
// EnableQuery, and for an entity of another world, before anything changes.
func (t *typeInfo) EnableList(list []Entity) int {
	return t.toggleList("Component.EnableList", list, true)
}

// DisableList switches the component off; see EnableList.
func (t *typeInfo) DisableList(list []Entity) int {
	return t.toggleList("Component.DisableList", list, false)
}

// In reports whether the rows' chunk has the type, which Optional and Any, and
// batches over several archetypes, leave open. It panics for a type that the query does
// not declare.
func (t *typeInfo) In(rows Rows) bool { return rows.in(t, "Component.In") }

// Changed reports whether the component may have changed in the rows' chunk
// since a version: whether it was opened for writing, enabled or disabled, or rows
// came in after it. Since version 0 everything has changed. It panics like
// Component.Slice, and returns false where the chunk lacks an Optional type.
func (t *typeInfo) Changed(rows Rows, since uint32) bool {
	p, ok := rows.placeOf(t, "Component.Changed")
	return ok && newer(rows.s.t.a.changedAt(p.slot(), rows.s.pos), since)
}

// Mark marks the component changed in the rows' chunk, as Component.Slice does. It
// panics when the query does not declare Write of it.
func (t *typeInfo) Mark(rows Rows) {
	p, ok := rows.placeOf(t, "Component.Mark")
	switch {
	case !ok:
	case p.flags()&mayWrite == 0:
		rows.refuse(t, "Component.Mark")
	default:
		*rows.s.t.a.changedOf(p.slot(), rows.s.pos) = t.w.version
	}
}
