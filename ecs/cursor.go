package ecs

import (
	"unsafe"

	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Cursor is a loop over the rows of a view that the caller's for statement drives; View.Cursor has
// the contract. It is two words, passed by value.
//
//	for c := motion.Cursor(); c.Next(); {
//		p, v := c.At().Position, c.At().Velocity
//	}
type Cursor[V any] struct{ loop }

// loop has the methods of a Cursor that do not depend on V.
type loop struct{ core query.Cursor }

// Cursor begins a loop over the view's rows. It yields what View.Rows yields, in the same order,
// but calls no function back and defers none, and the view keeps the slices of each chunk until
// chunks come, go or grow. It keeps none where a loop has to test rows or chunks, while snapshots
// are alive, of types with TrackRows, and for buffers and bits; such a loop allocates one V.
//
// The world is locked against structural changes until the Next that returns false. A loop that is
// left before, by break, return or goto, must call Close; so must one whose body may panic where
// the program goes on, by defer. Without Close the world stays locked: the next structural change
// panics and names the query, and in debug builds the line that called Cursor. Package system ends
// a cursor that a system leaves open, and the system fails. Goroutines: as Query.Rows.
func (v *View[V]) Cursor() Cursor[V] {
	// Safe because a View begins with its Ready.
	return Cursor[V]{loop{query.OpenCursor((*query.Ready)(unsafe.Pointer(v)))}}
}

// makeReady makes n structs for ready chunks, and returns the size of one.
func (v *View[V]) makeReady(n int) (unsafe.Pointer, uintptr) {
	ready := make([]V, n)
	return unsafe.Pointer(unsafe.SliceData(ready)), unsafe.Sizeof(*new(V)) // Safe because fillReady alone writes them.
}

// fillReady fills one of them with n rows of a chunk.
func (v *View[V]) fillReady(m unsafe.Pointer, a *world.Archetype, pos, n int) {
	*(*V)(m) = *new(V) // Safe because m is the address of a V.
	fill(m, v.shown, archetypeFrom(a), pos, a.Table.Store.Row(pos, 0), n, nil)
}

// fillNext returns a function that fills a V with rows, for a loop that looks at each chunk.
func (v *View[V]) fillNext() func(query.Rows) unsafe.Pointer {
	m := new(V)
	return func(rows query.Rows) unsafe.Pointer {
		*m = v.At(Rows{rows})
		return unsafe.Pointer(m) // Safe because At turns it back into a *V.
	}
}

// Next moves to the next chunk with matching rows. It returns false if there is none, and after the
// end of the loop. Rows from before become stale.
func (c loop) Next() bool { return c.core.Next() }

// At returns the rows that Next has moved to as a V, as View.At does. What it points to must not be
// changed, and is valid until Next. Before the first Next and after the end of the loop At returns
// nil.
func (c Cursor[V]) At() *V { return (*V)(c.core.Ready()) } // Safe because Cursor gave the addresses of Vs.

// Rows returns the rows that Next has moved to. After the end of the loop they are the zero value.
func (c loop) Rows() Rows { return Rows{c.core.Rows()} }

// Close ends the loop and unlocks the world, as the Next that returns false does, but does not
// advance Since. It does nothing after the end of the loop.
func (c loop) Close() { c.core.Close() }
