package value

import (
	"fmt"
	"iter"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"quarry/alloc"
)

// Invariants, checked by Verify:
//
//	S1 Free slots are in [1, last] and free once. Every other slot up to last stands in one row,
//	   and rows have no further slots.
//	S2 There are as many pages as hold last values, each whole.
//	S3 A value that no row has is zero, so the garbage collector has what it led to.

// Slot numbers a value of a store, from 1 on; 0 is none.
type Slot uint32

// SlotsAt returns those of n rows of a grid.
func SlotsAt(at alloc.GridRow, c alloc.GridColumn, n int) []Slot {
	// Safe because the column is a managed type's, with a slot per row of the chunk, and the rows are there.
	return unsafe.Slice((*Slot)(at.Element(c.Offset, c.Size)), n)
}

// Managed is a [Store] without the type of its values, for callers that end, copy and move rows of
// any types: calls are for many rows or seldom.
type Managed interface {
	Release(rows []Slot)             // ends the values that rows have
	Clone(rows []Slot)               // gives rows that have others' slots copies of those values
	Copy(from Managed, rows []Slot)  // gives rows that have slots of another store of the type copies of those values
	Adopt(from Managed, rows []Slot) // does so, and ends the values there
	At(n Slot) unsafe.Pointer        // the value of a slot, nil of none
	Fresh() Managed                  // an empty one for the same type
	Trim()                           // gives pages back to Go
	Drop()                           // ends all values
	// Verify checks a store against the slots of all rows, in groups with a name each.
	Verify(rows iter.Seq2[string, []Slot]) error
}

// Store holds the values of one managed type.
type Store[T any] struct {
	last  Slot   // slots up to it were given
	free  []Slot // of those, the ones in no row; the next to be given is the last
	order uint8  // a page has 1<<order values
	pages [][]T
}

const (
	pageBytes = 16 << 10 // of a page that has more than one value, at most
	pageOrder = 8        // 256 values at most, so few values do not cost much
)

// NewStore returns an empty store.
func NewStore[T any]() *Store[T] {
	var v T
	fit := pageBytes / max(unsafe.Sizeof(v), 1)
	return &Store[T]{order: uint8(min(pageOrder, max(bits.Len(uint(fit)), 1)-1))}
}

// Get returns the value of a slot, nil of none.
func (s *Store[T]) Get(n Slot) *T {
	if n == 0 {
		return nil
	}
	n--
	return &s.pages[n>>s.order][n&(1<<s.order-1)]
}

// Make returns the value of a row, which gets a zero one when it has none.
func (s *Store[T]) Make(row *Slot) *T {
	if *row == 0 {
		*row = s.take()
	}
	return s.Get(*row)
}

// take returns a slot, whose value is zero.
func (s *Store[T]) take() Slot {
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

// Release ends the values that rows have. They are freed from the end, so that rows which
// come together again have values that lie in their order.
func (s *Store[T]) Release(rows []Slot) {
	var zero T
	for _, n := range slices.Backward(rows) {
		if n != 0 {
			*s.Get(n) = zero
			s.free = append(s.free, n)
		}
	}
}

// Clone gives rows that have the slots of others, as when they were copied, slots of their own
// with copies of the values.
func (s *Store[T]) Clone(rows []Slot) { s.Copy(s, rows) }

// Copy gives rows that have slots of another store of the same type slots of this one with copies
// of the values.
func (s *Store[T]) Copy(from Managed, rows []Slot) {
	other := from.(*Store[T])
	for i, n := range rows {
		if rows[i] = 0; n != 0 {
			*s.Make(&rows[i]) = *other.Get(n)
		}
	}
}

// Adopt is Copy that ends the values in the other store.
func (s *Store[T]) Adopt(from Managed, rows []Slot) {
	old := slices.Clone(rows)
	s.Copy(from, rows)
	from.Release(old)
}

// At is Get without the type.
func (s *Store[T]) At(n Slot) unsafe.Pointer {
	return unsafe.Pointer(s.Get(n)) // Safe because it is a pointer to a value in Go memory, or nil.
}

// Fresh returns an empty store of the same type.
func (s *Store[T]) Fresh() Managed { return NewStore[T]() }

// Trim drops the pages at the end that hold no value.
func (s *Store[T]) Trim() {
	idle := make([]Slot, len(s.pages)) // free slots by page
	for _, n := range s.free {
		idle[(n-1)>>s.order]++
	}
	keep := len(s.pages)
	for keep > 0 && idle[keep-1] == s.last-Slot(keep-1)<<s.order {
		keep--
		s.last = Slot(keep) << s.order
	}
	s.pages = slices.Clone(s.pages[:keep])
	s.free = slices.Clone(slices.DeleteFunc(s.free, func(n Slot) bool { return n > s.last }))
}

// Drop ends all values.
func (s *Store[T]) Drop() { *s = Store[T]{order: s.order} }

// Verify checks S1, S2 and S3. Rows yields the slots of all rows, in groups with a name each.
func (s *Store[T]) Verify(rows iter.Seq2[string, []Slot]) error {
	if whole := Slot(1) << s.order; len(s.pages) != int((s.last+whole-1)>>s.order) ||
		slices.ContainsFunc(s.pages, func(page []T) bool { return len(page) != int(whole) }) {
		return fmt.Errorf("value: S2: %d pages, or one that is not of %d values, for slots up to %d", len(s.pages), whole, s.last)
	}
	owned := make([]bool, len(s.pages)<<s.order+1) // by a row, or by the free list
	for _, n := range s.free {
		if n == 0 || n > s.last || owned[n] {
			return fmt.Errorf("value: S1: slot %d of %d is free twice, or never was given", n, s.last)
		}
		owned[n] = true
	}
	if err := s.verifyIdle(owned); err != nil {
		return err
	}
	left := int(s.last) - len(s.free)
	for name, group := range rows {
		for row, n := range group {
			switch {
			case n == 0:
				continue
			case n > s.last || owned[n]:
				return fmt.Errorf("value: S1: row %d of %s has slot %d of %d, which is free or another row's", row, name, n, s.last)
			}
			owned[n] = true
			left--
		}
	}
	if left != 0 {
		return fmt.Errorf("value: S1: %d slots are in use by no row", left)
	}
	return nil
}

// verifyIdle checks S3, of the slots that are free and those that were never given.
func (s *Store[T]) verifyIdle(free []bool) error {
	for i := range len(free) - 1 {
		n := Slot(i + 1)
		if (free[n] || n > s.last) && !reflect.ValueOf(s.Get(n)).Elem().IsZero() {
			return fmt.Errorf("value: S3: slot %d of %d has no row, but a value", n, s.last)
		}
	}
	return nil
}
