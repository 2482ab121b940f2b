package ecs

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"quarry/alloc"
)

// Stores of managed types. The garbage collector does not see chunks, so values of managed types lie in a
// store in Go memory, one for each type of a world, and a row has the number of a slot:
//
//	column in the chunk      the type's store
//	row 0 | slot 3 | ------> pages[0][2], a T
//	row 1 | slot 0 |         no value yet
//	row 2 | slot 1 | ------> pages[0][0]
//
// Rows that move take the number along as they take any 4 bytes, and zeroed rows have no
// value, so moves, new rows and chunks that change hands know nothing of stores. Only rows
// that end do, as for buffers: World.release. Pages never move, so pointers to values stay
// good.
//
// Invariant, checked by Verify:
//
//	W10 Every slot in a row is in use in the store of its type and stands in no other
//	    row, and the store has no other slots in use.

// slot numbers a value of a store, from 1 on; 0 is none.
type slot uint32

// slots says which slots of a store are in use: from 1 to last, but for the free ones.
type slots struct {
	last slot
	free []slot // the next to be given is the last
}

// managedStore is a store without the type of its values, for what ends rows and for the
// world: calls are for many rows or seldom.
type managedStore interface {
	release(rows []slot)                  // ends the values that rows have
	clone(rows []slot)                    // gives rows that have others' slots copies of those values
	copy(from managedStore, rows []slot)  // gives rows that have slots of another store copies of those values
	adopt(from managedStore, rows []slot) // does so, and ends the values there
	at(n slot) unsafe.Pointer             // the value of a slot
	fresh() managedStore                  // an empty one for the same type
	trim()
	drop()
	used() *slots
}

// store holds the values of one managed type.
type store[T any] struct {
	slots
	order uint8 // a page has 1<<order values
	pages [][]T
}

const (
	pageBytes = 16 << 10 // of a page that has more than one value, at most
	pageOrder = 8        // 256 values at most, so few values do not cost much
)

func newStore[T any]() *store[T] {
	var v T
	fit := pageBytes / max(unsafe.Sizeof(v), 1)
	return &store[T]{order: uint8(min(pageOrder, max(bits.Len(uint(fit)), 1)-1))}
}

// get returns the value of a slot, nil of none.
func (s *store[T]) get(n slot) *T {
	if n == 0 {
		return nil
	}
	n--
	return &s.pages[n>>s.order][n&(1<<s.order-1)]
}

// make returns the value of a row, which gets one when it has none.
func (s *store[T]) make(row *slot) *T {
	if *row == 0 {
		*row = s.take()
	}
	return s.get(*row)
}

// take returns a slot, whose value is zero.
func (s *store[T]) take() slot {
	if end := len(s.free) - 1; end >= 0 {
		n := s.free[end]
		s.free = s.free[:end]
		return n
	}
	if int(s.last>>s.order) == len(s.pages) {
		s.pages = append(s.pages, make([]T, 1<<s.order))
	}
	s.last++
	return s.last
}

// release ends the values that rows have. They are freed from the end, so that rows which
// come together again have values that lie in their order.
func (s *store[T]) release(rows []slot) {
	var zero T
	for _, n := range slices.Backward(rows) {
		if n != 0 {
			*s.get(n) = zero
			s.free = append(s.free, n)
		}
	}
}

func (s *store[T]) clone(rows []slot) { s.copy(s, rows) }

func (s *store[T]) copy(from managedStore, rows []slot) {
	other := from.(*store[T])
	for i, n := range rows {
		if rows[i] = 0; n != 0 {
			*s.make(&rows[i]) = *other.get(n)
		}
	}
}

func (s *store[T]) adopt(from managedStore, rows []slot) {
	old := slices.Clone(rows)
	s.copy(from, rows)
	from.release(old)
}

func (s *store[T]) at(n slot) unsafe.Pointer {
	return unsafe.Pointer(s.get(n)) // Safe because it is a pointer to a value in Go memory, or nil.
}

func (s *store[T]) fresh() managedStore { return newStore[T]() }

// trim drops the pages at the end that hold no value.
func (s *store[T]) trim() {
	idle := make([]slot, len(s.pages)) // free slots by page
	for _, n := range s.free {
		idle[(n-1)>>s.order]++
	}
	keep := len(s.pages)
	for keep > 0 && idle[keep-1] == s.last-slot(keep-1)<<s.order {
		keep--
		s.last = slot(keep) << s.order
	}
	s.pages = slices.Clone(s.pages[:keep])
	s.free = slices.Clone(slices.DeleteFunc(s.free, func(n slot) bool { return n > s.last }))
}

// drop ends all values.
func (s *store[T]) drop() { *s = store[T]{order: s.order} }

// trimManaged gives what ended values left behind back to Go.
func (w *World) trimManaged() {
	for _, t := range w.types {
		if t.managed != nil {
			t.managed.trim()
		}
	}
}

func (s *store[T]) used() *slots { return &s.slots }

// slotsAt returns those of n rows of a managed type's column.
func slotsAt(at alloc.GridRow, c column, n int) []slot {
	// Safe because the column holds a slot per row of the chunk, and the rows are there.
	return unsafe.Slice((*slot)(at.Element(c.Offset, c.Size)), n)
}

// verifyManaged checks W10.
func (w *World) verifyManaged() error {
	for _, t := range w.types {
		if t.managed == nil {
			continue
		}
		used := t.managed.used()
		owned := make([]bool, used.last+1) // by a row, or by the free list
		for _, n := range used.free {
			if n == 0 || n > used.last || owned[n] {
				return fmt.Errorf("ecs: W10: slot %d of %d of %s is free twice, or never was given", n, used.last, t.name)
			}
			owned[n] = true
		}
		left := int(used.last) - len(used.free)
		for _, a := range w.archetypes {
			if !a.table.Sig.Has(t.id) {
				continue
			}
			for pos := range a.table.Grid.Chunks() {
				for row, n := range slotsAt(a.table.Grid.Row(pos, 0), a.table.Column(t.id), a.table.Grid.RowsOf(pos)) {
					switch {
					case n == 0:
						continue
					case n > used.last || owned[n]:
						return fmt.Errorf("ecs: W10: row %d of chunk %d of %v has slot %d of %d of %s, which is free or another row's", row, pos, a, n, used.last, t.name)
					}
					owned[n] = true
					left--
				}
			}
		}
		if left != 0 {
			return fmt.Errorf("ecs: W10: %d slots of %s are in use by no row", left, t.name)
		}
	}
	return nil
}
