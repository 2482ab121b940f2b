package value

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync/atomic"

	"quarry/ecs/internal/entity"
)

// Invariants, checked by Verify:
//
//	K1 Values that are == to themselves are in equal, values with a NaN in odd.
//	K2 No two values of odd are the same.
//	K3 Each value counts its holders, one at least, and Find finds it.

// Values interns the values of a shared type T: of values that are the same it keeps one. Values
// that are == are the same. A value with a NaN is not == to itself. Two such values are the same if
// all their parts are, where NaN is the same as NaN.
type Values[T comparable] struct {
	number  int
	serials *atomic.Uint64 // last serial given, over all types of the world
	equal   map[T]*Shared
	odd     []*Shared
	checks  bool                               // T contains interfaces, which may hold values that cannot be compared
	links   func(x *T, visit func(*entity.ID)) // visits the entities in x; nil if a T has none
}

// NewValues returns an empty store; the caller opens it. links calls visit for each entity in a
// value; nil if a T has none.
func NewValues[T comparable](links func(x *T, visit func(*entity.ID))) *Values[T] {
	return &Values[T]{equal: map[T]*Shared{}, checks: holdsInterface(reflect.TypeFor[T]()), links: links}
}

// Open sets the type's number and the counter of serials.
func (s *Values[T]) Open(number int, serials *atomic.Uint64) { s.number, s.serials = number, serials }

// Takes reports whether x can be a value. If T contains interfaces, x may hold a slice, a map or a
// function; for such an x the other methods panic, as == does.
func (s *Values[T]) Takes(x T) bool { return !s.checks || s.compares(x) }

// compares is a separate function because x escapes to Go's heap in it.
//
//go:noinline
func (s *Values[T]) compares(x T) bool { return isComparable(reflect.ValueOf(&x).Elem()) }

// Find returns the value that is the same as x, or nil.
func (s *Values[T]) Find(x T) *Shared {
	if x == x {
		return s.equal[x]
	}
	if i := s.findOdd(x); i >= 0 {
		return s.odd[i]
	}
	return nil
}

// findOdd returns the index in odd of the value that is the same as x, which is a T, or -1.
func (s *Values[T]) findOdd(x any) int {
	boxed := reflect.ValueOf(x)
	return slices.IndexFunc(s.odd, func(v *Shared) bool {
		// When T is an interface, the values in it may be of several types.
		odd := reflect.ValueOf(v.v)
		return odd.Type() == boxed.Type() && sameParts(odd, boxed)
	})
}

// Of returns the value that is the same as x: the store's, or a new one that is not in the store
// yet.
func (s *Values[T]) Of(x T) *Shared {
	if v := s.Find(x); v != nil {
		return v
	}
	return s.make(x)
}

// make is a separate function because x escapes to Go's heap in it.
//
//go:noinline
func (s *Values[T]) make(x T) *Shared {
	return &Shared{Serial: s.serials.Add(1), Type: s.number, store: s, v: x}
}

// Zero returns the value of the zero T.
func (s *Values[T]) Zero() *Shared { return s.Of(*new(T)) }

// Copy returns the value that is the same as v after rename has renamed the entities in it. v may
// be of any store of T.
func (s *Values[T]) Copy(v *Shared, rename func(*entity.ID)) *Shared {
	x := As[T](v)
	if s.links != nil && rename != nil {
		s.links(&x, rename)
	}
	return s.Of(x)
}

// Same returns the store's value that is the same as v, which may be of any store of T, or nil.
func (s *Values[T]) Same(v *Shared) *Shared { return s.Find(As[T](v)) }

// OfAny is Of for a T in an interface.
func (s *Values[T]) OfAny(x any) *Shared { return s.Of(x.(T)) }

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

// Fresh returns an empty store of T; the caller opens it.
func (s *Values[T]) Fresh() AnyValues { return NewValues(s.links) }

// Drop removes all values, held or not.
func (s *Values[T]) Drop() { s.equal, s.odd = map[T]*Shared{}, nil }

// All yields the values in the store, in no order.
func (s *Values[T]) All() iter.Seq[*Shared] {
	return func(yield func(*Shared) bool) {
		for _, v := range s.equal {
			if !yield(v) {
				return
			}
		}
		for _, v := range s.odd {
			if !yield(v) {
				return
			}
		}
	}
}

func (s *Values[T]) known(v *Shared) *Shared { return s.Find(As[T](v)) }

func (s *Values[T]) enter(v *Shared) {
	if x := As[T](v); x == x {
		s.equal[x] = v
	} else {
		s.odd = append(s.odd, v)
	}
}

func (s *Values[T]) leave(v *Shared) {
	if x := As[T](v); x == x {
		delete(s.equal, x)
	} else {
		at := s.findOdd(x)
		s.odd = slices.Delete(s.odd, at, at+1)
	}
}

// Verify checks K1 to K3. held has the number of holders of each value.
func (s *Values[T]) Verify(held map[*Shared]int) error {
	for x, v := range s.equal {
		if x != x {
			return fmt.Errorf(
				"value: K1: the value with serial %d is among those that are == to themselves, and is not", v.Serial)
		}
	}
	for i, v := range s.odd {
		if x := As[T](v); x == x {
			return fmt.Errorf("value: K1: the value with serial %d is among the odd ones, and is == to itself",
				v.Serial)
		}
		if at := s.findOdd(v.v); at != i {
			return fmt.Errorf("value: K2: the odd values %d and %d are the same, the latter with serial %d",
				at, i, v.Serial)
		}
	}
	for v := range s.All() {
		if v.refs != held[v] || v.refs == 0 || s.known(v) != v {
			return fmt.Errorf("value: K3: the value with serial %d counts %d that hold it, there are %d; or it is not found by what it equals",
				v.Serial, v.refs, held[v])
		}
	}
	return nil
}
