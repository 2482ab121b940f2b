package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/value"
)

// Look-ups.
//
// Component.Get is the look-up of entity.LookupTable alone, inlined in the caller: before the value
// it makes two dependent loads, of the record and of the column address of the record's row block.
// All other look-ups call Lookup.LookUp, which reads the same tables. LookupTable.At cannot explain
// why it refuses a look-up: the value with which it panics calls refusal, which repeats the look-up
// as LookUp does.
//
// Look-ups that write call entity.LookupTable.Mut, which also writes the change version of the type
// in the chunk.
//
// Invariant, checked by Verify. L1 of package table defines the contents of column addresses and
// marks.
//
//	L2 The owner's look-ups of a type see the world's current records, or none while the type is
//	   lent for writing. Look-ups of a borrow see the records only while the borrow is out.

// OwnerLookup returns the Lookup of the owner, or nil for the type of a zero handle.
func (t *Type) OwnerLookup() *Lookup { return (*Lookup)(unsafe.Pointer(t)) } // Safe because a Type begins with it.

// TableOrNil returns the LookupTable that look-ups use, or nil for a zero handle.
func (f *Lookup) TableOrNil() *entity.LookupTable {
	return (*entity.LookupTable)(unsafe.Pointer(f)) // Safe because a Lookup begins with it.
}

// LookupOp numbers the names of functions for messages: passing a string would cost each look-up
// some instructions.
type LookupOp uint8

// The functions that look up.
const (
	opGet LookupOp = iota
	OpMut
	OpHas
	OpSet
	OpGetMany
	OpMutMany
	OpGather
	OpBufferGet
	OpBufferMut
	OpBufferSlice
	OpBufferAppend
	OpManagedGet
	OpManagedMut
	OpManagedSet
	OpChunkGet
	OpChunkMut
	OpChunkSet
	OpLookupGet
	OpLookupMut
	OpLookupHas
	OpBufferLookupGet
	OpBufferLookupMut
)

var lookupOps = [...]string{
	opGet:          "Component.Get",
	OpMut:          "Component.Mut",
	OpHas:          "Component.Has",
	OpSet:          "Component.Set",
	OpGetMany:      "Component.GetList",
	OpMutMany:      "Component.MutList",
	OpGather:       "Component.CopyList",
	OpBufferGet:    "Buffer.Get",
	OpBufferMut:    "Buffer.Mut",
	OpBufferSlice:  "Buffer.Slice",
	OpBufferAppend: "Buffer.Append",
	OpManagedGet:   "Managed.Get",
	OpManagedMut:   "Managed.Mut",
	OpManagedSet:   "Managed.Set",
	OpChunkGet:     "Chunk.Get",
	OpChunkMut:     "Chunk.Mut",
	OpChunkSet:     "Chunk.Set",
	OpLookupGet:    "Lookup.Get",
	OpLookupMut:    "Lookup.Mut",
	OpLookupHas:    "Lookup.Has",

	OpBufferLookupGet: "BufferLookup.Get",
	OpBufferLookupMut: "BufferLookup.Mut",
}

// String returns the name of the function.
func (op LookupOp) String() string { return lookupOps[op] }

// refusal returns the reason why a look-up by Component.Get panicked, when the message is
// requested. By then the world may be closed and the type no longer lent, so it first checks which
// world the entity belongs to.
func refusal(s *entity.LookupTable, id entity.ID) (why string) {
	const op = opGet
	f, e := (*Lookup)(unsafe.Pointer(s)), id // Safe because each LookupTable but the zero handle's begins a Lookup.
	defer func() {
		if text, ok := recover().(string); ok {
			why = text
		}
	}()
	if w := f.Known(op.String()).World; e != Null {
		w.checkForeign(op.String(), e)
	}
	f.miss(op, e)
	return fmt.Sprintf("ecs: %v: %s could not be read when entity %v was looked up: it was lent to be written",
		op, f.Type.Name, e)
}

// UpdateLookups updates the records that look-ups use, after the records may have moved (L2).
func (w *World) UpdateLookups() {
	if view := w.IDs.View(); view != w.lookupRecords {
		w.SetLookupRecords(view)
	}
}

// SetLookupRecords is UpdateLookups for a view that differs from the one shown before, or whose tag
// does: a world that has shown none yet may have another tag than when its types were registered.
func (w *World) SetLookupRecords(view entity.RecordsView) {
	w.lookupRecords = view
	for _, t := range w.Types.List {
		if t.Writers == 0 {
			t.SetRecords(view)
			t.UpdateWrites()
		}
	}
}

// LookUp returns the address of e's value and e's location, or nil if e is not alive or lacks the
// type. f is nil for a zero handle.
func (f *Lookup) LookUp(op LookupOp, e entity.ID) (unsafe.Pointer, Location) {
	r, ok := f.TableOrNil().Find(e)
	if r != nil {
		at := r.Location
		return f.ColumnAt(at).ValueAt(at), at
	}
	if !ok {
		return f.miss(op, e)
	}
	return nil, 0
}

// LookUpValue returns the address of e's value of a type of any kind but buffers and shared and
// chunk types, or nil: of a managed type that of its Go value.
func (f *Lookup) LookUpValue(kind Kind, op LookupOp, e entity.ID) unsafe.Pointer {
	if kind != KindComponent {
		return f.valueOutside(kind, op, e, false)
	}
	r, ok := f.TableOrNil().Find(e)
	if r != nil {
		at := r.Location
		return f.ColumnAt(at).ValueAt(at)
	}
	if !ok {
		p, _ := f.miss(op, e)
		return p
	}
	return nil
}

// MutLentValue is LookUpValue for writing, for a goroutine of a borrow.
func (f *Lookup) MutLentValue(kind Kind, op LookupOp, e entity.ID) unsafe.Pointer {
	if kind != KindComponent {
		return f.valueOutside(kind, op, e, true)
	}
	return f.MutLent(op, e)
}

// valueOutside is LookUpValue for values that lie outside of the chunks.
//
//go:noinline
func (f *Lookup) valueOutside(kind Kind, op LookupOp, e entity.ID, write bool) unsafe.Pointer {
	if kind == KindSparse {
		if at := f.Entry(op.String(), e, write); at != 0 {
			return f.Type.Sparse.Value(at)
		}
		return nil
	}
	var p unsafe.Pointer
	if write {
		p = f.MutLent(op, e)
	} else {
		p, _ = f.LookUp(op, e)
	}
	if p == nil {
		return nil
	}
	return f.Type.Managed.At(*(*value.Slot)(p)) // Safe because the column holds slots.
}

// Entry returns e's entry in the set of a sparse type, or 0, for a goroutine of a borrow or a
// reader of a snapshot. To write marks it changed.
func (f *Lookup) Entry(op string, e entity.ID, write bool) sparse.Entry {
	t := f.Known(op)
	if f.CheckRead(op); write {
		f.CheckLentWrite(op)
	}
	at := t.Sparse.Find(e)
	if at == 0 {
		t.World.CheckWorld(op, e)
	} else if write {
		t.Sparse.Mark(at, f.Lease.Version)
	}
	return at
}

// miss handles the cases that LookUp does not expect. It panics for zero handles, closed worlds and
// entities of another world, and, except for OpHas, for a type that is lent.
//
//go:noinline
func (f *Lookup) miss(op LookupOp, e entity.ID) (unsafe.Pointer, Location) {
	past := f != nil && f.Lease != nil && f.Lease.Past
	if past {
		r, err := f.Lease.Records.Find(e)
		if err != nil {
			panic(&LimitError{Op: op.String(), Err: err})
		}
		if r != nil {
			f.loadAt(r.Location)
			return f.ColumnAt(r.Location).ValueAt(r.Location), r.Location
		}
	}
	w := f.Known(op.String()).World
	w.CheckWorld(op.String(), e)
	if op != OpHas {
		f.CheckRead(op.String())
	}
	if past { // its records may be filled meanwhile, for those who need all of them
		return nil, 0
	}
	r := w.Find(e)
	if r == nil {
		return nil, 0
	}
	return f.ColumnAt(r.Location).ValueAt(r.Location), r.Location
}

// Known returns the type. It panics for a zero handle.
func (f *Lookup) Known(op string) *Type {
	if f == nil {
		(*World)(nil).Refuse(op)
	}
	return f.Type
}

// CheckRead panics if look-ups may not read the type now: look-ups of the owner while the type is
// lent for writing, look-ups of a borrow while the borrow is not out.
func (f *Lookup) CheckRead(op string) {
	switch {
	case f.Lease == nil:
		f.Type.CheckLent(op, MayRead)
	case !f.Lease.Out:
		f.Lease.Refuse(op + ": " + f.Type.Name)
	}
}

// checkWrite is CheckRead for look-ups that write.
//
//go:noinline
func (f *Lookup) checkWrite(op string) {
	switch {
	case f.Lease == nil:
		f.Type.CheckLent(op, MayWrite)
	case !f.Lease.Out:
		f.CheckRead(op)
	case f.Lease.Past:
		f.Type.RefusePast(op)
	case !f.Writes:
		panic(fmt.Sprintf("ecs: %s: %s declares %s to read: use ecs.Write", op, f.Lease.Name, f.Type.Name))
	}
}

// Mut is LookUp for writing: it also marks the type changed in e's chunk.
func (t *Type) Mut(op LookupOp, e entity.ID) unsafe.Pointer {
	return t.OwnerLookup().TableOrNil().Mut(uint8(op), e)
}

// mutElse is Mut for the cases that entity.LookupTable.Mut does not handle.
func mutElse(s *entity.LookupTable, op uint8, e entity.ID) unsafe.Pointer {
	f := (*Lookup)(unsafe.Pointer(s)) // Safe because the owner's look-ups write by LookupTables that begin a Lookup.
	p, at := f.LookUp(LookupOp(op), e)
	if p == nil {
		return nil
	}
	if !f.Writes {
		f.checkWrite(LookupOp(op).String())
	}
	f.touchAt(at)
	return p
}

// MutLent is Mut for a goroutine of a borrow.
func (f *Lookup) MutLent(op LookupOp, e entity.ID) unsafe.Pointer {
	if f == nil || !f.Writes {
		f.Known(op.String())
		f.checkWrite(op.String())
	}
	p, at := f.LookUp(op, e)
	if p != nil {
		f.touchAt(at)
	}
	return p
}

// OpenLent is Type.Open for a goroutine of a borrow.
func (f *Lookup) OpenLent(op LookupOp, e entity.ID, write bool) (b RawBuffer, ok bool) {
	var p unsafe.Pointer
	if write {
		p = f.MutLent(op, e)
	} else {
		p, _ = f.LookUp(op, e)
	}
	return f.buffer(p, write)
}

// CheckLentWrite panics unless a goroutine of the borrow may write the type.
func (f *Lookup) CheckLentWrite(op string) {
	if !f.Writes {
		f.checkWrite(op)
	}
}
