package ecs

import (
	"fmt"
	"reflect"

	"quarry/alloc"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/seam/under"
	"quarry/layout"
)

// MaxTypes is the number of component types of a world, the four built-in ones
// included.
const MaxTypes = table.MaxTypes

// typeID numbers the component types of a world in order of registration.
type typeID = table.TypeID

// signature is a set of types.
type signature = table.Signature

// Type is a handle of a registered type: a Component, a Buffer, a Managed or a Shared,
// or a SharedValue. Only this package implements it.
type Type interface {
	Operand
	info() *typeInfo
}

// noShape is that of a type that is no buffer, until its options were looked at.
var noShape = value.Shape{Inline: -1}

// typeInfo is what a world knows of a registered type.
type typeInfo struct {
	finder  // of the owner's look-ups; first, see own
	w       *World
	id      typeID
	readers int32 // borrows that are out and read the type
	writers int32 // those that write it

	rtype      reflect.Type
	name       string          // for messages: Position, []Hit for a buffer, managed Conn
	align      int             // alignment of an element of the column in bytes
	fields     []layout.Field  // bytes of a value that are not padding
	links      []under.Link    // where a value has entities
	shared     value.AnyValues // shared types: the values; else nil
	managed    value.Managed   // managed types: the values; else nil
	buffer     bool
	enableable bool
	cleanup    bool // see Cleanup
}

// factsOf returns what registration said of a type.
func factsOf(t Type) under.Facts {
	info := infoOf("seam.FactsOf", t)
	if info == nil {
		panic("ecs: seam.FactsOf: " + unmade["Component"])
	}
	return under.Facts{
		Buffer: info.buffer, Shared: info.shared != nil, Managed: info.managed != nil,
		Enableable: info.enableable, Cleanup: info.cleanup, Links: info.links,
	}
}

// infoOf returns what a handle points to.
func infoOf(op string, t Type) *typeInfo {
	if t == nil {
		panic("ecs: " + op + ": a type is nil")
	}
	return t.info()
}

// idOf returns the type's number after checking that it is one of w's.
func (w *World) idOf(op string, t Type) typeID {
	info := infoOf(op, t)
	w.checkOwn(op, info)
	return info.id
}

// checkOwn panics unless a type is one of w's.
func (w *World) checkOwn(op string, t *typeInfo) {
	switch {
	case t == nil:
		panic("ecs: " + op + ": " + unmade["Component"])
	case t.w != w:
		panic(fmt.Sprintf("ecs: %s: %s was registered in another world", op, t.name))
	}
}

// world returns the world of a handle's type, nil for a zero handle.
func (t *typeInfo) world() *World {
	if t == nil {
		return nil
	}
	return t.w
}

// planned describes a type for plans.
func (t *typeInfo) planned() layout.Column {
	return layout.Column{Name: t.name, Size: t.size, Align: t.align, Enableable: t.enableable}
}

// location says where an entity is; owner which chunk a part of memory belongs to; place where a
// type lies in chunks; column a type with storage there.
type (
	location = table.Location
	owner    = table.Owner
	place    = table.Place
	column   = table.Column
)

// typeKey is what makes types different: a Go type may be registered once as each kind.
type typeKey struct {
	rtype                   reflect.Type
	buffer, shared, managed bool
}

func (t *typeInfo) key() typeKey {
	return typeKey{t.rtype, t.buffer, t.shared != nil, t.managed != nil}
}

// TypeOption changes how a type is registered: Enableable; Cleanup; Inline and Growth of a
// buffer.
type TypeOption func(*typeInfo)

// Enableable gives every entity that has the type a bit that says whether it is
// enabled; new ones are, so the type to switch is what should work from the start:
// Walk, not Stun. Terms say which rows match, loops pass the others by with
// Rows.Each, and nothing moves. It is an option itself: ecs.Register[Walk](w, ecs.Enableable).
func Enableable(t *typeInfo) {
	if t == nil {
		panic("ecs: Enableable: the type is nil; Register calls its options")
	}
	t.enableable = true
}

// Cleanup makes entities that have the type outlive World.Destroy: they keep their Cleanup
// types, and have CleanupEntity, until the last of those is removed. So a system that keeps
// something for an entity elsewhere finds those that died, by With(the type, dying), and lets it
// go. World.Instantiate does not copy it. It is an option itself, of all kinds of types.
func Cleanup(t *typeInfo) {
	if t == nil {
		panic("ecs: Cleanup: the type is nil; Register calls its options")
	}
	t.cleanup = true
}

// Inline sets how many elements of a buffer lie inside the chunk before it
// spills to the heap; the default is 128 bytes' worth. It panics for a negative
// number.
func Inline(n int) TypeOption {
	if n < 0 {
		panic(fmt.Sprintf("ecs: Inline: n=%d is negative", n))
	}
	return func(t *typeInfo) { t.shape.Inline = n }
}

// Growth sets how much room a buffer has, in elements, after it must grow; the
// default is doubling. What the heap gives beyond that is used too.
func Growth(g alloc.Growth) TypeOption {
	return func(t *typeInfo) {
		if !t.buffer {
			panic(fmt.Sprintf("ecs: Register[%s]: Growth is an option of RegisterBuffer", t.name))
		}
		t.shape.Growth = g
	}
}

// apply calls the options of a registration. It panics for one that the kind of type does not have.
func (t *typeInfo) apply(op string, options []TypeOption) {
	op += "[" + shortName(t.rtype) + "]"
	if !t.buffer {
		t.shape = noShape
	}
	for _, o := range options {
		if o == nil {
			panic("ecs: " + op + ": an option is nil")
		}
		o(t)
	}
	switch {
	case t.buffer:
		return
	case t.shared != nil && (t.enableable || t.shape != noShape):
		panic("ecs: " + op + ": the only option of shared types is Cleanup")
	case t.shape != noShape:
		panic("ecs: " + op + ": Inline is an option of RegisterBuffer")
	}
	t.shape = value.Shape{}
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
	inChunk := info.shared == nil && info.managed == nil
	if err := layout.PointerFree(info.rtype); err != nil && inChunk {
		panic(fmt.Sprintf("ecs: %s: %v; components must hold no Go pointers, for they lie outside the garbage collector's heap; RegisterManaged takes any type", op, err))
	}
	if most := layout.MaxChunkSize; info.buffer && int(info.rtype.Size()) > most {
		panic(&LimitError{Op: op, Limit: "bytes of an element", Max: most})
	}
	key := info.key()
	if id, ok := w.types.byKey[key]; ok {
		if !w.types.list[id].isLike(&info) {
			panic("ecs: " + op + ": registered before with other options")
		}
		return w.types.list[id]
	}
	w.checkUnshared(op)
	w.endBorrows(op)
	for _, t := range w.types.list[:min(len(w.types.list), int(builtIn))] {
		if t.rtype == info.rtype {
			panic(fmt.Sprintf("ecs: %s: %s is built in as another kind: RegisterBuffer has LinkedEntity, Register the others", op, info.name))
		}
	}
	if len(w.types.list) == MaxTypes {
		panic(&LimitError{Op: op, Limit: "component types a world", Max: MaxTypes})
	}
	if _, err := table.PlanOf(info.planned()); err != nil { // no archetype could have it
		panic(during(op, planLimit(err)))
	}
	if inChunk {
		info.fields = layout.Fields(info.rtype, reflect.TypeFor[Entity]())
	}
	if info.shared == nil {
		info.links = appendLinks(nil, info.rtype, 0)
	}
	info.w, info.id = w, typeID(len(w.types.list))
	info.t, info.spill, info.writes = &info, w.buffers.Own(), true
	info.grant(true, true)
	w.types.byKey[key] = info.id
	if info.shared != nil {
		w.types.shared.Add(info.id)
		info.shared.Open(int(info.id), &w.types.serial)
	}
	if info.cleanup {
		w.types.cleanup.Add(info.id)
	}
	w.types.list = append(w.types.list, &info)
	of := table.Type{Layout: info.planned(), Managed: info.managed, Sight: &info.Sight}
	if info.buffer {
		of.Buffers = &w.buffers
	}
	w.tables.Register(of)
	return &info
}

// copied returns what registers the same type in another world.
func (t *typeInfo) copied() typeInfo {
	c := typeInfo{rtype: t.rtype, name: t.name, finder: finder{size: t.size, shape: t.shape}, align: t.align,
		buffer: t.buffer, enableable: t.enableable, cleanup: t.cleanup}
	if t.shared != nil {
		c.shared = t.shared.Fresh()
	}
	if t.managed != nil {
		c.managed = t.managed.Fresh()
	}
	return c
}

// isLike reports whether two registrations of a type have the same options.
func (t *typeInfo) isLike(other *typeInfo) bool {
	return t.enableable == other.enableable && t.shape == other.shape && t.cleanup == other.cleanup
}
