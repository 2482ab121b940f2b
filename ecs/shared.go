package ecs

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Shared is the handle of a shared type. Entities with equal values of the type lie together in
// chunks, and the value is stored once. T is any comparable Go type, including pointers and
// strings. Two values are equal if they are ==, or if they differ only in NaNs. Of several equal
// values the first one is kept, for example the first of -0 and 0.
//
// Giving an entity another value moves its row, as adding a component does. Many values cost
// memory: each value has chunks of its own, at least 2 KiB.
//
// All methods belong to the world's owner: one goroutine at a time.
type Shared[T comparable] struct {
	sharedHandle
	s *value.Values[T]
}

// sharedHandle has the methods of Shared that do not depend on T, so they are compiled once.
type sharedHandle struct{ t *world.Type }

func (h sharedHandle) info() *world.Type { return h.t }

func (h sharedHandle) operand() query.Operand { return query.Operand{Type: h.t} }

// String returns the type's name.
func (h sharedHandle) String() string { return handle(h).String() }

// Has reports whether e is alive and has a value.
func (h sharedHandle) Has(e Entity) bool { return handle(h).Has(e) }

// Remove removes the value from e. It returns false if e is not alive or has no value, and panics
// like Component.Add.
func (h sharedHandle) Remove(e Entity) bool { return edit.Remove(h.t, "Shared.Remove", entity.ID(e)) }

// RegisterShared registers T as a shared type of w; see Register. Its options are Cleanup and
// Codec.
func RegisterShared[T comparable](w *World, options ...TypeOption) Shared[T] {
	t := reflect.TypeFor[T]()
	info := &world.Type{
		Go: t, Name: world.ShortName(t), Align: 1, Kind: KindShared, Shared: value.NewValues[T](linksOf[T]()),
	}
	applyOptions(info, "RegisterShared", options)
	registered := w.inner().Register("RegisterShared", info)
	return Shared[T]{sharedHandle{registered}, registered.Shared.(*value.Values[T])}
}

// Of returns v as an argument for archetypes, changes and terms, as in NewArchetype(w, position,
// team.Of(Red)). The world keeps the value while an archetype has it or a query names it; an
// archetype of NewArchetype has it until World.Close, see Archetype.With.
func (c Shared[T]) Of(v T) SharedValue {
	if c.t == nil || c.t.World.Closed {
		c.t.WorldOrNil().Refuse("Shared.Of")
	}
	c.check("Shared.Of", v)
	return SharedValue{core: world.SharedValue{Type: c.t, Value: c.s.Of(v)}}
}

// check panics for a value that cannot be compared.
func (c Shared[T]) check(op string, x T) {
	if !c.s.Takes(x) {
		c.refuse(op, x)
	}
}

// refuse panics out of line, because it boxes x.
//
//go:noinline
func (c Shared[T]) refuse(op string, x T) {
	panic(fmt.Sprintf("ecs: %s: the %s %s holds what Go cannot compare, as a slice, map or function",
		op, c.t.Name, world.TextOf(x)))
}

// SharedValue is a value of a shared type; see Shared.Of. It implements Type, but only
// NewArchetype, Add, Put and Where accept it. Two SharedValues of one value are not necessarily ==.
type SharedValue struct{ core world.SharedValue }

func (v SharedValue) info() *world.Type { return v.core.Type }

func (v SharedValue) operand() query.Operand { return query.Operand{Type: v.core.Type} }

// String returns the type and the value, as in Team=Red.
func (v SharedValue) String() string { return v.core.String() }

// Get returns e's value, and false if e is not alive or has no value.
func (c Shared[T]) Get(e Entity) (v T, ok bool) {
	r := c.t.WorldOrNil().RecordOf("Shared.Get", entity.ID(e))
	if r == nil {
		return v, false
	}
	return c.in(archetypeFrom(c.t.World.ArchetypeAt(c.t.World.Tables.OwnerOf(r.Location))))
}

// in returns the value that an archetype's entities share, and false if they have none.
func (c Shared[T]) in(a *Archetype) (v T, ok bool) {
	if shared := a.inner().ValueOf(c.t.ID); shared != nil {
		return value.As[T](shared), true
	}
	return v, false
}

// At returns the value that all entities of the rows share, and false if they have none. The query
// need not declare the type.
func (c Shared[T]) At(rows Rows) (v T, ok bool) {
	s := rows.core.Check("Shared.At")
	if c.t == nil || s.World != c.t.World {
		rows.core.Refuse(c.t, "Shared.At")
	}
	return c.in(archetypeFrom(s.Binding.Archetype))
}

// Add gives e the value. It returns false and keeps the old value if e already has one. It panics
// like Component.Add.
func (c Shared[T]) Add(e Entity, v T) bool {
	return c.give("Shared.Add", e, v, true)
}

// Set replaces e's value, which moves e's row. It returns false if e is not alive or has no value.
// It panics inside a loop over rows, and with a *LimitError if there is no room. To change many
// entities, see Put.
func (c Shared[T]) Set(e Entity, v T) bool {
	return c.give("Shared.Set", e, v, false)
}

// Values appends to dst the values that entities have, in the order in which the values were first
// used. Cost: proportional to the number of values and their archetypes.
func (c Shared[T]) Values(dst []T) []T {
	c.t.WorldOrNil().CheckHandle("Shared.Values")
	var used []*value.Shared
	for v := range c.s.All() {
		if c.t.World.LenOf(v) > 0 {
			used = append(used, v)
		}
	}
	slices.SortFunc(used, value.CompareSerials)
	for _, v := range used {
		dst = append(dst, value.As[T](v))
	}
	return dst
}

// Len returns the number of entities that have the value. Cost: proportional to the number of
// archetypes that have it.
func (c Shared[T]) Len(v T) int {
	c.t.WorldOrNil().CheckHandle("Shared.Len")
	c.check("Shared.Len", v)
	if shared := c.s.Find(v); shared != nil {
		return c.t.World.LenOf(shared)
	}
	return 0
}

// give moves e to the archetype with the value x. It acts only on an entity without a value if adds
// is set, and only on an entity with a value otherwise.
func (c Shared[T]) give(op string, e Entity, x T, adds bool) bool {
	w := c.t.WorldOrNil()
	w.CheckChange(op)
	r := w.Find(entity.ID(e))
	if r == nil {
		if adds {
			c.t.RefuseDead(op, entity.ID(e))
		}
		return w.PassDead(op, entity.ID(e))
	}
	a := w.ArchetypeAt(w.Tables.OwnerOf(r.Location))
	old := a.ValueOf(c.t.ID)
	if (old == nil) != adds {
		return false
	}
	c.check(op, x)
	v := c.s.Of(x)
	if v == old {
		return true
	}
	before, sig := len(w.Archetypes.List), a.Table.Sig
	sig.Add(c.t.ID)
	given := [1]*value.Shared{v}
	to, err := w.ArchetypeOf(sig, w.ValuesFor(make([]*value.Shared, 0, world.UsualValues), &sig, given[:], a, nil))
	if err != nil {
		panic(world.WithOp(op, err))
	}
	moved, err := edit.MoveBy(w, op, a.TransitionTo(to), entity.ID(e), r, before)
	if err != nil {
		panic(err)
	}
	return moved
}

// With returns the archetype with the same types and other shared values. The given values replace
// the archetype's own; all other values stay. With panics for a value whose type the archetype
// lacks and for a type that is given twice. It takes no memory off the heap.
func (a *Archetype) With(given ...SharedValue) *Archetype {
	const op = "Archetype.With"
	if a == nil || a.core.World == nil {
		panic("ecs: " + op + ": " + world.Unmade["Archetype"])
	}
	w := a.core.World
	w.CheckNew(op)
	list := make([]*value.Shared, 0, world.UsualValues)
	for _, s := range given {
		w.CheckOwn(op, s.core.Type)
		if !a.core.Table.Sig.Has(s.core.Type.ID) {
			panic(fmt.Sprintf("ecs: %s: %v: %v has no %s; name the value in NewArchetype", op, s, a, s.core.Type.Name))
		}
		if world.ValueIn(list, s.core.Type.ID) != nil {
			panic(fmt.Sprintf("ecs: %s: %s is given twice", op, s.core.Type.Name))
		}
		list = append(list, s.core.Value)
	}
	to, err := w.ArchetypeOf(a.core.Table.Sig,
		w.ValuesFor(make([]*value.Shared, 0, world.UsualValues), &a.core.Table.Sig, list, a.inner(), nil))
	if err != nil {
		panic(world.WithOp(op, err))
	}
	return archetypeFrom(to)
}

// linksOf returns a function that visits the entities in a T, or nil if a T has none.
func linksOf[T any]() func(x *T, visit func(*entity.ID)) {
	links := world.GoTypeOf(reflect.TypeFor[T]()).Links
	if len(links) == 0 {
		return nil
	}
	return func(x *T, visit func(*entity.ID)) {
		// Safe because the links are a T's.
		world.EachEntity(links, unsafe.Pointer(x), 1, 0, idVisit(func(e *Entity) { visit((*entity.ID)(e)) }))
	}
}
