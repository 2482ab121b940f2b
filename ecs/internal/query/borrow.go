package query

import (
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/world"
)

// Borrows.
//
// A borrow lends types of a world to other goroutines, from Begin to End: the types that a query
// declares, or everything for reading. The goroutines see rows through accessors, each of which has
// a scan of its own. They look up entities through the Lookups of the borrow, or, while everything
// is borrowed, through those of the world's owner.
//
//	owner                        goroutines
//	Begin  counts its types      Accessor.Rows   own scan, the borrow's bindings
//	       fills the Lookups     Slice, Mut    mark with the borrow's version
//	                             Lookup.Get    by the borrow's Lookup of the type
//	End    counts them off
//
// Several borrows of queries may be out, even if they conflict: the scheduler that created them
// orders their work by their Access. So Begin and End of one borrow write nothing that goroutines
// of another borrow read. They write only the borrow counts of types, the owner's look-ups, the
// world's version and the world's loops. A borrow of everything is out alone.
//
// Invariants, all while a borrow is out:
//
//	N1 The structure of the world does not change. A structural change first ends all borrows of queries, by calling
//	   their waits; while everything is borrowed it panics.
//	N2 The world's own functions do not write a type that is lent, and do not read a type that is lent for writing.
//	   They panic, in every build. Only Enable and Disable of one entity write while everything is borrowed.
//	N3 The goroutines of a borrow write only types that the borrow declares for writing, in the rows of their
//	   accessors or by look-ups of the uses, and the blocks of those types' buffers. While everything is borrowed
//	   they write only enable bits.
//	N4 A write by one of the goroutines is marked with the world's version at Begin. Several goroutines may mark one
//	   chunk: they do it atomically, and with the same version.

// borrowOf returns the borrow of a lease.
func borrowOf(l *world.Lease) *Borrow {
	return (*Borrow)(unsafe.Pointer(l)) // Safe because each lease is the first field of a borrow.
}

var _ [0]struct{} = [unsafe.Offsetof(Borrow{}.Lease)]struct{}{} // borrowOf relies on this

// LeaseOrNil returns the borrow's lease, or nil for no borrow.
func (b *Borrow) LeaseOrNil() *world.Lease {
	return (*world.Lease)(unsafe.Pointer(b)) // Safe because a borrow begins with its lease.
}

// LookupOf is Lease.LookupOf, of no borrow too.
func (b *Borrow) LookupOf(t *world.Type) *world.Lookup { return b.LeaseOrNil().LookupOf(t) }

// LoanOf returns the borrow of everything that is out, or nil.
func LoanOf(w *world.World) *Borrow { return borrowOf(w.Loops.Lent()) }

// NewLoan returns the borrow of everything, as World.Lend does before it begins.
func NewLoan(w *world.World) *Borrow {
	return &Borrow{Lease: world.Lease{World: w, Name: "the loan", All: true}}
}

// NewBorrow creates a borrow of the types that q declares. uses are Read and Write terms of further
// types that the goroutines look up for any entity. name is for messages, such as "job move".
//
// If a structural change is requested while the borrow is out, it calls wait on its own goroutine
// with the name of the change, such as Component.Add. wait must end the borrow or panic.
//
// NewBorrow panics for a use that the query declares too, unless both only read; for a type of
// another world; and for a nil wait.
func NewBorrow(q *Query, name string, wait func(op string), uses ...Term) *Borrow {
	q.CheckOpen("query.NewBorrow")
	if wait == nil {
		panic("ecs: query.NewBorrow: wait is nil; it ends the borrow when a structural change asks for it")
	}
	b := &Borrow{Lease: world.Lease{World: q.World, Name: name, Wait: wait, Access: q.Access()}, Query: q, own: *q}
	b.own.Bindings, b.own.seen, b.own.Allowed = nil, 0, make([]uint8, len(q.Allowed))
	for id, access := range q.Allowed {
		if access != 0 {
			b.own.Allowed[id] = world.WithBarrier(access)
		}
	}
	for _, u := range uses {
		b.use(u)
	}
	b.Lent = make([]*world.Lookup, len(q.World.Types.List))
	for id, t := range q.World.Types.List {
		id := world.TypeID(id)
		if write := b.Access.Writes.Has(id); write || b.Access.Reads.Has(id) {
			b.types = append(b.types, t)
			b.chunks = b.chunks || write && t.Kind == world.KindChunk
			b.Lent[id] = &world.Lookup{
				Type: t, Lease: b.LeaseOrNil(), Size: t.Size, Shape: t.Shape,
				Spill: q.World.Buffers.Lent(t.Kind == world.KindBuffer && write), Writes: write && b.Used.Has(id),
			}
			b.Lent[id].Grant(false, false)
		}
	}
	return b
}

// use adds a use to the borrow's access.
func (b *Borrow) use(u Term) {
	op := "uses of " + b.Name
	if u.Kind > TermWrite || len(u.Of) != 1 {
		panic("ecs: " + op + ": a use is neither Read nor Write of a type")
	}
	o := u.Of[0]
	b.World.CheckOwn(op, o.Type)
	id, write := o.Type.ID, o.Access&world.MayWrite != 0
	if b.Access.Writes.Has(id) || write && (b.Query.declares(id) || b.Used.Has(id)) {
		panic(fmt.Sprintf(
			"ecs: %s: %s is declared twice, and one of the two writes: by %v and as a use, or as two uses",
			op, o.Type.Name, b.Query))
	}
	if write {
		b.Access.Reads.Drop(id)
	}
	b.Access.Add(id, o.Access)
	b.Used.Add(id)
}

// declares reports whether the query gives access to the type.
func (q *Query) declares(id world.TypeID) bool {
	return int(id) < len(q.Allowed) && q.Allowed[id]&declared != 0
}

// Check panics for a borrow that World.Lend and NewBorrow did not return.
func (b *Borrow) Check(op string) {
	if b == nil || b.World == nil {
		panic("ecs: " + op + ": the borrow is nil or the zero value; borrows come from World.Lend")
	}
}

// Begin is ecs.Borrow.Begin for the call op.
func (b *Borrow) Begin(op string) {
	w := b.World
	if b.Query != nil {
		b.Query.CheckOpen(op)
	}
	w.CheckNew(op)
	w.CheckNotLent(op)
	if b.Out {
		panic("ecs: " + op + ": " + b.Name + " is out already")
	}
	if w.Loops.Open > len(w.Loops.Borrows) {
		panic("ecs: " + op + ": " + b.Name + ": " + w.Loop() + "; begin it outside of loops")
	}
	b.look(op)
	if b.Query != nil && len(b.Query.Ranges) > 0 {
		b.Query.measure(b.own.Bindings)
	}
	for _, t := range b.types {
		b.lend(t)
	}
	b.Version = w.Tables.Version // N4
	if b.Query != nil && b.Query.advancesSince() {
		b.Query.Since = w.Tables.Version
		w.Advance()
	}
	b.Out, w.QueryEpochs.OwnerMatched = true, world.NoEpoch
	w.Loops.Borrows = append(w.Loops.Borrows, b.LeaseOrNil())
	w.Loops.Open++
}

// look finds the rows and values that the borrow lends.
func (b *Borrow) look(op string) {
	if b.Query != nil {
		b.own.Matching, b.own.Since, b.own.Driver = b.Query.Matching, b.Query.Since, b.Query.Driver
		b.own.bindNewUnlocked()
		return
	}
	b.World.EndBorrows(op)
	b.types = b.World.Types.List
	for _, t := range b.types {
		b.Access.Reads.Add(t.ID)
	}
}

// lend lends a type and updates the Lookup of the borrow's goroutines.
func (b *Borrow) lend(t *world.Type) {
	if f := b.LookupOf(t); f.Lease != nil {
		f.ShareColumns(&t.LookupTable)
		f.Grant(true, true)
	}
	t.Lend(b.Access.Writes.Has(t.ID), 1)
}

// End is ecs.Borrow.End.
func (b *Borrow) End() {
	b.Check("Borrow.End")
	if b.Query == nil { // a late goroutine may be taking an accessor right now
		b.Mu.Lock()
		defer b.Mu.Unlock()
	}
	w := b.World
	if !b.Out {
		b.Refuse("Borrow.End")
	}
	if busy := len(b.accessors) - len(b.idle); b.Query == nil && (busy > 0 || w.Loops.Open > 1) {
		panic(fmt.Sprintf("ecs: Borrow.End: loops under way: %d; wait for their goroutines first", max(1, busy)))
	}
	for _, t := range b.types {
		if f := b.LookupOf(t); f.Lease != nil {
			f.Grant(false, false)
		}
		t.Lend(b.Access.Writes.Has(t.ID), -1)
	}
	for _, r := range b.accessors {
		r.Scan.ExpireRows()
	}
	at := slices.Index(w.Loops.Borrows, b.LeaseOrNil())
	w.Loops.Borrows = slices.Delete(w.Loops.Borrows, at, at+1)
	w.Loops.Open--
	b.Out = false
	if len(w.Loops.Borrows) == 0 {
		w.QueryEpochs.OwnerMatched = w.QueryEpochs.Matched
	}
}
