package value

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
)

// Invariants, checked by Verify:
//
//	K1 Keys that are == to themselves are in equal, others in odd.
//	K2 No two keys of odd are the same.

// Map finds what belongs to a key. Keys are the same when they are ==. One that is not == to
// itself, as it has a NaN in it, is the same as another whose parts are the same, NaN and NaN
// being so.
type Map[K comparable, V any] struct {
	equal  map[K]V
	odd    []oddEntry[V]
	checks bool // a K has interfaces, which may hold what cannot be compared
}

// oddEntry is of a key that is not == to itself.
type oddEntry[V any] struct {
	key   any // a K
	value V
}

// NewMap returns an empty map.
func NewMap[K comparable, V any]() *Map[K, V] {
	return &Map[K, V]{equal: map[K]V{}, checks: holdsInterface(reflect.TypeFor[K]())}
}

// Takes reports whether x can be a key: where K has interfaces, x may hold a slice, a map or
// a function. The other methods panic for such a key, as Go does.
func (m *Map[K, V]) Takes(x K) bool { return !m.checks || m.compares(x) }

// compares is apart, for x moves to Go's heap in it.
//
//go:noinline
func (m *Map[K, V]) compares(x K) bool { return isComparable(reflect.ValueOf(&x).Elem()) }

// Get returns what belongs to x, and the zero value where there is none.
func (m *Map[K, V]) Get(x K) (v V) {
	if x == x {
		return m.equal[x]
	}
	if i := m.findOdd(x); i >= 0 {
		v = m.odd[i].value
	}
	return v
}

// findOdd returns the place of x, a K, among the odd keys, or -1.
func (m *Map[K, V]) findOdd(x any) int {
	boxed := reflect.ValueOf(x)
	return slices.IndexFunc(m.odd, func(e oddEntry[V]) bool {
		// What a K that is an interface holds may be of several types.
		odd := reflect.ValueOf(e.key)
		return odd.Type() == boxed.Type() && sameParts(odd, boxed)
	})
}

// Put enters what belongs to x, which has nothing yet.
func (m *Map[K, V]) Put(x K, v V) {
	if x == x {
		m.equal[x] = v
	} else {
		m.odd = append(m.odd, oddEntry[V]{x, v})
	}
}

// Delete takes x out, which has something.
func (m *Map[K, V]) Delete(x K) {
	if x == x {
		delete(m.equal, x)
	} else {
		at := m.findOdd(x)
		m.odd = slices.Delete(m.odd, at, at+1)
	}
}

// All yields what belongs to the keys, in no order.
func (m *Map[K, V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range m.equal {
			if !yield(v) {
				return
			}
		}
		for _, e := range m.odd {
			if !yield(e.value) {
				return
			}
		}
	}
}

// Verify checks K1 and K2.
func (m *Map[K, V]) Verify() error {
	for x := range m.equal {
		if x != x {
			return fmt.Errorf("value: K1: a key of %T is among those that are == to themselves, and is not", x)
		}
	}
	for i, e := range m.odd {
		if x, _ := e.key.(K); x == x {
			return fmt.Errorf("value: K1: a key of %T is among the odd ones, and is == to itself", e.key)
		}
		if at := m.findOdd(e.key); at != i {
			return fmt.Errorf("value: K2: the odd keys %d and %d of %T are the same", at, i, e.key)
		}
	}
	return nil
}
