package ecs

import (
	"cmp"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
	kinds "quarry/ecs/internal/value"
)

// Shared values. A value that archetypes share lies once in the world's Go memory, and
// an archetype is its types and, for each shared type among them, a value:
//
//	[Position Cell=3]   chunks of the entities in cell 3
//	[Position Cell=7]   chunks of those in cell 7
//
// So chunks are grouped by value without a word in a row, all that moves rows between
// archetypes moves them between values, and where layouts are alike chunks change hands
// as they are. An archetype knows its values, the index of matches (ecs/internal/match) the
// archetypes of each.
//
// Archetypes that were made for a value and have no rows any more are given up: when
// there are as many of them as others, by the next change or creation, and by World.Shrink. A value
// goes with the last archetype that has it and the last query that names it.
//
// Invariant, checked by Verify:
//
//	W11 A store has exactly the values that an archetype has or a query names. Each
//	    counts those, and is found by what it equals. An archetype has one value for each
//	    of its shared types, and its set their serials.

// value is a shared value of a world.
type value struct {
	t      *typeInfo
	v      any    // a T
	serial uint64 // number in the order in which values were made
	refs   int    // archetypes that have it, and queries that name it; 0: the store does not know it
}

// String prints the value as Cell=3, and one with long arrays in it as Cell=(long).
func (v *value) String() string { return v.t.name + "=" + textOf(v.v) }

// valueStore is the values of one type. Calls are made for each archetype or handle,
// not for each row.
type valueStore interface {
	zero() *value                                // that of the type's zero value
	same(x any) *value                           // that of x, a T: the store's, or one that it does not know
	fresh() valueStore                           // an empty store of the same type, for another world
	belong(t *typeInfo)                          // says which type that is
	worlds() (tags uint32)                       // the set of tags of entities in values
	copied(v *value, from, to entity.Tag) *value // that of v, of a world with tag from, in the store of one with tag to
	known(v *value) *value                       // the value of the store that is the same, or nil
	enter(v *value)                              // adds a value that is not known
	leave(v *value)                              // takes it out
	drop()                                       // forgets all
	each(yield func(*value))                     // in no order
	verify() error                               // checks K1 and K2 of package value
}

// values is the values of a type T, by what they equal.
type values[T comparable] struct {
	t     *typeInfo
	byGo  *kinds.Map[T, *value]
	links []Link // where a T has entities
}

// find returns the value that is the same as x, or nil.
func (s *values[T]) find(op string, x T) *value {
	if !s.byGo.Takes(x) {
		s.refuse(op, x)
	}
	return s.byGo.Get(x)
}

// refuse panics for a value that cannot be compared. It boxes x.
//
//go:noinline
func (s *values[T]) refuse(op string, x T) {
	panic(fmt.Sprintf("ecs: %s: the %s %s holds what Go cannot compare, as a slice, map or function", op, s.t.name, textOf(x)))
}

// of returns the value of x: the store's, or one that it does not know yet.
func (s *values[T]) of(op string, x T) *value {
	if v := s.find(op, x); v != nil {
		return v
	}
	return s.make(x)
}

//go:noinline
func (s *values[T]) make(x T) *value {
	return &value{t: s.t, v: x, serial: s.t.w.types.serial.Add(1)}
}

// goValue returns what a value holds. Where T is an interface a nil one has no type.
func goValue[T any](v any) T {
	x, _ := v.(T)
	return x
}

func (s *values[T]) zero() *value {
	var x T
	return s.of("NewArchetype", x)
}

func (s *values[T]) same(x any) *value { return s.of("World.MoveAll", goValue[T](x)) }

func (s *values[T]) worlds() (tags uint32) {
	if len(s.links) == 0 {
		return 0
	}
	s.each(func(v *value) {
		x := goValue[T](v.v)
		// Safe because the links are a T's.
		eachEntity(s.links, unsafe.Pointer(&x), 1, 0, func(e *Entity) {
			if *e != Null {
				tags |= 1 << entity.ID(*e).Tag().Number()
			}
		})
	})
	return tags
}

func (s *values[T]) copied(v *value, from, to entity.Tag) *value {
	x := goValue[T](v.v)
	// Safe because the links are a T's.
	eachEntity(s.links, unsafe.Pointer(&x), 1, 0, func(e *Entity) {
		if *e != Null && entity.ID(*e).Is(from) {
			*e = e.in(to)
		}
	})
	return s.of("World.Clone", x)
}

func (s *values[T]) fresh() valueStore { return newValues[T]() }

func (s *values[T]) belong(t *typeInfo) { s.t = t }

func newValues[T comparable]() *values[T] {
	t := reflect.TypeFor[T]()
	return &values[T]{byGo: kinds.NewMap[T, *value](), links: appendLinks(nil, t, 0)}
}

func (s *values[T]) known(v *value) *value { return s.find("Shared.Of", goValue[T](v.v)) }

func (s *values[T]) enter(v *value) { s.byGo.Put(goValue[T](v.v), v) }

func (s *values[T]) leave(v *value) { s.byGo.Delete(goValue[T](v.v)) }

func (s *values[T]) drop() { s.byGo = kinds.NewMap[T, *value]() }

func (s *values[T]) each(yield func(*value)) {
	for v := range s.byGo.All() {
		yield(v)
	}
}

func (s *values[T]) verify() error { return s.byGo.Verify() }

// settled returns the value that stands for v now: it may have left its store since it
// was asked for, and another have come.
func (v *value) settled() *value {
	if v.refs == 0 {
		if now := v.t.shared.known(v); now != nil {
			return now
		}
	}
	return v
}

// hold counts one more that has a settled value, or names it; letGo one less.
func (v *value) hold() {
	if v.refs == 0 {
		v.t.shared.enter(v)
	}
	v.refs++
}

func (v *value) letGo() {
	if v.refs--; v.refs == 0 {
		v.t.shared.leave(v)
	}
}

// compareSerials orders values as they were made.
func compareSerials(a, b *value) int { return cmp.Compare(a.serial, b.serial) }

// holdAll holds the values that stand for some, each once, and returns them in order.
func holdAll(list []*value) (all []*value) {
	for _, v := range list {
		v = v.settled() // as one that is held already, where several are the same
		v.hold()
		all = append(all, v)
	}
	slices.SortFunc(all, compareSerials)
	kept := all[:0]
	for i, v := range all {
		if i > 0 && v == all[i-1] {
			v.letGo()
			continue
		}
		kept = append(kept, v)
	}
	return kept
}

// valueOf returns the archetype's value of a shared type, or nil.
func (a *Archetype) valueOf(id typeID) *value {
	for _, v := range a.values {
		if v.t.id == id {
			return v
		}
	}
	return nil
}

// valuesFor returns the values of an archetype with the types of sig, in the order of
// types: those of given first, then those of a, which may be nil, then of others, and zero values.
func (w *World) valuesFor(sig *signature, given []*value, a *Archetype, others []*value) []*value {
	if !sig.Meets(&w.types.shared) {
		return nil
	}
	all := w.call.chosen[:0]
	for i := range sig {
		for word := sig[i] & w.types.shared[i]; word != 0; word &= word - 1 {
			id := typeID(i*64 + bits.TrailingZeros64(word))
			v := valueIn(given, id)
			if v == nil && a != nil {
				v = a.valueOf(id)
			}
			if v == nil {
				v = valueIn(others, id)
			}
			if v == nil {
				v = w.types.list[id].shared.zero()
			}
			all = append(all, v.settled())
		}
	}
	w.call.chosen = all
	return all
}

// valueIn returns the value of a type in a list, or nil.
func valueIn(list []*value, id typeID) *value {
	for _, v := range list {
		if v.t.id == id {
			return v
		}
	}
	return nil
}

// verifyValues checks W11.
func (w *World) verifyValues() error {
	refs, named := map[*value]int{}, map[uint64]int{} // named by serial
	for m := range w.index.Matchings() {
		for _, serial := range slices.Concat(m.Where...) {
			named[serial] += m.Queries()
		}
	}
	for _, a := range w.archetypes.list {
		at := 0
		for _, id := range a.table.Types {
			if w.types.list[id].shared == nil {
				continue
			}
			if at >= len(a.values) || a.values[at].t.id != id {
				return fmt.Errorf("ecs: W11: %v has values %v, none of %s in its place", a, a.values, w.types.list[id].name)
			}
			if v := a.values[at]; at >= len(a.table.Values) || a.table.Values[at] != v.serial {
				return fmt.Errorf("ecs: W11: %v has serials %d, that of %v is %d", a, a.table.Values, v, v.serial)
			}
			refs[a.values[at]]++
			at++
		}
		if at != len(a.values) || at != len(a.table.Values) {
			return fmt.Errorf("ecs: W11: %v has %d values for %d shared types", a, len(a.values), at)
		}
	}
	for _, t := range w.types.list {
		if t.shared == nil {
			continue
		}
		var err error
		t.shared.each(func(v *value) {
			if err == nil && (v.refs != refs[v]+named[v.serial] || v.refs == 0 || t.shared.known(v) != v) {
				err = fmt.Errorf("ecs: W11: %v counts %d; %d archetypes have it, %d queries name it", v, v.refs, refs[v], named[v.serial])
			}
			delete(refs, v)
			delete(named, v.serial)
		})
		if err != nil {
			return err
		}
		if err := t.shared.verify(); err != nil {
			return fmt.Errorf("ecs: W11: %s: %w", t.name, err)
		}
	}
	for v := range refs {
		return fmt.Errorf("ecs: W11: the store does not know %v", v)
	}
	for serial, n := range named {
		return fmt.Errorf("ecs: W11: no store knows the value with serial %d, which %d queries name", serial, n)
	}
	return nil
}
