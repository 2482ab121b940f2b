package world

import (
	"slices"
	"unsafe"

	"quarry/asm"
	"quarry/ecs/internal/entity"
)

// Look-ups of many entities at once, in blocks. One loop, which keeps the inputs of every look-up
// in registers, computes the addresses of a block's values. In a world larger than the cache, the
// lines of these values and of the next block's records are then prefetched. So the waits for
// memory overlap as far as the CPU allows, whereas single look-ups overlap only within the CPU's
// instruction window.

// Entities per block. The fixed cost of a block, calls and a copy, is 0.6 ns an entity in blocks of
// 32 and 0.15 in blocks of 128; but a CPU can fetch only a few lines at a time.
const (
	LookupBlock = 128
	FarBlock    = 32 // where lines are asked for
)

// Found holds the addresses of a block of values, 0 for a missing value. They are numbers rather
// than pointers: the universe keeps their memory alive, and storing a number needs no write
// barrier.
type Found [LookupBlock]uintptr

// FindMany appends the addresses of values to dst.
func (t *Type) FindMany(op LookupOp, dst []unsafe.Pointer, entities []entity.ID, write bool) []unsafe.Pointer {
	t.Ready(op, write)
	dst = slices.Grow(dst, len(entities))
	var room Found
	block, far := room[:], t.IsFar()
	if far {
		block = room[:FarBlock]
	}
	for len(entities) > 0 {
		n := t.FindBlock(op, block, entities, far, write && !t.NeedsBarrier())
		if write && t.NeedsBarrier() {
			t.touchBlock(block[:n], entities)
		}
		// Safe because what was found are addresses in the universe, or nil.
		dst = append(dst, unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(&room)), n)...)
		entities = entities[n:]
	}
	return dst
}

// Ready checks that the world is open and that the type may be read, or written if write is set.
func (t *Type) Ready(op LookupOp, write bool) {
	t.WorldOrNil().CheckHandle(op.String())
	if t.World.Lent() && write {
		panic("ecs: " + op.String() + ": the world is lent: until Borrow.End components are only read")
	}
	if write {
		t.checkWrite(op.String())
	} else {
		t.CheckRead(op.String())
	}
}

// near is how many bytes of records and values fit in a second-level cache. Below that, prefetching
// costs more than it gains.
const near = 1 << 20

// IsFar reports whether records and values exceed near.
func (t *Type) IsFar() bool {
	return t.Len()*(int(unsafe.Sizeof(entity.Record{}))+t.Size) > near
}

// FindBlock finds the values of the first entities, up to one block, and returns their number. If
// the world is larger than the cache, it prefetches these values and the records of the entities
// that follow.
func (t *Type) FindBlock(op LookupOp, block []uintptr, entities []entity.ID, far, write bool) int {
	n := min(len(entities), len(block))
	ids := entities
	for i := t.Values(block[:n], ids, write); i < n; i++ {
		// Not alive, without the type, or of another world: find knows, or panics.
		p, _ := t.LookUp(op, entities[i])
		block[i] = uintptr(p)
		i += t.Values(block[i+1:n], ids[i+1:], write)
	}
	if far {
		t.ask(block[:n], entities[n:])
	}
	return n
}

// touchBlock marks the rows of the first entities that have the type, whose values were found.
func (t *Type) touchBlock(found []uintptr, entities []entity.ID) {
	for i, p := range found {
		if p != 0 {
			r, _ := t.Find(entities[i])
			t.touchAt(r.Location)
		}
	}
}

// ask prefetches values and the records of the entities that follow.
func (t *Type) ask(values []uintptr, entities []entity.ID) {
	asm.Prefetch(values)
	var records [FarBlock]uintptr
	n := min(len(entities), FarBlock)
	for i, e := range entities[:n] {
		records[i] = t.AddressOf(e)
	}
	asm.Prefetch(records[:n])
}
