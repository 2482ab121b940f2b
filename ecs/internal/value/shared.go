package value

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"quarry/ecs/internal/entity"
)

// Shared values. A value that archetypes share lies once in Go memory, and whoever has it has a
// pointer to it. It comes to the store of its type with the first that holds it, and goes with the
// last. One that is made before, to be asked for, is not known yet, so there may be several that are the same:
//
//	Of(3) -> a, not known     Of(3) -> b, not known
//	a.Hold: known, held by 1  b.Settled() == a
//
// Invariant, checked by Verify beside K1 and K2:
//
//	K3 Somebody holds each value of a store. It counts how many do, and is found by what it equals.

// Shared is a value of a shared type.
type Shared struct {
	Serial uint64 // number in the order in which values were made
	Type   int    // number of the type
	store  AnyValues
	v      any // of the store's type
	refs   int // how many hold it; 0: the store does not know it
}

// Any returns what the value is in Go. A nil value of an interface type has no type.
func (v *Shared) Any() any { return v.v }

// As returns what a value of type T is in Go.
func As[T any](v *Shared) T {
	x, _ := v.v.(T)
	return x
}

// Settled returns the value that stands for v now: it may have left its store since it
// was asked for, and another have come.
func (v *Shared) Settled() *Shared {
	if v.refs == 0 {
		if now := v.store.known(v); now != nil {
			return now
		}
	}
	return v
}

// Hold counts one more that has a settled value, or names it.
func (v *Shared) Hold() {
	if v.refs == 0 {
		v.store.enter(v)
	}
	v.refs++
}

// LetGo takes back one Hold.
func (v *Shared) LetGo() {
	if v.refs--; v.refs == 0 {
		v.store.leave(v)
	}
}

// CompareSerials orders values as they were made.
func CompareSerials(a, b *Shared) int { return cmp.Compare(a.Serial, b.Serial) }

// HoldAll holds the values that stand for some, each once, and returns them in order.
func HoldAll(list []*Shared) (all []*Shared) {
	for _, v := range list {
		v = v.Settled() // as one that is held already, where several are the same
		v.Hold()
		all = append(all, v)
	}
	slices.SortFunc(all, CompareSerials)
	kept := all[:0]
	for i, v := range all {
		if i > 0 && v == all[i-1] {
			v.LetGo()
			continue
		}
		kept = append(kept, v)
	}
	return kept
}

// AnyValues is a [Values] without the type of its values. Calls are made for each archetype
// or handle, not for each row.
type AnyValues interface {
	Open(number int, serials *atomic.Uint64)         // gives the type its number, and values theirs; before all else
	Zero() *Shared                                   // that of the type's zero value
	Copy(v *Shared, rename func(*entity.ID)) *Shared // that of v, of any store of the type, whose entities are renamed; nil: as they are
	Entities(visit func(entity.ID))                  // shows the entities in all values
	Fresh() AnyValues                                // an empty one for the same type
	Drop()                                           // forgets all
	All() iter.Seq[*Shared]                          // those that are held, in no order
	// Verify checks K1 to K3 of a store beside how many hold each value.
	Verify(held map[*Shared]int) error

	known(v *Shared) *Shared // the value of the store that is the same, or nil
	enter(v *Shared)         // adds a value that is not known
	leave(v *Shared)         // takes it out
}

// Values are the values of a shared type T.
type Values[T comparable] struct {
	number  int
	serials *atomic.Uint64 // the last that was given
	byGo    *Map[T, *Shared]
	links   func(x *T, visit func(*entity.ID)) // shows the entities in x; nil: a T has none
}

// NewValues returns an empty store, which is to be opened. Links shows the entities in a value; nil
// says that a T has none.
func NewValues[T comparable](links func(x *T, visit func(*entity.ID))) *Values[T] {
	return &Values[T]{byGo: NewMap[T, *Shared](), links: links}
}

// Open gives the type its number, and its values their serials.
func (s *Values[T]) Open(number int, serials *atomic.Uint64) { s.number, s.serials = number, serials }

// Takes reports whether x can be a value, which Go must be able to compare. See [Map.Takes].
func (s *Values[T]) Takes(x T) bool { return s.byGo.Takes(x) }

// Find returns the value that is the same as x, which Takes, or nil.
func (s *Values[T]) Find(x T) *Shared { return s.byGo.Get(x) }

// Of returns the value of x, which Takes: the store's, or one that it does not know yet.
func (s *Values[T]) Of(x T) *Shared {
	if v := s.Find(x); v != nil {
		return v
	}
	return s.make(x)
}

// make is apart, for x moves to Go's heap in it.
//
//go:noinline
func (s *Values[T]) make(x T) *Shared {
	return &Shared{Serial: s.serials.Add(1), Type: s.number, store: s, v: x}
}

// Zero returns the value of the zero T.
func (s *Values[T]) Zero() *Shared { return s.Of(*new(T)) }

// Copy returns the value that is the same as v, which is of any store of T, with its entities renamed.
func (s *Values[T]) Copy(v *Shared, rename func(*entity.ID)) *Shared {
	x := As[T](v)
	if s.links != nil && rename != nil {
		s.links(&x, rename)
	}
	return s.Of(x)
}

// Entities calls visit for the entities in all values.
func (s *Values[T]) Entities(visit func(entity.ID)) {
	if s.links == nil {
		return
	}
	for v := range s.All() {
		x := As[T](v)
		s.links(&x, func(e *entity.ID) { visit(*e) })
	}
}

// Fresh returns an empty store of the same type, which is to be opened.
func (s *Values[T]) Fresh() AnyValues { return NewValues(s.links) }

// Drop forgets all values, whoever holds them.
func (s *Values[T]) Drop() { s.byGo = NewMap[T, *Shared]() }

// All yields the values that are held, in no order.
func (s *Values[T]) All() iter.Seq[*Shared] { return s.byGo.All() }

func (s *Values[T]) known(v *Shared) *Shared { return s.Find(As[T](v)) }

func (s *Values[T]) enter(v *Shared) { s.byGo.Put(As[T](v), v) }

func (s *Values[T]) leave(v *Shared) { s.byGo.Delete(As[T](v)) }

// Verify checks K1 to K3. Held says how many hold each value.
func (s *Values[T]) Verify(held map[*Shared]int) error {
	for v := range s.All() {
		if v.refs != held[v] || v.refs == 0 || s.known(v) != v {
			return fmt.Errorf("value: K3: the value with serial %d counts %d that hold it, there are %d; or it is not found by what it equals", v.Serial, v.refs, held[v])
		}
	}
	return s.byGo.Verify()
}
