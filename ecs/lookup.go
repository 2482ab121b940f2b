package ecs

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
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
//	L2 Look-ups of a type see the world's records as they are, or none while it is lent to
//	   be written.

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
// lacks the type. A nil t is that of a zero handle.
func (t *typeInfo) find(op lookupOp, e Entity) (unsafe.Pointer, location) {
	if t == nil {
		return t.miss(op, e)
	}
	r := t.view.Record(entity.ID(e))
	if r == nil {
		return t.miss(op, e)
	}
	if !r.Is(entity.ID(e)) {
		return nil, 0
	}
	at := uintptr(r.Location)
	unit := int(at >> table.RowBits)
	if unit >= len(t.Starts) {
		return t.miss(op, e)
	}
	start := t.Starts[unit]
	if start == table.NoColumn {
		return t.seekSmall(location(at))
	}
	// Safe because a row that a record leads to lies in the chunk (W1), and start
	// is that of the chunk's column (L1).
	return unsafe.Add(t.base, start+at*uintptr(t.size)), location(at)
}

// miss does what find does not expect: it panics for zero handles, closed worlds and
// entities of another world, and builds the directory.
//
//go:noinline
func (t *typeInfo) miss(op lookupOp, e Entity) (unsafe.Pointer, location) {
	if t == nil {
		(*World)(nil).refuse(op.String())
	}
	w := t.w
	w.checkWorld(op.String(), e)
	if t.loan != nil && !t.loan.out {
		t.loan.refuse(op.String() + ": " + t.name)
	}
	if t.writers > 0 && op != opHas {
		t.refuseLent(op.String())
	}
	r := w.find(e)
	if r == nil {
		return nil, 0
	}
	if !t.Built && w.loops.phase == nil && t.loan == nil && t.writers == 0 {
		t.build()
		return t.find(op, e)
	}
	return t.seek(r.Location) // while the world is shared, several goroutines may be here: none may build
}

// seekSmall is find for a row in a unit that the directory does not know: of a small
// chunk, or without the type.
//
//go:noinline
func (t *typeInfo) seekSmall(at location) (unsafe.Pointer, location) {
	if !t.w.tables.IsShelved(at) {
		return nil, 0
	}
	return t.seek(at)
}

// seek is find by way of the owner.
func (t *typeInfo) seek(at location) (unsafe.Pointer, location) {
	w, o := t.w, t.w.tables.OwnerOf(at)
	a := w.archetypeAt(o)
	if int(t.id) >= len(a.table.Places) || a.table.Places[t.id].Flags() == 0 {
		return nil, 0
	}
	base, row := w.tables.Split(at, o.Scale())
	// Safe because the offset is that of a column of the row's chunk.
	return unsafe.Add(base, uintptr(a.table.Places[t.id].Offset)*o.Scale()+uintptr(row)*uintptr(t.size)), at
}

// mut is find for writing: it marks the type changed in e's chunk.
func (t *typeInfo) mut(op lookupOp, e Entity) unsafe.Pointer {
	p, at := t.find(op, e)
	if p != nil {
		if t.guarded {
			t.checkWrite(op.String())
		}
		t.mark(at)
	}
	return p
}

// mutLent is mut for a goroutine of a loan.
func (t *typeInfo) mutLent(op lookupOp, e Entity) unsafe.Pointer {
	if t == nil || !t.writable {
		t.checkWritable(op.String())
	}
	p, at := t.find(op, e)
	if p == nil {
		return nil
	}
	if unit := int(at >> table.RowBits); unit < len(t.Marks) {
		if version := t.Marks[unit].Version(); version != nil {
			t.loan.mark(version)
			return p
		}
	}
	a := t.w.archetypeAt(t.w.tables.OwnerOf(at))
	t.loan.mark(a.table.Books.Version(a.table.Places[t.id].Slot(), 0))
	return p
}

// mark marks the type changed in the chunk of a row that has it.
func (t *typeInfo) mark(at location) {
	if unit := int(at >> table.RowBits); unit < len(t.Marks) {
		if version := t.Marks[unit].Version(); version != nil {
			*version = t.w.tables.Version
			return
		}
	}
	t.markSmall(at)
}

//go:noinline
func (t *typeInfo) markSmall(at location) {
	a := t.w.archetypeAt(t.w.tables.OwnerOf(at))
	*a.table.Books.Version(a.table.Places[t.id].Slot(), 0) = t.w.tables.Version
}
