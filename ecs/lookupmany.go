package ecs

import (
	"fmt"
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
	lookupBlock = 128
	farBlock    = 32 // where lines are asked for
)

// found holds the addresses of a block of values, 0 for a missing value. They are numbers rather
// than pointers: the universe keeps their memory alive, and storing a number needs no write
// barrier.
type found [lookupBlock]uintptr

// GetList appends to dst the result of Get for each entity, which is nil if the entity is not alive
// or does not have the component, and returns the extended dst. Entities may repeat. The pointers
// are valid until the next structural change of the world. When GetList returns, the values' cache
// lines are being prefetched: look up a few hundred entities and then use them, rather than a
// million at once.
//
// GetList panics like Get for an entity of another world; the spare capacity of dst may have been
// written by then. It allocates only if that capacity is too small.
func (c Component[T]) GetList(dst []*T, entities []Entity) []*T {
	return pointersTo[T](c.t.findMany(opGetMany, addresses(dst), entities, false))
}

// MutList is GetList for writing: it also marks the component changed in the chunk of each entity.
// If it panics, some chunks may have been marked.
func (c Component[T]) MutList(dst []*T, entities []Entity) []*T {
	return pointersTo[T](c.t.findMany(opMutMany, addresses(dst), entities, true))
}

// addresses and pointersTo convert a list of pointers to one without a type and back, so that
// findMany is compiled once for all types.
func addresses[T any](list []*T) []unsafe.Pointer {
	return *(*[]unsafe.Pointer)(unsafe.Pointer(&list)) // Safe because all pointers have one form.
}

func pointersTo[T any](list []unsafe.Pointer) []*T {
	return *(*[]*T)(unsafe.Pointer(&list)) // Safe because what was found are addresses of a T, or nil.
}

// findMany appends the addresses of values to dst.
func (t *typeInfo) findMany(op lookupOp, dst []unsafe.Pointer, entities []Entity, write bool) []unsafe.Pointer {
	t.ready(op, write)
	dst = slices.Grow(dst, len(entities))
	var room found
	block, far := room[:], t.isFar()
	if far {
		block = room[:farBlock]
	}
	for len(entities) > 0 {
		n := t.findBlock(op, block, entities, far, write && !t.gates())
		if write && t.gates() {
			t.touchBlock(block[:n], entities)
		}
		// Safe because what was found are addresses in the universe, or nil.
		dst = append(dst, unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(&room)), n)...)
		entities = entities[n:]
	}
	return dst
}

// CopyList copies the component of each e = entities[i] to dst[i], and the zero value if e is not
// alive or does not have the component. It returns the number of missing components. Entities may
// repeat; dst must not lie in the world's memory. CopyList allocates nothing.
//
// CopyList panics if the lengths differ, before anything is written. It panics like Get for an
// entity of another world; the values before it may have been written by then.
func (c Component[T]) CopyList(dst []T, entities []Entity) (missing int) {
	const op = opGather
	t := c.t
	t.ready(op, false)
	if len(dst) != len(entities) {
		// errors.md, Loops and rows: `len(dst)=... is not len(entities)=...`, `archetypes for ...
		// entities` | Two slices of a call that looks up many differ in length. | Make them as long
		// as one another.
		panic(fmt.Sprintf("ecs: %s: len(dst)=%d is not len(entities)=%d", op, len(dst), len(entities)))
	}
	// One block's values are copied while the next one's are on their way.
	var blocks [2]found
	size, far := lookupBlock, t.isFar()
	if far {
		size = farBlock
	}
	n := t.findBlock(op, blocks[0][:size], entities, far, false)
	for turn := 0; n > 0; turn ^= 1 {
		entities = entities[n:]
		next := t.findBlock(op, blocks[turn^1][:size], entities, far, false)
		for i, p := range blocks[turn][:n] {
			if p == 0 {
				clear(dst[i : i+1])
				missing++
				continue
			}
			// Safe because p is the address of a T (L1), kept alive by the universe.
			dst[i] = **(**T)(unsafe.Pointer(&p))
		}
		dst, n = dst[n:], next
	}
	return missing
}

// ready checks that the world is open and that the type may be read, or written if write is set.
func (t *typeInfo) ready(op lookupOp, write bool) {
	t.world().checkHandle(op.String())
	if t.w.Shared() && write {
		// errors.md, Borrows: `the world is shared: until Borrow.End components are only read` | A
		// write between `Share` and `End`. | Read there, write afterwards.
		panic("ecs: " + op.String() + ": the world is shared: until Borrow.End components are only read")
	}
	if write {
		t.checkWrite(op.String())
	} else {
		t.checkRead(op.String())
	}
}

// near is how many bytes of records and values fit in a second-level cache. Below that, prefetching
// costs more than it gains.
const near = 1 << 20

// isFar reports whether records and values exceed near.
func (t *typeInfo) isFar() bool {
	return t.Len()*(int(unsafe.Sizeof(entity.Record{}))+t.size) > near
}

// findBlock finds the values of the first entities, up to one block, and returns their number. If
// the world is larger than the cache, it prefetches these values and the records of the entities
// that follow.
func (t *typeInfo) findBlock(op lookupOp, block []uintptr, entities []Entity, far, write bool) int {
	n := min(len(entities), len(block))
	ids := idsOf(entities)
	for i := t.Values(block[:n], ids, write); i < n; i++ {
		// Not alive, without the type, or of another world: find knows, or panics.
		p, _ := t.find(op, entities[i])
		block[i] = uintptr(p)
		i += t.Values(block[i+1:n], ids[i+1:], write)
	}
	if far {
		t.ask(block[:n], entities[n:])
	}
	return n
}

// touchBlock marks the rows of the first entities that have the type, whose values were found.
func (t *typeInfo) touchBlock(found []uintptr, entities []Entity) {
	for i, p := range found {
		if p != 0 {
			r, _ := t.Find(entity.ID(entities[i]))
			t.touchAt(r.Location)
		}
	}
}

// ask prefetches values and the records of the entities that follow.
func (t *typeInfo) ask(values []uintptr, entities []Entity) {
	asm.Prefetch(values)
	var records [farBlock]uintptr
	n := min(len(entities), farBlock)
	for i, e := range entities[:n] {
		records[i] = t.AddressOf(entity.ID(e))
	}
	asm.Prefetch(records[:n])
}
