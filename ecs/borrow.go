package ecs

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

// Borrow lends components to other goroutines: the types that a query declares, plus the types of
// further uses, or everything for reading. It may begin and end any number of times. Begin and End
// belong to the world's owner.
type Borrow struct {
	w      *World
	q      *Query // the query whose rows are lent; nil: everything is lent for reading
	own    Query  // q as the goroutines see it: access is gatedRead and gatedWrite, and the bindings are its own
	name   string
	wait   func(op string)
	access Access
	used   signature   // types of the uses
	chunks bool        // the rows of a chunk are not split: a chunk type is written
	types  []*typeInfo // types in access
	lent   []*finder   // finders for those types, by typeID; empty if everything is lent

	mu        sync.Mutex
	accessors []*Accessor
	idle      []*Accessor // accessors that Rows may reuse
	version   uint32      // version that marks the goroutines' writes
	out       bool        // begun and not yet ended
	past      *Snapshot   // what goroutines read is a snapshot's; nil for all that NewBorrow and Share return
}

// newBorrow creates a borrow of the types that q declares. uses are Read and Write terms of further
// types that the goroutines look up for any entity. name is for messages, such as "job move".
//
// If a structural change is requested while the borrow is out, it calls wait on its own goroutine
// with the name of the change, such as Component.Add. wait must end the borrow or panic.
//
// newBorrow panics for a use that the query declares too, unless both only read; for a type of
// another world; and for a nil wait.
func newBorrow(q *Query, name string, wait func(op string), uses ...Term) *Borrow {
	q.checkOpen("seam.NewBorrow")
	if wait == nil {
		panic("ecs: seam.NewBorrow: wait is nil; it ends the borrow when a structural change asks for it")
	}
	b := &Borrow{w: q.w, q: q, own: *q, name: name, wait: wait, access: q.Access()}
	b.own.bindings, b.own.seen, b.own.access = nil, 0, make([]uint8, len(q.access))
	for id, access := range q.access {
		if access != 0 {
			b.own.access[id] = gated(access)
		}
	}
	for _, u := range uses {
		b.use(u)
	}
	b.lent = make([]*finder, len(q.w.types.list))
	for id, t := range q.w.types.list {
		id := typeID(id)
		if write := b.access.writes.Has(id); write || b.access.reads.Has(id) {
			b.types = append(b.types, t)
			b.chunks = b.chunks || write && t.kind == KindChunk
			b.lent[id] = &finder{t: t, b: b, size: t.size, shape: t.shape, spill: q.w.buffers.Lent(t.kind == KindBuffer && write), writes: write && b.used.Has(id)}
			b.lent[id].grant(false, false)
		}
	}
	return b
}

// use adds a use to the borrow's access.
func (b *Borrow) use(u Term) {
	op := "uses of " + b.name
	if u.kind > termWrite || len(u.of) != 1 {
		// errors.md, Borrows: `a use is neither Read nor Write of a type`, `is declared twice, and
		// one of the two writes: ...` | What a borrow or job `Uses`. | `ecs.Read` and `ecs.Write`
		// terms, of types that its query does not write.
		panic("ecs: " + op + ": a use is neither Read nor Write of a type")
	}
	o := u.of[0]
	b.w.checkOwn(op, o.t)
	id, write := o.t.id, o.access&mayWrite != 0
	if b.access.writes.Has(id) || write && (b.q.declares(id) || b.used.Has(id)) {
		panic(fmt.Sprintf("ecs: %s: %s is declared twice, and one of the two writes: by %v and as a use, or as two uses", op, o.t.name, b.q))
	}
	if write {
		b.access.reads.Drop(id)
	}
	b.access.add(id, o.access)
	b.used.Add(id)
}

// declares reports whether the query gives access to the type.
func (q *Query) declares(id typeID) bool {
	return int(id) < len(q.access) && q.access[id]&declared != 0
}

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
	w.checkNew("World.Share")
	b := &Borrow{w: w, name: "the share"}
	b.begin("World.Share")
	return b
}

// Access returns the types that the borrow reads and writes: the access of its query and of its
// uses. A borrow of everything reads the types that were registered when it began.
func (b *Borrow) Access() Access {
	b.check("Borrow.Access")
	return b.access
}

// Active reports whether the borrow has begun and not yet ended. It belongs to the world's owner.
func (b *Borrow) Active() bool {
	b.check("Borrow.Active")
	return b.out
}

func (b *Borrow) check(op string) {
	if b == nil || b.w == nil {
		panic("ecs: " + op + ": the borrow is nil or the zero value; borrows come from World.Share")
	}
}

//go:noinline
func (b *Borrow) refuse(op string) {
	panic("ecs: " + op + ": " + b.name + " is not out: it has not begun, or has ended")
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
	b.check("Borrow.Begin")
	b.begin("Borrow.Begin")
}

func (b *Borrow) begin(op string) {
	w := b.w
	if b.q != nil {
		b.q.checkOpen(op)
	}
	w.checkNew(op)
	w.checkUnshared(op)
	if b.out {
		// errors.md, Borrows: `is out already`, `is not out`, `is still out after its wait`, `begin
		// it outside of loops`, `wait is nil` | A borrow is begun, used or ended out of turn:
		// `Borrow.Rows` after `End`, or `Share` inside a loop. | Share between loops, until all are
		// done. Jobs do this for you.
		panic("ecs: " + op + ": " + b.name + " is out already")
	}
	if w.loops.open > len(w.loops.borrows) {
		panic("ecs: " + op + ": " + b.name + ": " + w.loop() + "; begin it outside of loops")
	}
	b.look(op)
	if b.q != nil && len(b.q.ranges) > 0 {
		b.q.measure(b.own.bindings)
	}
	for _, t := range b.types {
		b.lend(t)
	}
	b.version = w.tables.Version // N4
	if b.q != nil && b.q.moves() {
		b.q.since = w.tables.Version
		w.Advance()
	}
	b.out, w.news.unshared = true, never
	w.loops.borrows = append(w.loops.borrows, b)
	w.loops.open++
}

// look finds what the borrow lends.
func (b *Borrow) look(op string) {
	if b.q != nil {
		b.own.m, b.own.since, b.own.driver = b.q.m, b.q.since, b.q.driver
		b.own.lookAlone()
		return
	}
	b.w.endBorrows(op)
	b.types = b.w.types.list
	for _, t := range b.types {
		b.access.reads.Add(t.id)
	}
}

// lend lends a type and updates the finder of the borrow's goroutines.
func (b *Borrow) lend(t *typeInfo) {
	if f := b.finderOf(t); f.b != nil {
		f.ShareCells(&t.Sight)
		f.grant(true, true)
	}
	t.lend(b.access.writes.Has(t.id), 1)
}

// End ends the borrow, after its goroutines are done; their rows and look-ups become invalid. It
// belongs to the world's owner. End panics if the borrow is not out. It also panics if everything
// is lent and a loop is still in progress.
func (b *Borrow) End() {
	b.check("Borrow.End")
	if b.q == nil { // a late goroutine may be taking an accessor right now
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	w := b.w
	if !b.out {
		b.refuse("Borrow.End")
	}
	if busy := len(b.accessors) - len(b.idle); b.q == nil && (busy > 0 || w.loops.open > 1) {
		// errors.md, Borrows: `ecs: Borrow.End: loops under way: ...; wait for their goroutines
		// first` | A goroutine still reads. | A `sync.WaitGroup` before `End`.
		panic(fmt.Sprintf("ecs: Borrow.End: loops under way: %d; wait for their goroutines first", max(1, busy)))
	}
	for _, t := range b.types {
		if f := b.finderOf(t); f.b != nil {
			f.grant(false, false)
		}
		t.lend(b.access.writes.Has(t.id), -1)
	}
	for _, r := range b.accessors {
		r.s.turn()
	}
	at := slices.Index(w.loops.borrows, b)
	w.loops.borrows = slices.Delete(w.loops.borrows, at, at+1)
	w.loops.open--
	b.out = false
	if len(w.loops.borrows) == 0 {
		w.news.unshared = w.news.matched
	}
}

// finderOf returns the finder for a type as used by the rows of the borrow's accessors. b is nil
// for the rows of the owner.
func (b *Borrow) finderOf(t *typeInfo) *finder {
	if b == nil || b.q == nil {
		return &t.finder
	}
	return b.lent[t.id]
}

// mark sets a version (N4). Goroutines with other rows of the chunk may set it too, to the same
// version, so most of them only load it.
func (b *Borrow) mark(version *uint32) {
	if atomic.LoadUint32(version) != b.version {
		atomic.StoreUint32(version, b.version)
	}
}

// Lent types, as the world's own functions check them (N2).

// lend adds n borrows of the type: 1 when a borrow begins, -1 when it ends. It then updates the
// owner's look-ups and buffer views to allow what the active borrows leave to them.
func (t *typeInfo) lend(write bool, n int32) {
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
func (f *finder) grant(read, write bool) {
	w, toRead, toWrite := f.t.w, &noEpoch, &noEpoch
	if read {
		toRead = &w.rows.Epoch
		f.Show(w.ids.View())
	} else {
		f.Hide()
	}
	if write {
		toWrite = &w.rows.Epoch
	}
	f.toRead, f.toWrite = toRead, toWrite
	if f.b == nil {
		f.t.showWrites()
	}
}

// checkLent panics if a borrow forbids the access to the type.
func (t *typeInfo) checkLent(op string, access uint8) {
	if t.writers > 0 || t.readers > 0 && access&mayWrite != 0 {
		t.refuseLent(op)
	}
}

//go:noinline
func (t *typeInfo) refuseLent(op string) {
	t.w.refuseShared(op)
	for _, does := range []string{"writes", "reads"} {
		for _, b := range t.w.loops.borrows {
			if does == "writes" && b.access.writes.Has(t.id) || does == "reads" && b.access.reads.Has(t.id) {
				// errors.md, Borrows: `is lent to ..., which ... it: complete it first; inside it
				// use ...` | The owner uses a type that a job in flight has. | In a system:
				// `State.Query` for loops, `State.Uses` for `Get`, `Set` and singletons; then it
				// waits. Else complete the job first, by its handle or the scheduler. In a body:
				// through its rows, or `Uses` and `Lookup`.
				inside := "its rows or a look-up"
				if b.access.writes.Has(t.id) && !b.used.Has(t.id) {
					inside = "its rows" // a look-up would be refused
				}
				panic(fmt.Sprintf("ecs: %s: %s is lent to %s, which %s it: complete it first; inside it use %s",
					op, t.name, b.name, does, inside))
			}
		}
	}
	// errors.md, Borrows: `is lent: end the borrow first` | A borrow begins of what another borrow
	// writes, or writes what another has. | End the other borrow first.
	panic("ecs: " + op + ": " + t.name + " is lent: end the borrow first")
}

// refuseShared panics while everything is borrowed.
func (w *World) refuseShared(op string) {
	if w.Shared() {
		panic("ecs: " + op + ": the world is shared: until Borrow.End components are only read")
	}
}
