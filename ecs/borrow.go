package ecs

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Borrows.
//
// A borrow lends types of a world to other goroutines, from Begin to End: those that a query
// declares, or everything to read. The goroutines see rows by accessors, each of which has a scan
// of its own. They look up entities by the finders of the borrow; while everything is borrowed, by
// the world's own.
//
//	owner                        goroutines
//	Begin  counts its types      Accessor.Rows   own scan, the borrow's bindings
//	       fills the finders     Slice, Mut    mark with the borrow's version
//	                             Lookup.Get    by the borrow's finder of the type
//	End    counts them off
//
// Several borrows of queries may be out, those that conflict too: the scheduler that made them
// orders their work, by Access. So Begin and End of one borrow write nothing that goroutines of
// another read: they write the counts in a type, the finder of the world's owner, the world's
// version and the world's loops. A borrow of everything is out alone.
//
// Invariants, all while a borrow is out:
//
//	N1 The structure of the world does not change. A structural change first ends all borrows of queries, by their
//	   waits; while everything is borrowed it panics.
//	N2 The world's own functions do not write a type that is lent, and do not read a type that is lent to be written.
//	   They panic, in every build. Only Enable and Disable of one entity write while everything is borrowed.
//	N3 The goroutines of a borrow write only types that it declares to write, in the rows of their accessors or by
//	   look-ups of the uses, and the blocks of their buffers; and enable bits while everything is borrowed.
//	N4 A write by one of the goroutines is marked with the version that Begin found. Several goroutines may mark one
//	   chunk: they do it atomically, and with the same version.

// Borrow lends what a query declares, and more uses, or everything to read, to other goroutines. It
// may be begun and ended any number of times. Begin and End belong to the world's owner.
type Borrow struct {
	w      *World
	q      *Query // whose rows are lent; nil: everything is, to read
	own    Query  // q as the goroutines see it: with access lentRead and lentWrite, and bindings of its own
	name   string
	wait   func(op string)
	access Access
	used   signature   // types of the uses
	types  []*typeInfo // of access
	lent   []*finder   // of those types, by typeID; none where everything is lent

	mu        sync.Mutex
	accessors []*Accessor
	idle      []*Accessor // those of the accessors that Rows may use again
	version   uint32      // that writes are marked with
	out       bool
}

// newBorrow makes a borrow of what q declares, and for look-ups of any entity of the types of uses,
// which are Read and Write terms. name is for messages, "job move". A structural change that is
// asked for while the borrow is out calls wait on its goroutine, with its name as Component.Add;
// wait ends the borrow, or panics. It panics for a use that the query declares too, unless both
// only read; for a type of another world; and for a wait that is nil.
func newBorrow(q *Query, name string, wait func(op string), uses ...Term) *Borrow {
	q.checkOpen("seam.NewBorrow")
	if wait == nil {
		panic("ecs: seam.NewBorrow: wait is nil; it ends the borrow when a structural change asks for it")
	}
	b := &Borrow{w: q.w, q: q, own: *q, name: name, wait: wait, access: q.Access()}
	b.own.bindings, b.own.seen, b.own.access = nil, 0, make([]uint8, len(q.access))
	for id, access := range q.access {
		if access != 0 {
			b.own.access[id] = declared | access&(mayRead|mayWrite)*lentRead
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
			b.lent[id] = &finder{t: t, b: b, size: t.size, shape: t.shape, spill: q.w.buffers.Lent(), writes: write && b.used.Has(id)}
			b.lent[id].grant(false, false)
		}
	}
	return b
}

// use joins one of the uses to the access.
func (b *Borrow) use(u Term) {
	if u.kind > termWrite || len(u.of) != 1 {
		panic("ecs: seam.NewBorrow: a use is neither Read nor Write of a type")
	}
	o := u.of[0]
	b.w.checkOwn("seam.NewBorrow", o.t)
	id, write := o.t.id, o.access&mayWrite != 0
	if b.access.writes.Has(id) || write && (b.q.declares(id) || b.used.Has(id)) {
		panic(fmt.Sprintf("ecs: seam.NewBorrow: %s is declared twice, to be written: by %v and as a use, or as two uses", o.t.name, b.q))
	}
	if write {
		b.access.reads.Drop(id)
	}
	b.access.add(id, o.access)
	b.used.Add(id)
}

// declares reports whether the query gives access to a type.
func (q *Query) declares(id typeID) bool { return int(id) < len(q.access) && q.access[id] != 0 }

// Share lends everything to read. The owner hands the borrow to other goroutines, waits until they
// are done, by a WaitGroup or the like, and calls End. Until then any goroutine may loop over
// queries by Borrow.Rows and RowsOf; read by Get, Has, Alive and Enabled, by Get and Slice of
// buffers, by Get, At and Of of shared types and Get of managed ones; look up many (GetList,
// CopyList); and use Enable and Disable. All else that changes the world panics: structural
// changes, writes to components, new archetypes and new types. Share ends borrows of queries that
// are out. It panics inside a loop, while the world is shared, and when it is closed.
func (w *World) Share() *Borrow {
	w.checkNew("World.Share")
	b := &Borrow{w: w, name: "the share"}
	b.begin("World.Share")
	return b
}

// Access returns what the borrow reads and writes: what its query does, and its uses. A borrow of
// everything reads the types that were registered when it began.
func (b *Borrow) Access() Access {
	b.check("Borrow.Access")
	return b.access
}

// Active reports whether the borrow has begun and not ended. The world's owner may ask.
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

// Begin begins the borrow, for the world's owner. Until End structural changes wait for it, and the
// world's own functions do not write its types nor read those that it writes: they panic. A query
// with Changed or Ordered compares with its Since as it is now. Unless that is pinned it moves on,
// and the world's version advances, as by a loop that ends. It panics inside a loop and while the
// world is shared, for a closed query or world, and when the borrow is out. It allocates when there
// are new archetypes. A borrow of everything begins as by World.Share.
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
		panic("ecs: " + op + ": " + b.name + " is out already")
	}
	if w.loops.open > len(w.loops.borrows) {
		panic("ecs: " + op + ": " + b.name + ": " + w.loop() + "; begin it outside of loops")
	}
	b.look(op)
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

// look finds what there is to lend.
func (b *Borrow) look(op string) {
	if b.q != nil {
		b.own.m, b.own.since = b.q.m, b.q.since
		b.own.lookAlone()
		return
	}
	b.w.endBorrows(op)
	b.types = b.w.types.list
	for _, t := range b.types {
		b.access.reads.Add(t.id)
	}
}

// lend lends a type, and brings the finder of the borrow's goroutines up to date.
func (b *Borrow) lend(t *typeInfo) {
	if f := b.finderOf(t); f.b != nil {
		f.ShareCells(&t.Sight)
		f.grant(true, true)
	}
	t.lend(b.access.writes.Has(t.id), 1)
}

// End ends the borrow, for the world's owner, after its goroutines are done: their rows and
// look-ups are void. It panics when the borrow is not out, and when a loop over everything is still
// under way.
func (b *Borrow) End() {
	b.check("Borrow.End")
	if b.q == nil { // a goroutine may come too late
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	w := b.w
	if !b.out {
		b.refuse("Borrow.End")
	}
	if busy := len(b.accessors) - len(b.idle); b.q == nil && (busy > 0 || w.loops.open > 1) {
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

// finderOf returns what the rows of a borrow's accessors use of a type; b is nil for rows of the
// owner.
func (b *Borrow) finderOf(t *typeInfo) *finder {
	if b == nil || b.q == nil {
		return &t.finder
	}
	return b.lent[t.id]
}

func (b *Borrow) mark(version *uint32) {
	if atomic.LoadUint32(version) != b.version {
		atomic.StoreUint32(version, b.version)
	}
}

// markLent marks a type changed in the chunk of an accessor's rows (N4). Goroutines with other rows
// of the chunk may be doing so: with the same version, so most only look.
func (s *scan) markLent(p place) {
	if p.Flags()&lentWrite != 0 {
		s.b.mark(s.t.a.table.Books.Version(p.Slot(), s.pos))
	}
}

// What is lent, as the world's own functions ask it (N2).

// lend counts a borrow of the type: one more, or with n = -1 one fewer. The world's own look-ups,
// and its views of buffers, may then do what the borrows that are out leave to them.
func (t *typeInfo) lend(write bool, n int32) {
	if write {
		t.writers += n
	} else {
		t.readers += n
	}
	t.writes = t.writers+t.readers == 0
	t.grant(t.writers == 0, t.writes)
}

// noEpoch is the epoch of views of buffers that may not be used: none was made then.
var noEpoch = ^uint64(0)

// grant lets look-ups find entities, and views of buffers be read and written, or not (L2):
// look-ups go to miss, views to refuse.
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

// checkLent panics when a borrow forbids an access to the type.
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
				panic(fmt.Sprintf("ecs: %s: %s is lent to %s, which %s it: complete it first; inside it use its rows or a look-up",
					op, t.name, b.name, does))
			}
		}
	}
	panic("ecs: " + op + ": " + t.name + " is lent: end the borrow first")
}

// refuseShared panics while everything is borrowed.
func (w *World) refuseShared(op string) {
	if w.isShared() {
		panic("ecs: " + op + ": the world is shared: until Borrow.End components are only read")
	}
}
