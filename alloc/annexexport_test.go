package alloc

// AnnexOf makes the heap have annexes of that many bytes.
func (h *Heap) AnnexOf(size int) { h.annexes.size = size }

// AnnexSize returns the size of the annexes that the heap may make.
func (h *Heap) AnnexSize() int { return h.annexes.size }

// Annexes returns how many there are.
func (h *Heap) Annexes() int { return len(h.annexes.list()) }

// AnnexBytes is what the universes of annexes have committed.
func (h *Heap) AnnexBytes() (n int64) {
	for _, a := range h.annexes.list() {
		n += a.u.CommittedBytes()
	}
	return n
}
