package world

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Borrows.
//
// A borrow lends types of a world to other goroutines, from Begin to End: the types that a query
// declares, or everything for reading. The goroutines see rows through accessors, each of which has
// a scan of its own. They look up entities through the finders of the borrow, or, while everything
// is borrowed, through the finders of the world's owner.
//
//	owner                        goroutines
//	Begin  counts its types      Accessor.Rows   own scan, the borrow's bindings
//	       fills the finders     Slice, Mut    mark with the borrow's version
//	                             Lookup.Get    by the borrow's finder of the type
//	End    counts them off
//
// Several borrows of queries may be out, even if they conflict: the scheduler that created them
// orders their work by their Access. So Begin and End of one borrow write nothing that goroutines
// of another borrow read. They write only the borrow counts of types, the owner's finders, the
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

// Borrow is ecs.Borrow.
type Borrow struct {
	World  *World
	Query  *Query // the query whose rows are lent; nil: everything is lent for reading
	own    Query  // q as the goroutines see it: access is GatedRead and GatedWrite, and the bindings are its own
	Name   string
	wait   func(op string)
	Access Access
	used   Signature // types of the uses
	chunks bool      // the rows of a chunk are not split: a chunk type is written
	types  []*Type   // types in access
	lent   []*Finder // finders for those types, by TypeID; empty if everything is lent

	mu        sync.Mutex
	accessors []*Accessor
	idle      []*Accessor // accessors that Rows may reuse
	Version   uint32      // version that marks the goroutines' writes
	Out       bool        // begun and not yet ended
	Past      *Snapshot   // what goroutines read is a snapshot's; nil for all that NewBorrow and Share return
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
	q.CheckOpen("seam.NewBorrow")
	if wait == nil {
		panic("ecs: seam.NewBorrow: wait is nil; it ends the borrow when a structural change asks for it")
	}
	b := &Borrow{World: q.World, Query: q, own: *q, Name: name, wait: wait, Access: q.Access()}
	b.own.bindings, b.own.seen, b.own.access = nil, 0, make([]uint8, len(q.access))
	for id, access := range q.access {
		if access != 0 {
			b.own.access[id] = gated(access)
		}
	}
	for _, u := range uses {
		b.use(u)
	}
	b.lent = make([]*Finder, len(q.World.Types.List))
	for id, t := range q.World.Types.List {
		id := TypeID(id)
		if write := b.Access.writes.Has(id); write || b.Access.reads.Has(id) {
			b.types = append(b.types, t)
			b.chunks = b.chunks || write && t.Kind == KindChunk
			b.lent[id] = &Finder{Type: t, Borrow: b, Size: t.Size, Shape: t.Shape, Spill: q.World.Buffers.Lent(t.Kind == KindBuffer && write), writes: write && b.used.Has(id)}
			b.lent[id].grant(false, false)
		}
	}
	return b
}

// use adds a use to the borrow's access.
func (b *Borrow) use(u Term) {
	op := "uses of " + b.Name
	if u.Kind > TermWrite || len(u.Of) != 1 {
		// errors.md, Borrows: `a use is neither Read nor Write of a type`, `is declared twice, and
		// one of the two writes: ...` | What a borrow or job `Uses`. | `ecs.Read` and `ecs.Write`
		// terms, of types that its query does not write.
		panic("ecs: " + op + ": a use is neither Read nor Write of a type")
	}
	o := u.Of[0]
	b.World.CheckOwn(op, o.Type)
	id, write := o.Type.ID, o.Access&MayWrite != 0
	if b.Access.writes.Has(id) || write && (b.Query.declares(id) || b.used.Has(id)) {
		panic(fmt.Sprintf("ecs: %s: %s is declared twice, and one of the two writes: by %v and as a use, or as two uses", op, o.Type.Name, b.Query))
	}
	if write {
		b.Access.reads.Drop(id)
	}
	b.Access.add(id, o.Access)
	b.used.Add(id)
}

// declares reports whether the query gives access to the type.
func (q *Query) declares(id TypeID) bool {
	return int(id) < len(q.access) && q.access[id]&declared != 0
}

// Check panics for a borrow that World.Share and NewBorrow did not return.
func (b *Borrow) Check(op string) {
	if b == nil || b.World == nil {
		panic("ecs: " + op + ": the borrow is nil or the zero value; borrows come from World.Share")
	}
}

//go:noinline
func (b *Borrow) refuse(op string) {
	panic("ecs: " + op + ": " + b.Name + " is not out: it has not begun, or has ended")
}

// Begin is ecs.Borrow.Begin for the call op.
func (b *Borrow) Begin(op string) {
	w := b.World
	if b.Query != nil {
		b.Query.CheckOpen(op)
	}
	w.CheckNew(op)
	w.CheckUnshared(op)
	if b.Out {
		// errors.md, Borrows: `is out already`, `is not out`, `is still out after its wait`, `begin
		// it outside of loops`, `wait is nil` | A borrow is begun, used or ended out of turn:
		// `Borrow.Rows` after `End`, or `Share` inside a loop. | Share between loops, until all are
		// done. Jobs do this for you.
		panic("ecs: " + op + ": " + b.Name + " is out already")
	}
	if w.Loops.Open > len(w.Loops.Borrows) {
		panic("ecs: " + op + ": " + b.Name + ": " + w.loop() + "; begin it outside of loops")
	}
	b.look(op)
	if b.Query != nil && len(b.Query.ranges) > 0 {
		b.Query.measure(b.own.bindings)
	}
	for _, t := range b.types {
		b.lend(t)
	}
	b.Version = w.Tables.Version // N4
	if b.Query != nil && b.Query.moves() {
		b.Query.Since = w.Tables.Version
		w.Advance()
	}
	b.Out, w.News.unshared = true, never
	w.Loops.Borrows = append(w.Loops.Borrows, b)
	w.Loops.Open++
}

// look finds what the borrow lends.
func (b *Borrow) look(op string) {
	if b.Query != nil {
		b.own.Matching, b.own.Since, b.own.driver = b.Query.Matching, b.Query.Since, b.Query.driver
		b.own.lookAlone()
		return
	}
	b.World.EndBorrows(op)
	b.types = b.World.Types.List
	for _, t := range b.types {
		b.Access.reads.Add(t.ID)
	}
}

// lend lends a type and updates the finder of the borrow's goroutines.
func (b *Borrow) lend(t *Type) {
	if f := b.FinderOf(t); f.Borrow != nil {
		f.ShareCells(&t.Sight)
		f.grant(true, true)
	}
	t.lend(b.Access.writes.Has(t.ID), 1)
}

// End is ecs.Borrow.End.
func (b *Borrow) End() {
	b.Check("Borrow.End")
	if b.Query == nil { // a late goroutine may be taking an accessor right now
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	w := b.World
	if !b.Out {
		b.refuse("Borrow.End")
	}
	if busy := len(b.accessors) - len(b.idle); b.Query == nil && (busy > 0 || w.Loops.Open > 1) {
		// errors.md, Borrows: `ecs: Borrow.End: loops under way: ...; wait for their goroutines
		// first` | A goroutine still reads. | A `sync.WaitGroup` before `End`.
		panic(fmt.Sprintf("ecs: Borrow.End: loops under way: %d; wait for their goroutines first", max(1, busy)))
	}
	for _, t := range b.types {
		if f := b.FinderOf(t); f.Borrow != nil {
			f.grant(false, false)
		}
		t.lend(b.Access.writes.Has(t.ID), -1)
	}
	for _, r := range b.accessors {
		r.Scan.Turn()
	}
	at := slices.Index(w.Loops.Borrows, b)
	w.Loops.Borrows = slices.Delete(w.Loops.Borrows, at, at+1)
	w.Loops.Open--
	b.Out = false
	if len(w.Loops.Borrows) == 0 {
		w.News.unshared = w.News.Matched
	}
}

// FinderOf returns the finder for a type as used by the rows of the borrow's accessors. b is nil
// for the rows of the owner.
func (b *Borrow) FinderOf(t *Type) *Finder {
	if b == nil || b.Query == nil {
		return &t.Finder
	}
	return b.lent[t.ID]
}

// Mark sets a version (N4). Goroutines with other rows of the chunk may set it too, to the same
// version, so most of them only load it.
func (b *Borrow) Mark(version *uint32) {
	if atomic.LoadUint32(version) != b.Version {
		atomic.StoreUint32(version, b.Version)
	}
}

// Lent types, as the world's own functions check them (N2).

// lend adds n borrows of the type: 1 when a borrow begins, -1 when it ends. It then updates the
// owner's look-ups and buffer views to allow what the active borrows leave to them.
func (t *Type) lend(write bool, n int32) {
	if write {
		t.writers += n
	} else {
		t.readers += n
	}
	t.writes = t.writers+t.readers == 0
	t.grant(t.writers == 0, t.writes)
}

// noEpoch is the epoch that makes every view of a buffer unusable: no view was opened in it.
var noEpoch = ^uint64(0)

// grant allows or forbids look-ups, and the reading and writing of buffer views (L2). Forbidden
// look-ups go to miss, forbidden uses of views to refuse.
func (f *Finder) grant(read, write bool) {
	w, toRead, toWrite := f.Type.World, &noEpoch, &noEpoch
	if read {
		toRead = &w.Rows.Epoch
		f.Show(w.IDs.View())
	} else {
		f.Hide()
	}
	if write {
		toWrite = &w.Rows.Epoch
	}
	f.toRead, f.ToWrite = toRead, toWrite
	if f.Borrow == nil {
		f.Type.showWrites()
	}
}

// CheckLent panics if a borrow forbids the access to the type.
func (t *Type) CheckLent(op string, access uint8) {
	if t.writers > 0 || t.readers > 0 && access&MayWrite != 0 {
		t.refuseLent(op)
	}
}

//go:noinline
func (t *Type) refuseLent(op string) {
	t.World.RefuseShared(op)
	for _, does := range []string{"writes", "reads"} {
		for _, b := range t.World.Loops.Borrows {
			if does == "writes" && b.Access.writes.Has(t.ID) || does == "reads" && b.Access.reads.Has(t.ID) {
				// errors.md, Borrows: `is lent to ..., which ... it: complete it first; inside it
				// use ...` | The owner uses a type that a job in flight has. | In a system:
				// `State.Query` for loops, `State.Uses` for `Get`, `Set` and singletons; then it
				// waits. Else complete the job first, by its handle or the scheduler. In a body:
				// through its rows, or `Uses` and `Lookup`.
				inside := "its rows or a look-up"
				if b.Access.writes.Has(t.ID) && !b.used.Has(t.ID) {
					inside = "its rows" // a look-up would be refused
				}
				panic(fmt.Sprintf("ecs: %s: %s is lent to %s, which %s it: complete it first; inside it use %s",
					op, t.Name, b.Name, does, inside))
			}
		}
	}
	// errors.md, Borrows: `is lent: end the borrow first` | A borrow begins of what another borrow
	// writes, or writes what another has. | End the other borrow first.
	panic("ecs: " + op + ": " + t.Name + " is lent: end the borrow first")
}

// RefuseShared panics while everything is borrowed.
func (w *World) RefuseShared(op string) {
	if w.Shared() {
		panic("ecs: " + op + ": the world is shared: until Borrow.End components are only read")
	}
}
