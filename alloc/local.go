package alloc

import (
	"unsafe"

	"quarry/internal/heap"
)

// Local allocates from slabs of its own, without an atomic read-modify-write for small blocks. One
// goroutine at a time may use a Local; a handover must be synchronized. Blocks of a Local are
// blocks of the heap: any goroutine may free them through the heap or another Local, and a Local
// may free blocks of the heap and of other Locals. Blocks of a Local that others free are reused
// when the Local next needs a slab; an idle Local does not reuse them. A Local keeps blocks above 8
// KiB that it frees, up to 256 KiB, for its next blocks of the same size. Of blocks up to 8 KiB it
// hands out first what it freed last.
//
// Cost on an AMD Zen 5, Go 1.26: Alloc and Free of 64 B 6.6 ns for both; replacing a random one of
// 10,000 such blocks 18 ns.
type Local struct {
	core heap.Local
	h    *Heap
}

// NewLocal returns a Local of the heap. A Local that is not closed keeps its memory until the heap
// is closed.
func (h *Heap) NewLocal() *Local {
	l := &Local{h: h}
	h.core.OpenLocal(&l.core)
	return l
}

// Heap returns the heap that l belongs to.
func (l *Local) Heap() *Heap { return l.h }

func (l *Local) isClosed() bool { return l.core.Closed }

// Alloc is Heap.Alloc.
func (l *Local) Alloc(size, align int) (unsafe.Pointer, error) { return l.core.Alloc(size, align) }

// AllocZeroed is Heap.AllocZeroed.
func (l *Local) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	return l.core.AllocZeroed(size, align)
}

// Free is Heap.Free.
func (l *Local) Free(p unsafe.Pointer) { l.core.Free(p) }

// FreeSized is Heap.FreeSized.
func (l *Local) FreeSized(p unsafe.Pointer, size, align int) { l.core.FreeSized(p, size, align) }

// Realloc is Heap.Realloc.
func (l *Local) Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	return l.core.Realloc(p, size, align)
}

// ReallocSized is Heap.ReallocSized.
func (l *Local) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return l.core.ReallocSized(p, size, align, to)
}

// ReallocZeroed is Heap.ReallocZeroed.
func (l *Local) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return l.core.ReallocZeroed(p, size, align, to)
}

// Resize is Heap.Resize.
func (l *Local) Resize(p unsafe.Pointer, size int) bool { return l.core.Resize(p, size) }

// ResizeSized is Heap.ResizeSized.
func (l *Local) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return l.core.ResizeSized(p, size, align, to)
}

// Usable is Heap.Usable.
func (l *Local) Usable(p unsafe.Pointer) int { return l.core.Usable(p) }

// Trim frees the empty slabs and the freed blocks that l keeps for reuse, and gives pages between
// blocks in use back to the system. What the system refuses to take back stays.
func (l *Local) Trim() { l.core.Trim() }

// Close gives the slabs of l to the heap. Its blocks stay live and can be freed through the heap or
// another Local. A second call does nothing.
func (l *Local) Close() { l.core.Close() }
