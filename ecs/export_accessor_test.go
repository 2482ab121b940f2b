package ecs

import (
	"unsafe"

	"quarry/ecs/internal/query"
)

// What package job does with a borrow by the door, for tests of borrows.

// RowRange is query.RowRange.
type RowRange = query.RowRange

func (b *Borrow) Split(dst []RowRange, grain int) []RowRange { return b.inner().Split(dst, grain) }

// Accessor returns an accessor of the borrow.
func (b *Borrow) Accessor() *Accessor { return (*Accessor)(unsafe.Pointer(b.inner().Accessor())) } // Safe because an Accessor is its core.

// Rows returns the rows of a range.
func (r *Accessor) Rows(p RowRange) (rows Rows, ok bool) {
	made, ok := r.inner().Rows(p)
	return Rows{made}, ok
}

// Done makes the accessor's last rows stale.
func (r *Accessor) Done() { r.inner().Done() }
