package ecs

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
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
// A look-up by way of owner, archetype and place has three loads more and twice the
// instructions, so that half as many look-ups are under way in the CPU at a time.
//
// Invariant, checked by Verify:
//
//	L1 A directory that is built has, for each unit of the chunks, but small ones, of
//	   the archetypes that have its type, what startOf says, and nowhere else.
//
// A directory is built when its type is first looked up, so that types that never are
// cost nothing, and World.setOwner, which sees every chunk come and go, keeps it.
// Rows that move change their record only. Archetypes may come and be forgotten again:
// one that is forgotten never had a chunk, so no directory knows of it.

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
	opLookupGet
	opLookupMut
	opLookupHas
	opLookupSet
)

var lookupOps = [...]string{
	opGet:       "Component.Get",
	opMut:       "Component.Mut",
	opHas:       "Component.Has",
	opSet:       "Component.Set",
	opGetMany:   "Component.GetMany",
	opMutMany:   "Component.MutMany",
	opGather:    "Component.Gather",
	opLookupGet: "Lookup.Get",
	opLookupMut: "Lookup.Mut",
	opLookupHas: "Lookup.Has",
	opLookupSet: "Lookup.Set",
}

func (op lookupOp) String() string { return lookupOps[op] }

// directory says where the values of one type are. Its world's owner writes it.
type directory struct {
	tag    uint32 // of the world, as are table and base: each look-up asks for them
	id     typeID
	built  bool
	table  *table
	base   unsafe.Pointer
	w      *World
	size   uintptr   // bytes of a value; 0 for a tag
	starts []uintptr // by unit, up to the last that mattered: see above; noColumn: no such column there
	marks  []mark    // by unit, as starts; what it says is void where that is noColumn
}

// mark says where the change version of a chunk's column is kept.
type mark struct {
	versions *[]uint32 // an archetype's changed, which may move
	at       uint32    // index of the version
}

// noColumn is no start: those are even, as offsets of columns and locations of chunks are.
const noColumn = 1

// build notes the chunks that there are, at the first call.
func (d *directory) build() {
	if d.built {
		return
	}
	d.built = true
	d.w.built = append(d.w.built, d)
	for _, a := range d.w.archetypes {
		for pos, c := range a.grid.Chunks() {
			if !c.Small() {
				d.note(c, a, pos)
			}
		}
	}
}

// startOf returns the entry of a chunk of an archetype, or of none.
func (d *directory) startOf(c alloc.GridChunk, a *Archetype) uintptr {
	if a == nil || int(d.id) >= len(a.place) || a.place[d.id].flags() == 0 {
		return noColumn
	}
	column := uintptr(c.First)*alloc.EighthSize + uintptr(a.place[d.id].offset)<<(c.Order&31)
	// This may wrap below 0; adding a location of the chunk wraps back.
	return column - uintptr(locate(c.First, 0))*d.size
}

// markOf returns the mark of a chunk of an archetype that has the type.
func (d *directory) markOf(a *Archetype, pos int) mark {
	return mark{&a.changed, uint32(pos*len(a.types)) + uint32(a.place[d.id].slot())}
}

// note enters a chunk that an archetype got, or takes out one that nobody has any more.
func (d *directory) note(c alloc.GridChunk, a *Archetype, pos int) {
	start, first, end := d.startOf(c, a), int(c.First.Chunk()), int(c.First.Chunk())+c.Units()
	var m mark
	if start == noColumn {
		end = min(end, len(d.starts))
	} else {
		m = d.markOf(a, pos)
	}
	for len(d.starts) < end {
		d.starts = append(d.starts, noColumn)
		d.marks = append(d.marks, mark{})
	}
	for unit := first; unit < end; unit++ {
		d.starts[unit], d.marks[unit] = start, m
	}
}

// find returns the address of e's value and where e is, or nil when e is not alive or
// lacks the type. A nil directory is that of a zero handle.
func (d *directory) find(op lookupOp, e Entity) (unsafe.Pointer, location) {
	if d == nil {
		return d.miss(op, e)
	}
	// The other tag of another world's entity leaves a bit beyond the index: no block
	// has such a number.
	index := e.ref ^ d.tag
	b := int(index >> blockShift)
	if b >= maxBlocks {
		return d.miss(op, e)
	}
	block := d.table[b].Load()
	if block == nil {
		return d.miss(op, e)
	}
	r := &block[index%blockSize]
	if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {
		return nil, 0
	}
	at := uintptr(r.location)
	unit := int(at >> rowBits)
	if unit >= len(d.starts) {
		return d.miss(op, e)
	}
	start := d.starts[unit]
	if start == noColumn {
		return d.seekSmall(location(at))
	}
	// Safe because a row that a record leads to lies in the chunk (W1), and start
	// is that of the chunk's column (L1).
	return unsafe.Add(d.base, start+at*d.size), location(at)
}

// miss does what find does not expect: it panics for zero handles, closed worlds and
// entities of another world, and builds the directory.
//
//go:noinline
func (d *directory) miss(op lookupOp, e Entity) (unsafe.Pointer, location) {
	if d == nil {
		(*World)(nil).refuse(op.String())
	}
	w := d.w
	w.checkWorld(op.String(), e)
	r := w.records.find(e, w.tag)
	if r == nil {
		return nil, 0
	}
	if !d.built && w.phase == nil {
		d.build()
		return d.find(op, e)
	}
	return d.seek(r.location) // while the world is shared, several goroutines may be here: none may build
}

// seekSmall is find for a row in a unit that the directory does not know: of a small
// chunk, or without the type.
//
//go:noinline
func (d *directory) seekSmall(at location) (unsafe.Pointer, location) {
	if d.w.owners[at>>rowBits].archetype != shelved {
		return nil, 0
	}
	return d.seek(at)
}

// seek is find by way of the owner.
func (d *directory) seek(at location) (unsafe.Pointer, location) {
	w, o := d.w, d.w.ownerOf(at)
	a := w.archetypeAt(o)
	if int(d.id) >= len(a.place) || a.place[d.id].flags() == 0 {
		return nil, 0
	}
	base, row := w.split(at, o.eighths())
	// Safe because the offset is that of a column of the row's chunk.
	return unsafe.Add(base, uintptr(a.place[d.id].offset)*o.eighths()+uintptr(row)*d.size), at
}

// mut is find for writing: it marks the type changed in e's chunk.
func (d *directory) mut(op lookupOp, e Entity) (unsafe.Pointer, location) {
	p, at := d.find(op, e)
	if p != nil {
		if d.w.phase != nil {
			d.w.phase.refuse(op.String())
		}
		if d.knows(at) {
			d.mark(at)
		} else {
			d.markSmall(at)
		}
	}
	return p, at
}

// value returns what find or mut found.
func value[T any](p unsafe.Pointer, _ location) *T {
	// Safe because p is the address of a T, the directory's type, or nil.
	return (*T)(p)
}

// mark marks the type changed in the chunk of a row that has it and that the directory
// knows; markSmall in a small one. They are two so that this one is inlined.
func (d *directory) mark(at location) {
	m := &d.marks[at>>rowBits]
	(*m.versions)[m.at] = d.w.version
}

// knows reports whether there is a start for a row.
func (d *directory) knows(at location) bool {
	unit := int(at >> rowBits)
	return unit < len(d.starts) && d.starts[unit] != noColumn
}

//go:noinline
func (d *directory) markSmall(at location) {
	a := d.w.archetypeAt(d.w.ownerOf(at))
	*a.changedOf(a.place[d.id].slot(), 0) = d.w.version
}

// Lookup is Get, Mut, Has and Set of the Component it is made of, with their contract
// and checks, in a handle of one pointer whose directory is built: none of its methods
// ever stops to note chunks. It needs no renewal: structural changes, which void the
// pointers it gave, keep it good, until the world is closed. A call costs what the
// Component's does, which is the one to use where nothing else matters.
//
// All methods belong to the world's owner: one goroutine at a time.
type Lookup[T any] struct {
	d *directory
}

// NewLookup returns the look-up of a type. The first look-up of a type, by whatever
// means, notes where the columns of all chunks are: 24 B and some ns for each unit of
// 16 KiB in the world, once, and as much for each chunk that comes or goes from then on.
// It panics for a closed world.
func NewLookup[T any](c Component[T]) Lookup[T] {
	c.w.checkHandle("NewLookup")
	if c.w.phase != nil {
		c.w.phase.refuse("NewLookup")
	}
	c.d.build()
	return Lookup[T]{c.d}
}

// checkHandle panics for a zero handle and a closed world.
func (w *World) checkHandle(op string) {
	if w == nil || w.closed {
		w.refuse(op)
	}
}

// Get returns e's component to read, or nil when e is not alive or does not have
// it. The pointer is good until the next structural change of the world.
func (l Lookup[T]) Get(e Entity) *T { return value[T](l.d.find(opLookupGet, e)) }

// Mut is Get for writing: it marks the component changed in e's chunk.
func (l Lookup[T]) Mut(e Entity) *T { return value[T](l.d.mut(opLookupMut, e)) }

// Has reports whether e is alive and has the component, enabled or not.
func (l Lookup[T]) Has(e Entity) bool {
	p, _ := l.d.find(opLookupHas, e)
	return p != nil
}

// Set writes e's component and marks it changed. It returns false when e is not
// alive or does not have it.
func (l Lookup[T]) Set(e Entity, v T) bool {
	p := value[T](l.d.mut(opLookupSet, e))
	if p == nil {
		return false
	}
	*p = v
	return true
}

// verifyDirectories checks L1.
func (w *World) verifyDirectories() error {
	for _, d := range w.directories {
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
							w.types[d.id].name, unit, pos, a)
					}
				}
			}
		}
		if units != want {
			return fmt.Errorf("ecs: L1: the directory of %s has %d units, the archetypes %d", w.types[d.id].name, units, want)
		}
	}
	return nil
}
