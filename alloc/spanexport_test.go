package alloc

import "unsafe"

// Spans returns the number of spans.
func (h *Heap) Spans() (n int) {
	h.eachSpan(func(uint64) { n++ })
	return n
}

// CorruptSpan breaks the invariant of the span at p and returns what puts it right.
func (h *Heap) CorruptSpan(p unsafe.Pointer, what string) (restore func()) {
	c, _ := h.chunkOf(p)
	head := h.spanAt(int(c) / ChunksPerMegachunk)
	was := head.Load()
	switch what {
	case "chunk":
		word := h.u.Index.Word(int(c)/ChunksPerMegachunk + 1)
		word.TryFree(3, 1)
		return func() { word.TryAllocAt(3, 1) }
	case "head":
		head.Store(spanHead(c, spanChunks(was)+1))
	}
	return func() { head.Store(was) }
}
