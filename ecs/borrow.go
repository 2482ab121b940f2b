package ecs

import (
	"unsafe"

	"quarry/ecs/internal/query"
)

// Borrow is the loan of a world to other goroutines, which World.Lend begins and End ends. Jobs
// borrow the types that they declare by themselves.
type Borrow struct{ core query.Borrow }

func (b *Borrow) inner() *query.Borrow {
	return (*query.Borrow)(unsafe.Pointer(b)) // Safe because a Borrow is its core.
}
func borrowFrom(b *query.Borrow) *Borrow { return (*Borrow)(unsafe.Pointer(b)) } // Safe because a Borrow is its core.

// Lend lends everything to other goroutines for reading. The owner hands the world to the
// goroutines, waits until they are done, with a WaitGroup or similar, and calls Borrow.End. Until
// then any goroutine may
//
//   - loop by Query.Rows and Query.Where over queries that do not declare Write,
//   - read by Get, Has, Alive and Enabled, by Get and Slice of buffers, by Get, At and Of of shared
//     types and by Get of managed types,
//   - look up many entities by GetList and CopyList,
//   - use Enable and Disable.
//
// Changed and Ordered terms compare with the query's Since, which does not advance. All other calls
// that change the world panic: structural changes, writes to components, new archetypes and new
// types. Lend first ends all borrows of queries. It panics inside a loop, while the world is lent,
// and if the world is closed.
func (w *World) Lend() *Borrow {
	w.inner().CheckNew("World.Lend")
	b := borrowFrom(query.NewLoan(w.inner()))
	b.inner().Begin("World.Lend")
	return b
}

// Lent reports whether everything is lent, by World.Lend: until Borrow.End all goroutines read and
// none writes.
func (w *World) Lent() bool { return w.inner().Lent() }

// End ends the borrow, after its goroutines are done; their rows and look-ups become invalid. It
// belongs to the world's owner. End panics if the borrow has ended, and if a loop is still in
// progress.
func (b *Borrow) End() { b.inner().End() }

// Accessor is a goroutine's access to what a job lends it, for look-ups: see Component.Lookup, and
// Accessor of job.Ctx. It may be used again whenever the job runs.
type Accessor struct{ core query.Accessor }

func (r *Accessor) inner() *query.Accessor {
	return (*query.Accessor)(unsafe.Pointer(r)) // Safe because an Accessor is its core.
}
