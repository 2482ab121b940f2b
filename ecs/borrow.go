package ecs

import (
	"iter"
	"quarry/ecs/internal/query"
	"unsafe"
)

// Borrow lends components to other goroutines: the types that a query declares, plus the types of
// further uses, or everything for reading. It may begin and end any number of times. Begin and End
// belong to the world's owner.
type Borrow struct{ core query.Borrow }

func (b *Borrow) inner() *query.Borrow {
	return (*query.Borrow)(unsafe.Pointer(b)) // Safe because a Borrow is its core.
}
func borrowFrom(b *query.Borrow) *Borrow { return (*Borrow)(unsafe.Pointer(b)) } // Safe because a Borrow is its core.

// Share lends everything to other goroutines for reading. The owner hands the borrow to the
// goroutines, waits until they are done, with a WaitGroup or similar, and calls End. Until then any
// goroutine may
//
//   - loop over queries by Borrow.Rows and Borrow.RowsOf,
//   - read by Get, Has, Alive and Enabled, by Get and Slice of buffers, by Get, At and Of of shared
//     types and by Get of managed types,
//   - look up many entities by GetList and CopyList,
//   - use Enable and Disable.
//
// All other calls that change the world panic: structural changes, writes to components, new
// archetypes and new types. Share ends all borrows of queries that are out. It panics inside a
// loop, while the world is shared, and if the world is closed.
func (w *World) Share() *Borrow {
	w.inner().CheckNew("World.Share")
	b := borrowFrom(query.ShareOf(w.inner()))
	b.inner().Begin("World.Share")
	return b
}

// Access returns the types that the borrow reads and writes: the access of its query and of its
// uses. A borrow of everything reads the types that were registered when it began.
func (b *Borrow) Access() Access {
	b.inner().Check("Borrow.Access")
	return Access{b.core.Access}
}

// Active reports whether the borrow has begun and not yet ended. It belongs to the world's owner.
func (b *Borrow) Active() bool {
	b.inner().Check("Borrow.Active")
	return b.core.Out
}

// Begin begins the borrow. It belongs to the world's owner. Until End, structural changes first
// wait for the borrow. The world's own functions panic if they write a type that the borrow lends,
// or read a type that the borrow writes.
//
// For a borrow of everything, which is what World.Share returns, Begin does what Share does.
// Borrows of a query are made by package job. Changed and Ordered terms of the query compare with
// its current Since. In a query that has such terms Since then advances, and so does the world's
// version, as at the end of a loop; in queries of a system's State both stay, for the system
// decides them. Begin panics inside a loop and while the world is shared, for a closed query or
// world, and if the borrow is already out. It allocates if there are new archetypes.
func (b *Borrow) Begin() {
	b.inner().Check("Borrow.Begin")
	b.inner().Begin("Borrow.Begin")
}

// End ends the borrow, after its goroutines are done; their rows and look-ups become invalid. It
// belongs to the world's owner. End panics if the borrow is not out. It also panics if everything
// is lent and a loop is still in progress.
func (b *Borrow) End() { b.inner().End() }

// Accessor is a goroutine's access to what a job lends it, for look-ups: see Component.Lookup, and
// Accessor of job.Ctx. It may be used again whenever the job runs.
type Accessor struct{ core query.Accessor }

func (r *Accessor) inner() *query.Accessor {
	return (*query.Accessor)(unsafe.Pointer(r)) // Safe because an Accessor is its core.
}

// Locate returns the location of e's values, or false if e is not alive. It panics for an entity of
// another world. The location, its archetype's types, and the numbers of rows and chunks hold until
// the borrow ends: nothing structural changes while it is out.
func (r *Accessor) Locate(e Entity) (Location, bool) {
	r.inner().Check("Accessor.Locate")
	return worldFrom(r.core.Borrow.World).locate("Accessor.Locate", e)
}

// Rows is Query.Rows for any goroutine while everything is borrowed. The query must not declare
// Write. Changed and Ordered terms compare with the query's Since, which does not advance.
func (b *Borrow) Rows(q *Query) iter.Seq[Rows] {
	return func(yield func(Rows) bool) {
		r := b.inner().Take("Borrow.Rows", q.inner())
		defer b.inner().GiveBack(r)
		r.Scan.Walk(q.inner(), coreYield(yield))
	}
}

// RowsOf is Query.RowsOf for any goroutine while everything is borrowed; see Borrow.Rows.
func (b *Borrow) RowsOf(q *Query, value SharedValue) iter.Seq[Rows] {
	return func(yield func(Rows) bool) {
		r := b.inner().Take("Borrow.RowsOf", q.inner())
		defer b.inner().GiveBack(r)
		q.inner().CheckValue("Borrow.RowsOf", value.core)
		r.Scan.WalkOf(q.inner(), value.core.Value, coreYield(yield))
	}
}
