package alloc

import (
	"fmt"
	"unsafe"

	"quarry/asm"
)

// Look-ups and frees of many references. One reference waits for its slot, then for its block. Of
// many, batch by batch, the slots of the next batch are prefetched before those of a batch are
// read, and then the blocks that these name:
//
//	refs   | 32 slots read, their blocks prefetched | 32 slots on their way | ...

// manyAhead is how many slots are prefetched at once: the CPU handles some tens of lines at a time.
const manyAhead = 32

// prefetch prefetches the slots of at most manyAhead references.
func (s *blockSlots) prefetch(refs []BlockRef) {
	var lines [manyAhead]uintptr
	for i, r := range refs {
		if slab := uint(r.Slot >> slotShift); slab < uint(len(s.slabs)) {
			lines[i%manyAhead] = uintptr(s.slabs[slab]) + uintptr(r.Slot&slotMask)*slotBytes
		}
	}
	asm.Prefetch(lines[:len(refs)])
}

// BytesMany looks up blocks: bytes[i] is as Bytes returns it for refs[i]. It prefetches slots and
// the beginnings of the blocks, so of blocks that lie in memory a look-up costs a fraction of
// Bytes. Some hundreds of references at once are best, since the blocks are then still in the cache
// when they are used. It panics unless the slices have one length.
func (b *Blocks) BytesMany(refs []BlockRef, bytes [][]byte) {
	if len(bytes) != len(refs) {
		panic(fmt.Sprintf("alloc: Blocks.BytesMany: %d references, %d slices of bytes", len(refs), len(bytes)))
	}
	if b == nil || b.from == nil || b.hold.Suspect() {
		b.checkLost("Blocks.BytesMany")
	}
	var lines [manyAhead]uintptr
	b.slots.prefetch(refs[:min(len(refs), manyAhead)])
	for len(refs) > 0 {
		n := min(len(refs), manyAhead)
		b.slots.prefetch(refs[n:min(len(refs), n+manyAhead)]) // while those before are on their way
		for i, r := range refs[:n] {
			at := b.slots.find(r)
			if at == nil {
				bytes[i], lines[i%manyAhead] = nil, 0
				continue
			}
			p := at.pointer()
			// Safe because by the generation the block is live.
			bytes[i] = unsafe.Slice((*byte)(p), b.slots.sizeOf(r.Slot, at))
			lines[i%manyAhead] = uintptr(p)
		}
		asm.Prefetch(lines[:n])
		refs, bytes = refs[n:], bytes[n:]
	}
}

// FreeMany frees blocks as Free does, one after the other, and prefetches their slots. It panics at
// the first reference that names no block, and says at which place it is; the blocks of those
// before it are free then.
func (b *Blocks) FreeMany(refs []BlockRef) {
	b.check("Blocks.FreeMany")
	b.slots.prefetch(refs[:min(len(refs), manyAhead)])
	for from := 0; from < len(refs); from += manyAhead {
		to := min(len(refs), from+manyAhead)
		b.slots.prefetch(refs[to:min(len(refs), to+manyAhead)])
		for i, r := range refs[from:to] {
			if r == (BlockRef{}) {
				continue
			}
			at := b.slots.find(r)
			if at == nil {
				panicNoBlock(fmt.Sprintf("Blocks.FreeMany: place %d of %d", from+i, len(refs)), r)
			}
			b.free(r, at)
		}
	}
}
