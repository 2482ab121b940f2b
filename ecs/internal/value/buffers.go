package value

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/past"
	"quarry/internal/heap"
	"quarry/internal/store"
	"quarry/internal/universe"
)

// Invariants, checked by Verify and VerifyRow:
//
//	H1 A buffer's length is within its capacity.
//	H2 A spilled buffer's capacity is above the inline room, and its block is live and large enough.
//	H3 The heap has no blocks but the blocks of spilled buffers.

// Buffers is the heap that a world's buffers spill to. It is made when the first buffer spills or
// is lent, so that other worlds have none. Buffers must not be copied after Open.
type Buffers struct {
	own      Spill
	lent     Spill
	u        *universe.Universe
	heap     *heap.Heap                 // nil: no buffer has spilled
	local    *heap.Local                // the owner's handle to heap
	deferred *past.DeferredFree[uint32] // blocks that wait for snapshots, by ref; nil: no snapshot is alive

	region *region // blocks that came with a file; nil: none, or the buffers are a copy that is read
}

// Open initializes zero Buffers. The owner's Spill calls relieve if the universe refuses memory:
// relieve frees chunks and returns their number.
func (b *Buffers) Open(u *universe.Universe, relieve func() int) {
	b.u = u
	// Safe because the universe outlives the buffers.
	b.own = Spill{base: u.Base(), most: u.Size(), blocks: (*unmade)(b), relieve: relieve, of: b}
	b.lent = Spill{base: u.Base(), most: u.Size(), of: b}
}

// make makes the heap if there is none. Only the owner calls it.
func (b *Buffers) make() {
	if b.heap != nil {
		return
	}
	b.heap, b.local = new(heap.Heap), new(heap.Local)
	b.heap.Open(b.u, heap.Confined()) // a header can name no block elsewhere
	b.heap.OpenLocal(b.local)
	b.own.blocks, b.lent.blocks = b.local, b.heap
}

// unmade are the owner's blocks before there is a heap: the first Alloc makes it. No block can come
// to another method.
type unmade Buffers

// Alloc is as in alloc.Local.
func (b *unmade) Alloc(size, align int) (unsafe.Pointer, error) {
	(*Buffers)(b).make()
	return b.local.Alloc(size, align) // Safe because it is the heap's.
}

// Realloc is as in alloc.Local.
func (b *unmade) Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	return b.local.Realloc(p, size, align) // Safe because it is the heap's.
}

// Resize is as in alloc.Local.
func (b *unmade) Resize(p unsafe.Pointer, size int) bool { return b.local.Resize(p, size) }

// Free is as in alloc.Local.
func (b *unmade) Free(p unsafe.Pointer) { b.local.Free(p) }

// Usable is as in alloc.Local.
func (b *unmade) Usable(p unsafe.Pointer) int { return b.local.Usable(p) }

// OwnerSpill returns the owner's Spill.
func (b *Buffers) OwnerSpill() *Spill { return &b.own }

// Lent returns the Spill for the goroutines of a borrow. They may use it while the owner uses Own,
// but no two of them for the same buffer. It does not call relieve. Unless grow is set, no buffer
// may grow by it.
func (b *Buffers) Lent(grow bool) *Spill {
	if grow {
		b.make()
	}
	return &b.lent
}

// Free frees the block of a spilled buffer. The header is then void.
func (b *Buffers) Free(h *Header) {
	if h.ref != 0 {
		b.own.free(h)
	}
}

// FreeRows is Free for n rows of a column.
func (b *Buffers) FreeRows(at store.Row, c store.Column, n int) {
	for range n {
		b.Free(HeaderOf(at, c))
		at.Row++
	}
}

// Live returns the number of blocks in use, those that wait for snapshots left out.
func (b *Buffers) Live() int {
	blocks, _ := b.Use()
	return blocks
}

// Use returns Live, and the bytes of the blocks in use and of those that wait. Cost: per chunk of
// the heap.
func (b *Buffers) Use() (blocks, bytes int) {
	blocks, bytes = b.region.use()
	if b.heap != nil {
		s := b.heap.Stats()
		blocks, bytes = blocks+s.LiveBlocks, bytes+s.LiveBytes
	}
	return blocks - b.waiting(), bytes
}

// Trim returns the heap's empty chunks to the universe. It returns their number.
func (b *Buffers) Trim() (chunks int) {
	if b.heap == nil {
		return 0
	}
	held := b.heap.Stats().Chunks
	b.local.Trim()
	// If the system refuses to take back a mapping, the next Trim tries again.
	_ = b.heap.Trim()
	return held - b.heap.Stats().Chunks
}

// Close frees all memory; headers are then void. The error is from alloc.Heap.Close: blocks that
// are still live have leaked.
func (b *Buffers) Close() error {
	b.own.base, b.lent.base = nil, nil
	if b.region != nil && b.region.live.Load() > 0 {
		b.region.live.Store(0)
		b.region.free()
	}
	if b.heap == nil {
		return nil
	}
	return b.heap.Close()
}

// VerifyRow checks H1 and H2 of a row's buffer.
func (b *Buffers) VerifyRow(h *Header, k *Shape) error {
	if h.ref != 0 {
		filed := b.region.has(h.ref)
		if !filed && (b.heap == nil || !b.heap.Owns(b.own.Block(h))) {
			return fmt.Errorf("value: H2: the block is at byte %d of the universe, where the heap has none",
				uint64(h.ref-1)*refUnit)
		}
		if int(h.capacity) <= k.Inline {
			return fmt.Errorf("value: H2: spilled with capacity %d, but %d fit the chunk", h.capacity, k.Inline)
		}
		if filed {
			return b.region.verify(h, k)
		}
		if usable := b.heap.Usable(b.own.Block(h)); int(h.capacity)*k.Element > usable {
			return fmt.Errorf("value: H2: capacity %d of %d bytes in a block of %d", h.capacity, k.Element, usable)
		}
	}
	if int(h.length) > k.Cap(h) {
		return fmt.Errorf("value: H1: length %d, capacity %d", h.length, k.Cap(h))
	}
	return nil
}

// Verify checks the heap, and H3 given the number of spilled buffers.
func (b *Buffers) Verify(spilled int) error {
	if n := b.Live(); n != spilled {
		return fmt.Errorf("value: H3: %d buffers have spilled, the heap holds %d blocks", spilled, n)
	}
	if b.heap == nil {
		return nil
	}
	return b.heap.Verify()
}
