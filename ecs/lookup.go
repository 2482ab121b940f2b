package ecs

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
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
// Invariants, checked by Verify:
//
//	L1 A directory that is built has, for each unit of the chunks, but small ones, of
//	   the archetypes that have its type, what startOf says, and nowhere else. It is as
//	   long as the table of owners.
//	L2 Look-ups of a type see the world's records as they are, or none while it is lent to
//	   be written.
//
// A directory is built when its type is first looked up, so that types that never are
// cost nothing, and World.setOwner, which sees every chunk come and go, keeps it.
// Rows that move change their record only. Archetypes may come and be given up again:
// one that is has no chunk by then, so no directory knows of it.

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

// directory says where the values of one type are. The world's owner writes it.
type directory struct {
	built  bool
	starts []uintptr    // by unit, as many as World.owners has once it is built: see above; noColumn: no such column there
	marks  []table.Mark // by unit, as starts: where the change version of the chunk's column is
}

// noColumn is no start: those are even, as offsets of columns and locations of chunks are.
const noColumn = 1

// build notes the chunks that there are, at the first call.
func (t *typeInfo) build() {
	if t.built {
		return
	}
	t.built = true
	t.w.built = append(t.w.built, t)
	t.reach(len(t.w.owners))
	for _, a := range t.w.archetypes {
		for pos, c := range a.grid.Chunks() {
			if !c.Small() {
				t.note(c, a, pos)
			}
		}
	}
}

// reach makes a directory that is built as long as the table of owners.
func (t *typeInfo) reach(units int) {
	for len(t.starts) < units {
		t.starts = append(t.starts, noColumn)
		t.marks = append(t.marks, table.Mark{})
	}
}

// startOf returns the entry of a chunk of an archetype, or of none.
func (t *typeInfo) startOf(c alloc.GridChunk, a *Archetype) uintptr {
	if a == nil || int(t.id) >= len(a.place) || a.place[t.id].flags() == 0 {
		return noColumn
	}
	column := uintptr(c.First)*alloc.EighthSize + uintptr(a.place[t.id].offset)*a.grid.Scale(c.Order)
	// This may wrap below 0; adding a location of the chunk wraps back.
	return column - uintptr(locate(c.First, 0))*uintptr(t.size)
}

// markOf returns the mark of a chunk of an archetype that has the type.
func (t *typeInfo) markOf(a *Archetype, pos int) table.Mark {
	return a.books.MarkOf(a.place[t.id].slot(), pos)
}

// note enters a chunk that an archetype got, or takes out one that nobody has any more.
func (t *typeInfo) note(c alloc.GridChunk, a *Archetype, pos int) {
	start, m := t.startOf(c, a), table.Mark{}
	if start != noColumn {
		m = t.markOf(a, pos)
	}
	first := int(c.First.Chunk())
	for unit := first; unit < first+c.Units(); unit++ {
		t.starts[unit], t.marks[unit] = start, m
	}
}

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
	unit := int(at >> rowBits)
	if unit >= len(t.starts) {
		return t.miss(op, e)
	}
	start := t.starts[unit]
	if start == noColumn {
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
	if !t.built && w.phase == nil && t.loan == nil && t.writers == 0 {
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
	if t.w.owners[at>>rowBits].archetype != shelved {
		return nil, 0
	}
	return t.seek(at)
}

// seek is find by way of the owner.
func (t *typeInfo) seek(at location) (unsafe.Pointer, location) {
	w, o := t.w, t.w.ownerOf(at)
	a := w.archetypeAt(o)
	if int(t.id) >= len(a.place) || a.place[t.id].flags() == 0 {
		return nil, 0
	}
	base, row := w.split(at, o.scale())
	// Safe because the offset is that of a column of the row's chunk.
	return unsafe.Add(base, uintptr(a.place[t.id].offset)*o.scale()+uintptr(row)*uintptr(t.size)), at
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

// mark marks the type changed in the chunk of a row that has it.
func (t *typeInfo) mark(at location) {
	if unit := int(at >> rowBits); unit < len(t.marks) {
		if version := t.marks[unit].Version(); version != nil {
			*version = t.w.version
			return
		}
	}
	t.markSmall(at)
}

//go:noinline
func (t *typeInfo) markSmall(at location) {
	a := t.w.archetypeAt(t.w.ownerOf(at))
	*a.books.Version(a.place[t.id].slot(), 0) = t.w.version
}

// checkHandle panics for a zero handle and a closed world.
func (w *World) checkHandle(op string) {
	if w == nil || w.closed {
		w.refuse(op)
	}
}

// verifyDirectories checks L1.
func (w *World) verifyDirectories() error {
	for _, d := range w.types {
		if d.built && (len(d.starts) != len(w.owners) || len(d.marks) != len(w.owners)) {
			return fmt.Errorf("ecs: L1: the directory of %s has %d units, the table of owners %d", d.name, len(d.starts), len(w.owners))
		}
		units, want := 0, 0
		for _, start := range d.starts {
			if start != noColumn {
				units++
			}
		}
		for _, a := range w.archetypes {
			for pos, c := range a.grid.Chunks() {
				start := d.startOf(c, a)
				if !d.built || start == noColumn || c.Small() {
					continue
				}
				want += c.Units()
				for unit := int(c.First.Chunk()); unit < int(c.First.Chunk())+c.Units(); unit++ {
					if unit >= len(d.starts) || d.starts[unit] != start ||
						d.marks[unit] != d.markOf(a, pos) {
						return fmt.Errorf("ecs: L1: %s in unit %d, chunk %d of %v, is not where its directory says",
							d.name, unit, pos, a)
					}
				}
			}
		}
		if units != want {
			return fmt.Errorf("ecs: L1: the directory of %s has %d units, the archetypes %d", d.name, units, want)
		}
	}
	return nil
}
