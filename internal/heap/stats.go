package heap

import (
	"math/bits"
	"sync/atomic"

	"quarry/internal/universe"
)

// Stats is HeapStats of package alloc.
type Stats struct {
	LiveBlocks int // blocks allocated and not freed
	LiveBytes  int // usable bytes of those blocks
	Chunks     int // chunks of the universe that the heap holds
	Ahead      int // the part of Chunks taken ahead and not used yet
	Mapped     int // committed by the mappings of live blocks
	Kept       int // committed by freed mappings kept for reuse
	Cached     int // in freed blocks that Locals keep for reuse, which lie in Chunks
}

// Stats is Heap.Stats of package alloc.
func (h *Heap) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stats()
}

// stats is Stats. mu is held.
func (h *Heap) stats() Stats {
	s := Stats{}
	h.eachHead(func(c universe.ChunkIndex, b *slab, head uint64) {
		s.Chunks++
		switch head & kindMask {
		case kindSlots:
			used := b.used(head)
			if b.head.Load() != head {
				used = 0 // dropped meanwhile, so it was empty
			}
			s.LiveBlocks += used
			s.LiveBytes += used * int(classes[classIn(head)].size)
		case kindWide:
			number := classIn(head)
			used, kept := b.wideUsed(number)
			s.Cached += kept * wideClasses[number].size
			s.LiveBlocks += used
			s.LiveBytes += used * wideClasses[number].size
		case kindCached:
			s.Chunks += chunksIn(head) - 1
			s.Cached += chunksIn(head) * universe.ChunkSize
		case kindRun:
			s.Chunks += chunksIn(head) - 1 // the others have no head
			s.LiveBlocks++
			s.LiveBytes += chunksIn(head) * universe.ChunkSize
		}
	})
	h.eachSpan(func(head uint64) {
		s.Chunks += spanChunks(head)
		s.LiveBlocks++
		s.LiveBytes += spanChunks(head) * universe.ChunkSize
	})
	_, s.Ahead = h.supply.run()
	s.Chunks += s.Ahead
	m := h.mappings.Use()
	s.LiveBlocks, s.LiveBytes = s.LiveBlocks+m.Blocks, s.LiveBytes+m.Bytes
	s.Mapped, s.Kept = m.Mapped, m.Kept
	for _, a := range h.overflows.list() {
		s.add(a.Stats())
	}
	return s
}

// add adds the figures of an overflow heap.
func (s *Stats) add(a Stats) {
	s.LiveBlocks += a.LiveBlocks
	s.LiveBytes += a.LiveBytes
	s.Chunks += a.Chunks
	s.Ahead += a.Ahead
	s.Mapped += a.Mapped
	s.Kept += a.Kept
}

// used counts the slots in use in a slab with the given head.
func (s *slab) used(head uint64) int {
	k := &classes[classIn(head)]
	free := 0 // or freed by others
	for i := range int(k.words) {
		free += bits.OnesCount64(^s.live[i].Load())
	}
	if ownerIn(head) == 0 {
		return int(k.slots) - free
	}
	n := 0
	for i := range s.own() {
		n += bits.OnesCount64(atomic.LoadUint64(&s.own()[i]))
	}
	return max(0, n-free)
}
