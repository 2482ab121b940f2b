package ecs

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Look-ups.
//
// Component.Get is the look-up of entity.Sight alone, inlined in the caller: before the value it
// makes two dependent loads, of the record and of the cell of the record's stretch. All other
// look-ups call find, which reads the same tables. Sight.At cannot explain why it refuses a
// look-up: the value with which it panics calls refusal, which repeats the look-up as find does.
//
// Look-ups that write call entity.Sight.Mut, which also writes the change version of the type in
// the chunk.
//
// Invariant, checked by Verify. L1 of package table defines the contents of cells and marks.
//
//	L2 The owner's look-ups of a type see the world's current records, or none while the type is
//	   lent for writing. Look-ups of a borrow see the records only while the borrow is out.

// finder serves the look-ups of one type and the views of its buffers. A type has one finder for
// the world's owner, and one for the goroutines of each borrow of a query that lends the type.
type finder struct {
	entity.Sight         // first, see sight
	size         int     // bytes of an element of the column; 0 for a tag
	toRead       *uint64 // epoch of buffer views that may be read: points to the world's epoch, or to noEpoch
	toWrite      *uint64 // the same for buffer views that may be written
	spill        *value.Spill
	shape        value.Shape // common to all buffers of the type; zero for other kinds
	t            *typeInfo
	b            *Borrow // the borrow whose goroutines look up; nil for the owner
	writes       bool    // look-ups may write: for a borrow, the type is among its uses for writing; for the owner, the type is not lent
}

// own returns the finder of the owner's look-ups, or nil for the type of a zero handle.
func (t *typeInfo) own() *finder { return (*finder)(unsafe.Pointer(t)) } // Safe because a typeInfo begins with it.

// sight returns the Sight that look-ups use, or nil for a zero handle.
func (f *finder) sight() *entity.Sight { return (*entity.Sight)(unsafe.Pointer(f)) } // Safe because a finder begins with it.

// lookupOp numbers the names of functions for messages: passing a string would cost each look-up
// some instructions.
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
	opChunkGet
	opChunkMut
	opChunkSet
	opLookupGet
	opLookupMut
	opLookupHas
	opLookupSet
	opBufferLookupGet
	opBufferLookupMut
	opManagedLookupGet
)

var lookupOps = [...]string{
	opGet:          "Component.Get",
	opMut:          "Component.Mut",
	opHas:          "Component.Has",
	opSet:          "Component.Set",
	opGetMany:      "Component.GetList",
	opMutMany:      "Component.MutList",
	opGather:       "Component.CopyList",
	opBufferGet:    "Buffer.Get",
	opBufferMut:    "Buffer.Mut",
	opBufferSlice:  "Buffer.Slice",
	opBufferAppend: "Buffer.Append",
	opManagedGet:   "Managed.Get",
	opManagedMut:   "Managed.Mut",
	opManagedSet:   "Managed.Set",
	opChunkGet:     "Chunk.Get",
	opChunkMut:     "Chunk.Mut",
	opChunkSet:     "Chunk.Set",
	opLookupGet:    "Lookup.Get",
	opLookupMut:    "Lookup.Mut",
	opLookupHas:    "Lookup.Has",
	opLookupSet:    "Lookup.Set",

	opBufferLookupGet: "BufferLookup.Get",
	opBufferLookupMut: "BufferLookup.Mut",

	opManagedLookupGet: "ManagedLookup.Get",
}

func (op lookupOp) String() string { return lookupOps[op] }

func init() {
	entity.OnRefusal(refusal)
	entity.OnWrite(mutElse)
	entity.OnSwitch(switchElse)
}

// refusal returns the reason why a look-up by Component.Get panicked, when the message is
// requested. By then the world may be closed and the type no longer lent, so it first checks which
// world the entity belongs to.
func refusal(s *entity.Sight, id entity.ID) (why string) {
	const op = opGet
	f, e := (*finder)(unsafe.Pointer(s)), Entity(id) // Safe because each Sight but the zero handle's begins a finder.
	defer func() {
		if text, ok := recover().(string); ok {
			why = text
		}
	}()
	if w := f.known(op.String()).w; e != Null {
		w.checkForeign(op.String(), e)
	}
	f.miss(op, e)
	// errors.md, Entities: `ecs: ...: ... could not be read when entity ... was looked up: it was
	// lent to be written` | `Component.Get` of a type that a job or borrow was writing. `Get`
	// panics with an error that makes its text when it is first asked, here after the borrow had
	// ended; asked so late it tells of the world as it is then, so print it where it was recovered.
	// | Complete the job first; inside it use its rows or a look-up.
	return fmt.Sprintf("ecs: %v: %s could not be read when entity %v was looked up: it was lent to be written", op, f.t.name, e)
}

// showRecords updates the records that look-ups use, after the records may have moved (L2).
func (w *World) showRecords() {
	if view := w.ids.View(); view != w.shown {
		w.show(view)
	}
}

// show is showRecords for a view that differs from the one shown before, or whose tag does: a world
// that has shown none yet may have another tag than when its types were registered.
func (w *World) show(view entity.View) {
	w.shown = view
	for _, t := range w.types.list {
		if t.writers == 0 {
			t.Show(view)
			t.showWrites()
		}
	}
}

// showWrites lets the owner's look-ups write if the type is not lent (L2), and writes need not know
// the rows: else mutElse writes.
func (t *typeInfo) showWrites() {
	if t.writes && !t.gates() {
		t.ShowWrites(&t.w.tables.Version)
	} else {
		t.HideWrites()
	}
}

// find returns the address of e's value and e's location, or nil if e is not alive or lacks the
// type. f is nil for a zero handle.
func (f *finder) find(op lookupOp, e Entity) (unsafe.Pointer, location) {
	r, ok := f.sight().Find(entity.ID(e))
	if r != nil {
		at := r.Location
		return f.CellOf(at).ValueAt(at), at
	}
	if !ok {
		return f.miss(op, e)
	}
	return nil, 0
}

// miss handles the cases that find does not expect. It panics for zero handles, closed worlds and
// entities of another world, and, except for opHas, for a type that is lent.
//
//go:noinline
func (f *finder) miss(op lookupOp, e Entity) (unsafe.Pointer, location) {
	w := f.known(op.String()).w
	w.checkWorld(op.String(), e)
	if op != opHas {
		f.checkRead(op.String())
	}
	r := w.find(e)
	if r == nil {
		return nil, 0
	}
	if f.b != nil && f.b.past != nil {
		f.showAt(r.Location)
	}
	return f.CellOf(r.Location).ValueAt(r.Location), r.Location
}

// known returns the type. It panics for a zero handle.
func (f *finder) known(op string) *typeInfo {
	if f == nil {
		(*World)(nil).refuse(op)
	}
	return f.t
}

// checkRead panics if look-ups may not read the type now: look-ups of the owner while the type is
// lent for writing, look-ups of a borrow while the borrow is not out.
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
	case f.b.past != nil:
		f.t.refusePast(op)
	case !f.writes:
		// errors.md, Loops and rows: `declares ... to read: use ecs.Write` | The call would write,
		// or mark, what the query only reads. | Declare `Write`.
		panic(fmt.Sprintf("ecs: %s: %s declares %s to read: use ecs.Write", op, f.b.name, f.t.name))
	}
}

// mut is find for writing: it also marks the type changed in e's chunk.
func (t *typeInfo) mut(op lookupOp, e Entity) unsafe.Pointer {
	return t.own().sight().Mut(uint8(op), entity.ID(e))
}

// mutElse is mut for the cases that entity.Sight.Mut does not handle.
func mutElse(s *entity.Sight, op uint8, e entity.ID) unsafe.Pointer {
	f := (*finder)(unsafe.Pointer(s)) // Safe because the owner's look-ups write by Sights that begin a finder.
	p, at := f.find(lookupOp(op), Entity(e))
	if p == nil {
		return nil
	}
	if !f.writes {
		f.checkWrite(lookupOp(op).String())
	}
	f.touchAt(at)
	return p
}
