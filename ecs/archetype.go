package ecs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"quarry/alloc"
	"quarry/layout"
)

// signature is a set of types: bit i stands for type i.
type signature [MaxTypes / 64]uint64

func (s *signature) has(id typeID) bool { return s[id/64]>>(id%64)&1 != 0 }
func (s *signature) add(id typeID)      { s[id/64] |= 1 << (id % 64) }
func (s *signature) drop(id typeID)     { s[id/64] &^= 1 << (id % 64) }

// place says where a type lies in an archetype's chunks, and what the holder of
// the table may do with it.
type place struct {
	offset uint32 // bytes from the chunk's start to the column
	slot   uint16 // index into the archetype's types
	flags  uint16 // 0: the type is absent or not declared
}

const (
	mayRead = 1 << iota
	mayWrite
)

// column is a type with storage in an archetype's chunks.
type column struct {
	offset uint32 // bytes from the chunk's start
	size   uint32 // bytes of one row's element
	id     typeID
}

// Archetype is a set of component types and owner of the chunks of all entities
// that have exactly that set. Its rows are dense: only the last chunk is ever
// part full, and a row that goes is replaced by the last one.
//
// All methods belong to the world's owner: one goroutine at a time.
type Archetype struct {
	w       *World
	index   uint32 // in World.archetypes
	sig     signature
	types   []typeID // in rising order
	place   []place  // by typeID, up to the highest of types
	plan    layout.Plan
	columns []column // types with storage; the entity column, at offset 0, is not among them
	buffers []column // those of columns that are buffers
	edges   []edge   // archetypes one type away, found so far

	count    int                // rows
	chunks   []alloc.ChunkIndex // all full but the last (W2)
	changed  [][]uint32         // [slot][chunk]: version of the last write
	marked   []uint32           // [chunk]: version at which all types were marked at once
	enabled  [][]uint64         // [slot][chunk*words + word], nil where not enableable
	toggling []uint16           // slots that are enableable
}

// NewArchetype returns the archetype of a set of types, in any order; the same
// set always gives the same archetype. It panics for a type of another world or
// one that is given twice, and with a *LimitError when a row does not fit a
// chunk.
func NewArchetype(w *World, types ...Type) *Archetype {
	a, err := TryNewArchetype(w, types...)
	if err != nil {
		panic(err)
	}
	return a
}

// TryNewArchetype is NewArchetype that returns the *LimitError.
func TryNewArchetype(w *World, types ...Type) (*Archetype, error) {
	if w.closed {
		panic("ecs: NewArchetype: the world is closed")
	}
	var sig signature
	for _, t := range types {
		id := w.idOf("NewArchetype", t)
		if sig.has(id) {
			panic(fmt.Sprintf("ecs: NewArchetype: %s is given twice", w.types[id].name))
		}
		sig.add(id)
	}
	a, err := w.archetypeOf(sig)
	return a, during("NewArchetype", err)
}

// idOf returns the type's number after checking that it is one of w's.
func (w *World) idOf(op string, t Type) typeID {
	if t == nil {
		panic("ecs: " + op + ": a type is nil")
	}
	tw, id := t.handle()
	switch {
	case tw == nil:
		tw.refuse(op)
	case tw != w:
		panic(fmt.Sprintf("ecs: %s: %s was registered in another world", op, tw.types[id].name))
	}
	return id
}

// archetypeOf finds or makes the archetype of a set.
func (w *World) archetypeOf(sig signature) (*Archetype, error) {
	if a := w.byTypes[sig]; a != nil {
		return a, nil
	}
	a := &Archetype{w: w, index: uint32(len(w.archetypes)), sig: sig}
	for id := range w.types {
		if sig.has(typeID(id)) {
			a.types = append(a.types, typeID(id))
		}
	}
	if err := a.layOut(); err != nil {
		return nil, err
	}
	w.archetypes = append(w.archetypes, a)
	w.byTypes[sig] = a
	for _, q := range w.queries {
		q.consider(a)
	}
	return a, nil
}

// forget takes the archetype that was made last, and has no rows, out again.
func (w *World) forget(a *Archetype) {
	w.archetypes = w.archetypes[:len(w.archetypes)-1]
	delete(w.byTypes, a.sig)
	for _, q := range w.queries {
		if n := len(q.matches); n > 0 && q.matches[n-1].a == a {
			q.matches = q.matches[:n-1]
		}
	}
}

// layOut plans the chunk. Wide alignment first, so that nothing is lost between
// columns; they start on cache lines anyway.
func (a *Archetype) layOut() error {
	w := a.w
	columns := []layout.Column{{Name: "Entity", Size: int(unsafe.Sizeof(Entity{})), Align: int(unsafe.Alignof(Entity{}))}}
	for _, id := range a.types {
		t := &w.types[id]
		columns = append(columns, layout.Column{Name: t.name, Size: t.size, Align: t.align, Enableable: t.enableable})
	}
	plan, err := layout.New(columns, layout.Options{})
	if errors.Is(err, layout.ErrTooBig) {
		return limit("bytes of columns a chunk", layout.ChunkSize, err)
	}
	if err != nil {
		panic("ecs: NewArchetype: " + err.Error()) // sizes and alignments come from Go types
	}
	a.plan = plan
	if n := len(a.types); n > 0 {
		a.place = make([]place, a.types[n-1]+1)
	}
	a.changed = make([][]uint32, len(a.types))
	a.enabled = make([][]uint64, len(a.types))
	for slot, id := range a.types {
		t, offset := &w.types[id], uint32(plan.Places[slot+1].Offset)
		if t.size == 0 {
			offset = 0 // a tag's place may be the chunk's very end: point inside
		}
		a.place[id] = place{offset: offset, slot: uint16(slot), flags: mayRead | mayWrite}
		c := column{offset: offset, size: uint32(t.size), id: id}
		if t.size > 0 {
			a.columns = append(a.columns, c)
		}
		if t.buffer {
			a.buffers = append(a.buffers, c)
		}
		if t.enableable {
			a.toggling = append(a.toggling, uint16(slot))
		}
	}
	return nil
}

// Len returns the number of entities that have exactly the archetype's types.
func (a *Archetype) Len() int { return a.count }

// Plan returns the layout of the archetype's chunks; it prints as a drawing.
func (a *Archetype) Plan() layout.Plan { return a.plan }

// String lists the archetype's types.
func (a *Archetype) String() string {
	names := make([]string, len(a.types))
	for i, id := range a.types {
		names[i] = a.w.types[id].name
	}
	return "[" + strings.Join(names, " ") + "]"
}

// maskWords returns the words of one chunk's enable bits.
func (a *Archetype) maskWords() int { return (a.plan.Rows + 63) / 64 }

// rowsOf returns the rows of the chunk at a position.
func (a *Archetype) rowsOf(pos int) int {
	return min(a.plan.Rows, a.count-pos*a.plan.Rows)
}

// grow adds chunks until there is room for n more rows. On an error nothing has
// changed.
func (a *Archetype) grow(n int) error {
	missing := (a.count + n + a.plan.Rows - 1) / a.plan.Rows
	missing -= len(a.chunks)
	if missing <= 0 {
		return nil
	}
	before := len(a.chunks)
	for missing > 0 {
		first, got, err := a.w.u.Alloc(min(missing, alloc.ChunksPerMegachunk))
		if err != nil {
			a.shrink(before)
			return limit("", 0, err)
		}
		missing -= got
		for i := range got {
			a.addChunk(first + alloc.ChunkIndex(i))
		}
	}
	return nil
}

func (a *Archetype) addChunk(c alloc.ChunkIndex) {
	a.w.setOwner(c, a, len(a.chunks))
	a.chunks = append(a.chunks, c)
	a.marked = append(a.marked, 0)
	for slot := range a.changed {
		a.changed[slot] = append(a.changed[slot], 0)
	}
	for _, slot := range a.toggling {
		a.enabled[slot] = append(a.enabled[slot], make([]uint64, a.maskWords())...)
	}
}

// shrink gives back chunks, which hold no rows, until keep are left.
func (a *Archetype) shrink(keep int) {
	for len(a.chunks) > keep {
		last := len(a.chunks) - 1
		c := a.chunks[last]
		a.w.setOwner(c, nil, 0)
		a.chunks, a.marked = a.chunks[:last], a.marked[:last]
		for slot := range a.changed {
			a.changed[slot] = a.changed[slot][:last]
		}
		for _, slot := range a.toggling {
			a.enabled[slot] = a.enabled[slot][:last*a.maskWords()]
		}
		a.w.u.Free(c, 1)
	}
}

// markRows notes that rows of a chunk came or moved: every type changed.
func (a *Archetype) markRows(pos int) {
	v := a.w.version
	if a.marked[pos] == v {
		return
	}
	a.marked[pos] = v
	for slot := range a.changed {
		a.changed[slot][pos] = v
	}
}

// entities returns the entity column of a chunk that starts at base.
func entities(base unsafe.Pointer, rows int) []Entity {
	// Safe because the entity column lies at offset 0 and holds plan.Rows >= rows
	// entities.
	return unsafe.Slice((*Entity)(base), rows)
}

// clearRows zeroes rows [lo, lo+n) of a chunk in the columns that sig does not
// have; nil: in all.
func (a *Archetype) clearRows(base unsafe.Pointer, lo, n int, sig *signature) {
	for i := range a.columns {
		c := &a.columns[i]
		if sig != nil && sig.has(c.id) {
			continue
		}
		p := unsafe.Add(base, uintptr(c.offset)+uintptr(lo)*uintptr(c.size))
		switch {
		case n == 1 && c.size == 16:
			// Safe because a column starts on a cache line, so rows of 16 bytes
			// are aligned for words.
			*(*[2]uint64)(p) = [2]uint64{}
		case n == 1 && c.size == 8:
			*(*uint64)(p) = 0
		default:
			// Safe because rows [lo, lo+n) lie inside the column.
			clear(unsafe.Slice((*byte)(p), n*int(c.size)))
		}
	}
}

// edge is an archetype that differs by one type, and how rows move there.
type edge struct {
	id     typeID // the type that is added or removed
	to     *Archetype
	copies []columnCopy // columns that both have
	kept   signature    // types of the archetype left: what clearRows must leave alone
}

type columnCopy struct{ from, to, size uint32 } // offsets and size in bytes

// edgeTo returns the way to the archetype with id added, or removed when a has
// it. It makes the archetype when there is none.
func (a *Archetype) edgeTo(id typeID) (*edge, error) {
	for i := range a.edges {
		if a.edges[i].id == id {
			return &a.edges[i], nil
		}
	}
	sig := a.sig
	if sig.has(id) {
		sig.drop(id)
	} else {
		sig.add(id)
	}
	to, err := a.w.archetypeOf(sig)
	if err != nil {
		return nil, err
	}
	e := edge{id: id, to: to, kept: a.sig}
	for _, c := range a.columns {
		if i := slices.IndexFunc(to.columns, func(t column) bool { return t.id == c.id }); i >= 0 {
			e.copies = append(e.copies, columnCopy{from: c.offset, to: to.columns[i].offset, size: c.size})
		}
	}
	a.edges = append(a.edges, e)
	return &a.edges[len(a.edges)-1], nil
}
