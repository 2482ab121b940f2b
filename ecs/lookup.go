package ecs

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// Look-ups.
//
// Within a chunk the address of a row's value is linear in the row's location, for
// a column is one piece. So all that a look-up needs to know of a chunk is one number:
// where the column would begin if the chunk's locations began at 0. A directory has
// that number for each unit of 16 KiB, as an offset from the world's base, and beside it
// where the chunk's change version is, for look-ups that write:
//
//	Entity 12v3       starts[location/4096]     the value's address
//	  | index 12        | 8 B a unit              |
//	  v                 v                         v
//	record 8 B -------> start ------------------> base + start + location*size
//	  location
//
// Units on the shelf, whose small chunks belong to several archetypes, have no start: a
// look-up of a row there, as of one without the type, asks the owners.
//
// That is three loads one after the other, two of them from memory that may be cold,
// the record and the value, and neither the chunk's order nor its archetype is asked for.
// A look-up by way of owner, archetype and place has three loads more.
//
// Invariant, checked by Verify, beside L1 of package table, which says what directories have:
//
//	L2 The owner's look-ups of a type see the world's records as they are, or none while the type is
//	   lent to be written. Look-ups of a borrow see them while the borrow is out, else none.

// finder is what look-ups of one type ask, and views of its buffers. A type has one for the world's
// owner, and one more for the goroutines of each borrow of a query that lends the type.
type finder struct {
	view entity.View    // of the world's records, which each look-up asks; none: every look-up goes to miss
	base unsafe.Pointer // of the world's universe
	size int            // bytes of an element of the column; 0 for a tag
	table.Directory
	toRead  *uint64 // the epoch of views of buffers that may be read: the world's, or noEpoch
	toWrite *uint64 // the same of those that may be written
	spill   *value.Spill
	shape   value.Shape // buffers: what they have in common; else zero
	t       *typeInfo
	b       *Borrow // whose goroutines look; nil: the owner does
	writes  bool    // look-ups may write: for a borrow, the type is among its uses to write; for the owner, nobody has borrowed it
}

// own returns the finder of the owner's look-ups, nil for the type of a zero handle.
func (t *typeInfo) own() *finder { return (*finder)(unsafe.Pointer(t)) } // Safe because a typeInfo begins with it.

// lookupOp is a function's name for messages, as a number: a string would cost each
// look-up some instructions.
type lookupOp uint8

const (
	opGet lookupOp = iota
	opMut
	opHas
	opSet
	opGetMany
	opMutMany
	opGather
	opBufferGet
	opBufferMut
	opBufferSlice
	opBufferAppend
	opManagedGet
	opManagedMut
	opManagedSet
	opLookupGet
	opLookupMut
	opLookupHas
	opLookupSet
	opBufferLookupGet
	opBufferLookupMut
)

var lookupOps = [...]string{
	opGet:          "Component.Get",
	opMut:          "Component.Mut",
	opHas:          "Component.Has",
	opSet:          "Component.Set",
	opGetMany:      "Component.GetMany",
	opMutMany:      "Component.MutMany",
	opGather:       "Component.Gather",
	opBufferGet:    "Buffer.Get",
	opBufferMut:    "Buffer.Mut",
	opBufferSlice:  "Buffer.Slice",
	opBufferAppend: "Buffer.Append",
	opManagedGet:   "Managed.Get",
	opManagedMut:   "Managed.Mut",
	opManagedSet:   "Managed.Set",
	opLookupGet:    "Lookup.Get",
	opLookupMut:    "Lookup.Mut",
	opLookupHas:    "Lookup.Has",
	opLookupSet:    "Lookup.Set",

	opBufferLookupGet: "BufferLookup.Get",
	opBufferLookupMut: "BufferLookup.Mut",
}

func (op lookupOp) String() string { return lookupOps[op] }

// showRecords tells look-ups where the records are, after they may have moved (L2).
func (w *World) showRecords() {
	view := w.ids.View()
	if view == w.shown {
		return
	}
	w.shown = view
	for _, t := range w.types.list {
		if t.writers == 0 {
			t.view = view
		}
	}
}

// build notes the chunks that there are, at the first call.
func (t *typeInfo) build() { t.w.tables.Build(&t.Directory, t.id, t.w.archetypes.tables) }

// find returns the address of e's value and where e is, or nil when e is not alive or
// lacks the type. A nil f is that of a zero handle.
func (f *finder) find(op lookupOp, e Entity) (unsafe.Pointer, location) {
	if f == nil {
		return f.miss(op, e)
	}
	r := f.view.Record(entity.ID(e))
	if r == nil {
		return f.miss(op, e)
	}
	if !r.Is(entity.ID(e)) {
		return nil, 0
	}
	at := uintptr(r.Location)
	unit := int(at >> table.RowBits)
	if unit >= len(f.Starts) {
		return f.miss(op, e)
	}
	start := f.Starts[unit]
	if start == table.NoColumn {
		return f.seekSmall(location(at))
	}
	// Safe because a row that a record leads to lies in the chunk (W1), and start
	// is that of the chunk's column (L1).
	return unsafe.Add(f.base, start+at*uintptr(f.size)), location(at)
}

// miss does what find does not expect: it panics for zero handles, closed worlds and
// entities of another world, and builds the directory.
//
//go:noinline
func (f *finder) miss(op lookupOp, e Entity) (unsafe.Pointer, location) {
	t := f.known(op.String())
	w := t.w
	w.checkWorld(op.String(), e)
	if op != opHas {
		f.checkRead(op.String())
	}
	r := w.find(e)
	if r == nil {
		return nil, 0
	}
	if !f.Built && f.b == nil && t.writers == 0 && !w.isShared() {
		t.build()
		return f.find(op, e)
	}
	return f.seek(r.Location) // of a borrow, several goroutines may be here: none may build
}

// known returns the type, and panics for a zero handle.
func (f *finder) known(op string) *typeInfo {
	if f == nil {
		(*World)(nil).refuse(op)
	}
	return f.t
}

// checkRead panics where look-ups may not read the type now: the owner's while it is lent to be
// written, those of a borrow while that is not out.
func (f *finder) checkRead(op string) {
	switch {
	case f.b == nil:
		f.t.checkLent(op, mayRead)
	case !f.b.out:
		f.b.refuse(op + ": " + f.t.name)
	}
}

// checkWrite is checkRead for look-ups that write.
//
//go:noinline
func (f *finder) checkWrite(op string) {
	switch {
	case f.b == nil:
		f.t.checkLent(op, mayWrite)
	case !f.b.out:
		f.checkRead(op)
	case !f.writes:
		panic(fmt.Sprintf("ecs: %s: %s declares %s to read: use ecs.Write", op, f.b.name, f.t.name))
	}
}

// seekSmall is find for a row in a unit that the directory does not know: of a small
// chunk, or without the type.
//
//go:noinline
func (f *finder) seekSmall(at location) (unsafe.Pointer, location) {
	if !f.t.w.tables.IsShelved(at) {
		return nil, 0
	}
	return f.seek(at)
}

// seek is find by way of the owner.
func (f *finder) seek(at location) (unsafe.Pointer, location) {
	w, o := f.t.w, f.t.w.tables.OwnerOf(at)
	a := w.archetypeAt(o)
	if int(f.t.id) >= len(a.table.Places) || a.table.Places[f.t.id].Flags() == 0 {
		return nil, 0
	}
	base, row := w.tables.Split(at, o.Scale())
	// Safe because the offset is that of a column of the row's chunk.
	return unsafe.Add(base, uintptr(a.table.Places[f.t.id].Offset)*o.Scale()+uintptr(row)*uintptr(f.size)), at
}

// mut is find for writing: it marks the type changed in e's chunk.
func (t *typeInfo) mut(op lookupOp, e Entity) unsafe.Pointer {
	p, at := t.own().find(op, e)
	if p != nil {
		if !t.writes {
			t.checkWrite(op.String())
		}
		t.mark(at)
	}
	return p
}

// mark marks the type changed in the chunk of a row that has it.
func (t *typeInfo) mark(at location) {
	version := t.versionAt(at)
	if version == nil {
		version = t.versionSmall(at)
	}
	*version = t.w.tables.Version
}

// versionAt returns where the type's version is in the chunk of a row that has it; nil: versionSmall
// knows. It is small enough to be inlined.
func (f *finder) versionAt(at location) *uint32 {
	if unit := int(at >> table.RowBits); unit < len(f.Marks) {
		return f.Marks[unit].Version()
	}
	return nil
}

//go:noinline
func (f *finder) versionSmall(at location) *uint32 {
	a := f.t.w.archetypeAt(f.t.w.tables.OwnerOf(at))
	return a.table.Books.Version(a.table.Places[f.t.id].Slot(), 0)
}
