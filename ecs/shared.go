package ecs

import (
	"fmt"
	"reflect"
	"slices"

	"quarry/ecs/internal/value"
)

// Shared is the handle of a shared type: entities with the same value of it are together
// in chunks, and the value is there once. T is any comparable Go type, pointers and
// strings included; values are the same when they are ==, or differ in nothing but in
// NaNs. The first of several that are the same is kept: of -0 and 0 the one that came
// first.
//
// Giving an entity another value moves its row, as adding a component does. Rows of
// many values cost memory: each value has chunks of its own, 2 KiB at least.
//
// All methods belong to the world's owner: one goroutine at a time.
type Shared[T comparable] struct {
	t *typeInfo
	s *value.Values[T]
}

// RegisterShared makes T a shared type of w; see Register. Its only option is Cleanup.
func RegisterShared[T comparable](w *World, options ...TypeOption) Shared[T] {
	t := reflect.TypeFor[T]()
	info := typeInfo{rtype: t, name: shortName(t), align: 1, shared: value.NewValues[T](linksOf[T]())}
	info.apply("RegisterShared", options)
	registered := w.register("RegisterShared", info)
	return Shared[T]{registered, registered.shared.(*value.Values[T])}
}

func (c Shared[T]) info() *typeInfo { return c.t }

func (c Shared[T]) operand() operand { return operand{t: c.t} }

// String returns the type's name.
func (c Shared[T]) String() string { return handle{c.t}.String() }

// Of returns v for archetypes, changes and terms: NewArchetype(w, position, team.Of(Red)).
// The world keeps it while an archetype has it or a query names it.
func (c Shared[T]) Of(v T) SharedValue {
	if c.t == nil || c.t.w.closed {
		c.t.world().refuse("Shared.Of")
	}
	c.check("Shared.Of", v)
	return SharedValue{c.t, c.s.Of(v)}
}

// check panics for a value that cannot be compared.
func (c Shared[T]) check(op string, x T) {
	if !c.s.Takes(x) {
		c.refuse(op, x)
	}
}

// refuse boxes x.
//
//go:noinline
func (c Shared[T]) refuse(op string, x T) {
	panic(fmt.Sprintf("ecs: %s: the %s %s holds what Go cannot compare, as a slice, map or function", op, c.t.name, textOf(x)))
}

// SharedValue is a value of a shared type; see Shared.Of. It is a Type, that of the
// value, for NewArchetype, Add, Put and Where, and no others. Two of one value need not be ==.
type SharedValue struct {
	t *typeInfo
	v *value.Shared
}

func (v SharedValue) info() *typeInfo { return v.t }

func (v SharedValue) operand() operand { return operand{t: v.t} }

// String prints the value as Team=Red.
func (v SharedValue) String() string {
	if v.v == nil {
		return "no value"
	}
	return v.t.textOf(v.v)
}

// Get returns e's value, and false when e is not alive or has none.
func (c Shared[T]) Get(e Entity) (v T, ok bool) {
	r := c.t.world().recordOf("Shared.Get", e)
	if r == nil {
		return v, false
	}
	return c.in(c.t.w.archetypeAt(c.t.w.tables.OwnerOf(r.Location)))
}

// in returns the value of the entities of an archetype, and false where they have none.
func (c Shared[T]) in(a *Archetype) (v T, ok bool) {
	if shared := a.valueOf(c.t.id); shared != nil {
		return value.As[T](shared), true
	}
	return v, false
}

// At returns the value of all entities of the rows, and false where they have none. The
// query need not declare the type.
func (c Shared[T]) At(rows Rows) (v T, ok bool) {
	s := rows.check("Shared.At")
	if c.t == nil || s.w != c.t.w {
		rows.refuse(c.t, "Shared.At")
	}
	return c.in(s.t.a)
}

// Has reports whether e is alive and has a value.
func (c Shared[T]) Has(e Entity) bool { return handle{c.t}.Has(e) }

// Add gives e the value. It returns false, and keeps the old one, when e has one. It
// panics like Component.Add.
func (c Shared[T]) Add(e Entity, v T) bool {
	added, err := c.TryAdd(e, v)
	if err != nil {
		panic(err)
	}
	return added
}

// TryAdd is Add that returns the *LimitError.
func (c Shared[T]) TryAdd(e Entity, v T) (bool, error) {
	return c.give("Shared.Add", e, v, true)
}

// Set gives e the value in place of the one that it has, which moves e's row. It
// returns false when e is not alive or has none. It panics during iteration, and with
// a *LimitError when there is no room. To change many see Put.
func (c Shared[T]) Set(e Entity, v T) bool {
	set, err := c.TrySet(e, v)
	if err != nil {
		panic(err)
	}
	return set
}

// TrySet is Set that returns the *LimitError.
func (c Shared[T]) TrySet(e Entity, v T) (bool, error) {
	return c.give("Shared.Set", e, v, false)
}

// Remove takes the value from e. It returns false when e is not alive or has none, and
// panics like Component.Add.
func (c Shared[T]) Remove(e Entity) bool { return c.t.remove("Shared.Remove", e) }

// TryRemove is Remove that returns the *LimitError.
func (c Shared[T]) TryRemove(e Entity) (bool, error) { return c.t.tryRemove("Shared.Remove", e) }

// Values appends the values that entities have to dst, those that came first in front.
// Cost: for each value, and each archetype.
func (c Shared[T]) Values(dst []T) []T {
	c.t.world().checkHandle("Shared.Values")
	var used []*value.Shared
	for v := range c.s.All() {
		if c.t.w.lenOf(v) > 0 {
			used = append(used, v)
		}
	}
	slices.SortFunc(used, value.CompareSerials)
	for _, v := range used {
		dst = append(dst, value.As[T](v))
	}
	return dst
}

// Len returns how many entities have the value. Cost: for each archetype that has it.
func (c Shared[T]) Len(v T) int {
	c.t.world().checkHandle("Shared.Len")
	c.check("Shared.Len", v)
	if shared := c.s.Find(v); shared != nil {
		return c.t.w.lenOf(shared)
	}
	return 0
}

// lenOf returns how many entities have a value.
func (w *World) lenOf(v *value.Shared) (n int) {
	for _, set := range w.index.Sharers(v.Serial) {
		n += whole(set).table.Store.Len()
	}
	return n
}

// give moves e to the archetype with a value, where it has another, or none when adds.
func (c Shared[T]) give(op string, e Entity, x T, adds bool) (bool, error) {
	w := c.t.world()
	w.checkChange(op)
	r := w.find(e)
	if r == nil {
		if adds {
			c.t.refuseDead(op, e)
		}
		return w.passDead(op, e), nil
	}
	a := w.archetypeAt(w.tables.OwnerOf(r.Location))
	old := a.valueOf(c.t.id)
	if (old == nil) != adds {
		return false, nil
	}
	c.check(op, x)
	v := c.s.Of(x)
	if v == old {
		return true, nil
	}
	before, sig := len(w.archetypes.list), a.table.Sig
	sig.Add(c.t.id)
	given := [1]*value.Shared{v}
	to, err := w.archetypeOf(sig, w.valuesFor(make([]*value.Shared, 0, usualValues), &sig, given[:], a, nil))
	if err != nil {
		return false, during(op, err)
	}
	return w.take(op, a.pathTo(to), e, r, before)
}

// With returns the archetype that has the same types and other values: those given for
// their types, which must be among the archetype's, the archetype's own for others. It panics with
// a *LimitError when there is no room.
func (a *Archetype) With(given ...SharedValue) *Archetype {
	const op = "Archetype.With"
	if a == nil || a.w == nil {
		panic("ecs: " + op + ": " + unmade["Archetype"])
	}
	w := a.w
	w.checkNew(op)
	list := make([]*value.Shared, 0, usualValues)
	for _, s := range given {
		w.checkOwn(op, s.t)
		if !a.table.Sig.Has(s.t.id) {
			panic(fmt.Sprintf("ecs: %s: %v: %v has no %s", op, s, a, s.t.name))
		}
		if valueIn(list, s.t.id) != nil {
			panic(fmt.Sprintf("ecs: %s: %s is given twice", op, s.t.name))
		}
		list = append(list, s.v)
	}
	to, err := w.archetypeOf(a.table.Sig, w.valuesFor(make([]*value.Shared, 0, usualValues), &a.table.Sig, list, a, nil))
	if err != nil {
		panic(during(op, err))
	}
	return to
}
