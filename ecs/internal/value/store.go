package value

import (
	"fmt"
	"iter"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"

	"quarry/internal/store"
)

// Invariants, checked by Verify:
//
//	S1 Each slot in [1, last] stands either once in free or in exactly one row. Rows have no
//	   other slots but 0.
//	S2 There are as many pages as last values need, each with 1<<order values.
//	S3 A value that no row has is zero, so it keeps nothing from the garbage collector.
//
// They hold for a copy of a store too, of which the rows are those that the store had; see
// copies.go.

// Slot is the number of a value in a store, from 1; 0 is no value.
type Slot uint32

// SlotsAt returns the slots of n rows of a store, for reading and writing.
func SlotsAt(at store.Row, c store.Column, n int) []Slot {
	// Safe because the column is a managed type's, with a slot per row of the chunk, and the rows
	// are there.
	return unsafe.Slice((*Slot)(at.Element(c.Offset, c.Size)), n)
}

// Managed is a [Store] without the type of its values, for code that ends, copies and moves rows of
// any type. Calls are indirect, but each covers many rows or is rare.
type Managed interface {
	Release(rows []Slot)            // ends the values of rows
	Clone(rows []Slot)              // replaces slots copied from other rows by new slots with copies of the values
	Copy(from Managed, rows []Slot) // replaces slots of another store of T by new slots with copies of the values
	Move(from Managed, rows []Slot) // is Copy that then ends the values in the other store
	Take() Slot                     // a new slot with a zero value, which a row is to have
	At(n Slot) unsafe.Pointer       // the value of a slot; nil for slot 0
	Fresh() Managed                 // an empty store of T
	Trim()                          // frees pages without values
	Clear()                         // ends all values and keeps their pages
	Drop()                          // ends all values
	Copies() bool                   // the type has a copy function, so Save may be called
	Save(to Managed)                // makes another store of T a copy of this one, with the same slots
	Restore(from Managed)           // takes the slots and the values of a copy
	// Verify checks the store against the slots of all rows, which rows yields in named groups.
	Verify(rows iter.Seq2[string, []Slot]) error
}

// Store holds the values of one managed type.
type Store[T any] struct {
	last  Slot   // highest slot handed out so far
	free  []Slot // slots up to last that no row has; a stack, whose last slot is handed out next
	order uint8  // a page has 1<<order values
	pages [][]T
	idle  []uint64        // memory of Save
	copy  func(from *T) T // see CopyWith; nil: values are copied by assignment alone
}

const (
	pageBytes = 16 << 10 // most bytes of a page with more than one value
	pageOrder = 8        // at most 256 values a page, so that a store of few values stays small
)

// NewStore returns an empty store.
func NewStore[T any]() *Store[T] {
	var v T
	fit := pageBytes / max(unsafe.Sizeof(v), 1)
	return &Store[T]{order: uint8(min(pageOrder, max(bits.Len(uint(fit)), 1)-1))}
}

// Get returns the value of a slot, or nil for slot 0.
func (s *Store[T]) Get(n Slot) *T {
	if n == 0 {
		return nil
	}
	n--
	return &s.pages[n>>s.order][n&(1<<s.order-1)]
}

// Make returns the value of a row. A row without a value gets a zero one.
func (s *Store[T]) Make(row *Slot) *T {
	if *row == 0 {
		*row = s.Take()
	}
	return s.Get(*row)
}

// Take returns a new slot with a zero value: of an empty store, the slots from 1 on.
func (s *Store[T]) Take() Slot {
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

// Release ends the values of rows. It frees the last row's slot first, so that rows created
// together later get rising slots.
func (s *Store[T]) Release(rows []Slot) {
	var zero T
	for _, n := range slices.Backward(rows) {
		if n != 0 {
			*s.Get(n) = zero
			s.free = append(s.free, n)
		}
	}
}

// Clone replaces slots that were copied from other rows of the store with new slots that have
// copies of the values.
func (s *Store[T]) Clone(rows []Slot) { s.Copy(s, rows) }

// Copy replaces slots of another store of T with new slots of this store that have copies of the
// values.
func (s *Store[T]) Copy(from Managed, rows []Slot) {
	other := from.(*Store[T])
	for i, n := range rows {
		if rows[i] = 0; n != 0 {
			*s.Make(&rows[i]) = *other.Get(n)
		}
	}
}

// Move is Copy, and then ends the values in the other store.
func (s *Store[T]) Move(from Managed, rows []Slot) {
	old := slices.Clone(rows)
	s.Copy(from, rows)
	from.Release(old)
}

// At is Get without the type.
func (s *Store[T]) At(n Slot) unsafe.Pointer {
	return unsafe.Pointer(s.Get(n)) // Safe because it is a pointer to a value in Go memory, or nil.
}

// Fresh returns an empty store of T, with the same copy function.
func (s *Store[T]) Fresh() Managed {
	fresh := NewStore[T]()
	fresh.copy = s.copy
	return fresh
}

// Trim drops the trailing pages that hold no value.
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
func (s *Store[T]) Drop() { *s = Store[T]{order: s.order, copy: s.copy} }

// Verify checks S1, S2 and S3. rows yields the slots of all rows in groups, each with a name for
// messages.
func (s *Store[T]) Verify(rows iter.Seq2[string, []Slot]) error {
	if whole := Slot(1) << s.order; len(s.pages) != int((s.last+whole-1)>>s.order) ||
		slices.ContainsFunc(s.pages, func(page []T) bool { return len(page) != int(whole) }) {
		return fmt.Errorf("value: S2: %d pages, or one that is not of %d values, for slots up to %d",
			len(s.pages), whole, s.last)
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
				return fmt.Errorf("value: S1: row %d of %s has slot %d of %d, which is free or another row's",
					row, name, n, s.last)
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

// verifyIdle checks S3 for slots that are free or were never handed out.
func (s *Store[T]) verifyIdle(free []bool) error {
	for i := range len(free) - 1 {
		n := Slot(i + 1)
		if (free[n] || n > s.last) && !reflect.ValueOf(s.Get(n)).Elem().IsZero() {
			return fmt.Errorf("value: S3: slot %d of %d has no row, but a value", n, s.last)
		}
	}
	return nil
}
