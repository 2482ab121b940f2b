package ecs

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"quarry/asm"
)

// Look-ups of many entities at once, in blocks: the records of the block after the
// next are asked for, then the addresses of a block's values are computed and their
// lines asked for. So the waits for memory overlap, as far as the CPU allows, while
// one look-up after the other overlaps only what fits its window of instructions.

// lookupBlock is the number of entities of a block.
const lookupBlock = 32

// GetMany appends to dst what Get returns for each entity, nil where it is not alive
// or does not have the component, and returns the longer dst. Entities may repeat. The
// pointers are good until the next structural change of the world. The values' cache
// lines are on their way when it returns: look up some hundred entities, then use them,
// rather than a million at once.
//
// It panics like Get for an entity of another world; dst's room beyond its length may
// have been written by then. It allocates when that room is too small.
func (c Component[T]) GetMany(dst []*T, entities []Entity) []*T {
	return getMany(c, opGetMany, dst, entities, false)
}

// MutMany is GetMany for writing: it marks the component changed in the chunk of each
// entity. When it panics, some may have been marked.
func (c Component[T]) MutMany(dst []*T, entities []Entity) []*T {
	return getMany(c, opMutMany, dst, entities, true)
}

func getMany[T any](c Component[T], op lookupOp, dst []*T, entities []Entity, write bool) []*T {
	c.w.checkHandle(op.String())
	d := c.d
	d.ready(op, write)
	dst = slices.Grow(dst, len(entities))
	for len(entities) > 0 {
		var block [lookupBlock]unsafe.Pointer
		n := d.findBlock(op, &block, entities)
		if write {
			for i, p := range block[:n] {
				if p != nil {
					d.mark(d.w.records.at(entities[i].ref & indexMask).location)
				}
			}
		}
		// Safe because what was found are addresses of a T, or nil.
		dst = append(dst, unsafe.Slice((**T)(unsafe.Pointer(&block)), n)...)
		entities = entities[n:]
	}
	return dst
}

// Gather copies e's component to dst[i] for each e = entities[i], the zero value
// where e is not alive or does not have it, and returns how many were missing.
// Entities may repeat; dst must not lie in the world. It allocates nothing.
//
// It panics when the lengths differ, before anything is written, and like Get for an
// entity of another world, when values before it may have been written.
func (c Component[T]) Gather(dst []T, entities []Entity) (missing int) {
	const op = opGather
	c.w.checkHandle(op.String())
	if len(dst) != len(entities) {
		panic(fmt.Sprintf("ecs: %s: len(dst)=%d is not len(entities)=%d", op, len(dst), len(entities)))
	}
	d := c.d
	d.ready(op, false)
	// One block's values are copied while the next one's are on their way.
	var blocks [2][lookupBlock]unsafe.Pointer
	n := d.findBlock(op, &blocks[0], entities)
	for turn := 0; n > 0; turn ^= 1 {
		entities = entities[n:]
		next := d.findBlock(op, &blocks[turn^1], entities)
		for i, p := range blocks[turn][:n] {
			if p == nil {
				clear(dst[i : i+1])
				missing++
				continue
			}
			// Safe because p is the address of a T (L1).
			dst[i] = *(*T)(p)
		}
		dst, n = dst[n:], next
	}
	return missing
}

// ready makes sure that the directory is built, and that writers may write.
func (d *directory) ready(op lookupOp, write bool) {
	if d.w.phase != nil && (write || !d.built) {
		panic("ecs: " + op.String() + ": the world is shared: until Phase.End components are only read, and a type's first look-up of many comes before Share")
	}
	d.build()
}

// findBlock finds the values of the first entities, as many as a block has, asks
// for their lines and for the records of the entities behind, and returns the number.
func (d *directory) findBlock(op lookupOp, block *[lookupBlock]unsafe.Pointer, entities []Entity) int {
	n := min(len(entities), lookupBlock)
	var lines [2 * lookupBlock]uintptr
	asked := lines[:0]
	table, tag, base, starts, size := d.w.records.table, d.w.tag, d.w.base, d.starts, d.size
	for i, e := range entities[:n] {
		// What follows is find, with what it loads from the world kept in registers.
		var p unsafe.Pointer
		index := e.ref ^ tag
		var records *[blockSize]record
		if b := index >> blockShift; b < maxBlocks {
			records = table[b].Load()
		}
		if records == nil {
			d.miss(op, e) // panics for an entity of another world
		} else {
			r := &records[index%blockSize]
			if at := uintptr(r.location); atomic.LoadUint32(&r.version) == e.version && e.version&1 != 0 && at>>rowBits < uintptr(len(starts)) {
				if start := starts[at>>rowBits]; start != noColumn {
					// Safe because of W1 and L1, as in find.
					p = unsafe.Add(base, start+at*size)
				}
			}
		}
		block[i] = p
		asked = append(asked, uintptr(p))
	}
	for _, e := range entities[n:min(len(entities), 2*lookupBlock)] {
		asked = append(asked, d.w.records.address(e))
	}
	asm.Prefetch(asked)
	return n
}

// address returns where the record of an entity is, to prefetch it, or 0.
func (s *records) address(e Entity) uintptr {
	index := e.ref & indexMask
	block := s.table[index>>blockShift].Load()
	if block == nil {
		return 0
	}
	// Safe because the address is only a number.
	return uintptr(unsafe.Pointer(&block[index%blockSize]))
}
