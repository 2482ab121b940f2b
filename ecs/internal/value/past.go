package value

import (
	"quarry/ecs/internal/past"
	"quarry/internal/heap"
	"quarry/internal/universe"
)

// The past of buffers. A block that a snapshot holds is never written again: before a write the
// elements move to a new block, and the old one waits until no snapshot holds it. A header records
// when its block was taken, so the blocks of a snapshot are known without a walk over rows. The
// header itself is kept with its row.

// KeepPast makes the buffers keep blocks; nil ends that.
func (b *Buffers) KeepPast(kept *past.DeferredFree[uint32]) { b.deferred = kept }

// FreeBlock frees a block that waited.
func (b *Buffers) FreeBlock(ref uint32) {
	if b.region.has(ref) {
		b.region.end()
		return
	}
	b.local.Free(b.own.Block(&Header{ref: ref}))
}

// layerNumber returns the number that the header of a block has if the block is taken now.
func (b *Buffers) layerNumber() uint32 {
	if b.deferred == nil {
		return 0
	}
	return uint32(b.deferred.LayerNumber())
}

// waiting returns the number of blocks that wait.
func (b *Buffers) waiting() int {
	if b.deferred == nil {
		return 0
	}
	return b.deferred.Len()
}

// shared reports whether a snapshot has the block of a spilled buffer.
func (b *Buffers) shared(h *Header) bool { return b.deferred != nil && b.deferred.Has(uint64(h.born)) }

// free frees the block of a spilled buffer, or lets it wait.
func (s *Spill) free(h *Header) {
	if s.of.deferred != nil && s.of.deferred.Free(h.ref, uint64(h.born)) {
		return
	}
	if s.of.region.has(h.ref) {
		s.of.region.end()
		return
	}
	s.blocks.Free(s.Block(h))
}

// Unshare gives a spilled buffer a new block before it is written, if a snapshot has its block. If
// there is no memory for one, the snapshots are lost, and the buffer keeps its block.
func (s *Spill) Unshare(h *Header, k *Shape) {
	if h.ref == 0 || !s.of.shared(h) {
		return
	}
	next, err := s.take(nil, k, int(h.capacity), max(int(h.length), k.Inline+1))
	if err != nil {
		s.of.deferred.Lose(uint64(h.born), err)
		h.born = s.of.layerNumber()
		return
	}
	next.length = h.length
	Move(s.Bytes(&next, k, 0, next.Len()), s.Bytes(h, k, 0, h.Len()))
	old := *h
	*h = next
	s.free(&old)
}

// Revive marks the block of a header as in use again, if it waits.
func (b *Buffers) Revive(h *Header) {
	if h.ref != 0 {
		b.deferred.Take(h.ref)
	}
}

// Ref returns the number of a buffer's block, 0 if it has not spilled.
func (h *Header) Ref() uint32 { return h.ref }

// Heap returns the heap, or nil if no buffer has spilled.
func (b *Buffers) Heap() *heap.Heap { return b.heap }

// Look initializes zero Buffers through which the blocks of another heap are read.
func (b *Buffers) Look(u *universe.Universe, heap *heap.Heap) {
	b.Open(u, nil)
	b.heap = heap
}

// LookAt is Look for the blocks that a snapshot has of the buffers live. heap is the heap of live
// when the snapshot was taken, or nil if no buffer had spilled.
func (b *Buffers) LookAt(live *Buffers, heap *heap.Heap) {
	b.Look(live.u, heap)
	b.region = live.region
}
