package heap

import (
	"unsafe"

	"quarry/internal/universe"
	"quarry/internal/universe/mapping"
)

// Probes, by which the tests of package alloc inspect and break a heap. Programs contain none of
// it.

// Corrupt breaks one invariant of a heap that has a shared slab, one of l, a run
// and a mapping, and returns what puts it right.
func (h *Heap) Corrupt(l *Local, invariant string) (restore func()) {
	var shared, own, run, wide *slab
	h.eachHead(func(_ universe.ChunkIndex, s *slab, head uint64) {
		switch {
		case head&kindMask == kindRun:
			run = s
		case head&kindMask == kindWide:
			wide = s
		case head&kindMask == kindSlots && ownerIn(head) == 0:
			shared = s
		case head&kindMask == kindSlots && ownerIn(head) == l.id:
			own = s
		}
	})
	switch invariant {
	case "H1":
		c := run.chunk()
		h.u.Index.Word(int(c/universe.ChunksPerMegachunk)).TryFree(int(c)%universe.ChunksPerMegachunk, 1)
		return func() {
			h.u.Index.Word(int(c/universe.ChunksPerMegachunk)).TryAllocAt(int(c)%universe.ChunksPerMegachunk, 1)
		}
	case "H1, run":
		head := run.head.Load()
		run.head.Store(headOf(kindRun, 0, chunksIn(head)+1, firstIn(head), 0))
		return func() { run.head.Store(head) }
	case "H2":
		k := &classes[classIn(shared.head.Load())]
		shared.live[k.words-1].And(1<<63 - 1)
		return func() { shared.live[k.words-1].Or(1 << 63) }
	case "H3":
		was := shared.state.Swap(stateFull)
		return func() { shared.state.Store(was) }
	case "H4":
		own.place = placeFull
		return func() { own.place = placeCurrent }
	case "H5":
		own.live[0].And(^uint64(1))
		return func() { own.live[0].Or(1) }
	case "H6":
		return h.mappings.Corrupt()
	case "H8":
		wide.own()[0] ^= 1 << 63
		return func() { wide.own()[0] ^= 1 << 63 }
	case "H8, word":
		wide.own()[1]++
		return func() { wide.own()[1]-- }
	case "H9":
		l.held++
		return func() { l.held-- }
	case "H9, head":
		kept := h.table.link(l.cached[1])
		head := kept.head.Load()
		kept.head.Store(head + 1<<headOwner)
		return func() { kept.head.Store(head) }
	case "H9, list":
		first := l.cached[1]
		l.cached[1], l.held = 0, l.held-2
		return func() { l.cached[1], l.held = first, l.held+2 }
	case "H11":
		c := &l.classes[classIn(own.head.Load())]
		c.recent[c.n] = uint32(own.chunk())*quantaPerChunk + 1
		c.n++
		return func() { c.n-- }
	case "H7":
		h.supply.slabs.Add(1)
		return func() { h.supply.slabs.Add(-1) }
	}
	return nil
}

// FailMappings makes the calls for the heap's mappings follow a script.
func (h *Heap) FailMappings(s *mapping.Script) { h.mappings.Follow(s) }

// CommittedBytes returns the bytes that the layer below has committed for the heap's mappings.
func (h *Heap) CommittedBytes() int64 { return h.mappings.Committed() }

// OverflowOf makes the heap have overflow heaps of that many bytes.
func (h *Heap) OverflowOf(size int) { h.overflows.size = size }

// OverflowSize returns the size of the overflow heaps that the heap may make.
func (h *Heap) OverflowSize() int { return h.overflows.size }

// Overflows returns how many there are.
func (h *Heap) Overflows() int { return len(h.overflows.list()) }

// OverflowBytes is what the universes of overflow heaps have committed.
func (h *Heap) OverflowBytes() (n int64) {
	for _, a := range h.overflows.list() {
		n += a.u.CommittedBytes()
	}
	return n
}

// Spans returns the number of spans.
func (h *Heap) Spans() (n int) {
	h.eachSpan(func(uint64) { n++ })
	return n
}

// CorruptSpan breaks the invariant of the span at p and returns what puts it right.
func (h *Heap) CorruptSpan(p unsafe.Pointer, what string) (restore func()) {
	c, _ := h.chunkOf(p)
	head := h.spanAt(int(c) / universe.ChunksPerMegachunk)
	was := head.Load()
	switch what {
	case "chunk":
		word := h.u.Index.Word(int(c)/universe.ChunksPerMegachunk + 1)
		word.TryFree(3, 1)
		return func() { word.TryAllocAt(3, 1) }
	case "head":
		head.Store(spanHead(c, spanChunks(was)+1))
	}
	return func() { head.Store(was) }
}

// Shards returns the number of shards that goroutines of h are spread over.
func (h *Heap) Shards() int { return h.shards.Used() }

// SlotAt returns the slot of a class that contains an offset into a chunk.
func SlotAt(number int, offset uint32) uint32 { return classes[number].slot(offset) }

// ClassSizes lists the sizes of the classes.
var ClassSizes = classSizes[:]

// ClassFor returns the class of a request.
func ClassFor(size, align int) (int, bool) { return classFor(size, align) }
