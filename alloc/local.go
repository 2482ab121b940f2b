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
	h    *Heap
	core heap.Local
}

const localNil = ": the Local is nil or the zero value; Heap.NewLocal makes one"

// inside returns the Local in package heap. It panics if there is none.
func (l *Local) inside(name string) *heap.Local {
	if l == nil || l.h == nil {
		panic("alloc: " + name + localNil)
	}
	return &l.core
}

// NewLocal returns a Local of the heap. A Local that is not closed keeps its memory until the heap
// is closed.
func (h *Heap) NewLocal() *Local {
	l := &Local{h: h}
	h.inside("Heap.NewLocal").OpenLocal(&l.core)
	return l
}

// Heap returns the heap that l belongs to.
func (l *Local) Heap() *Heap {
	l.inside("Local.Heap")
	return l.h
}

func (l *Local) isClosed() bool { return l.core.Closed }

// Alloc is Heap.Alloc.
func (l *Local) Alloc(size, align int) (unsafe.Pointer, error) {
	if l == nil {
		panic("alloc: Local.Alloc" + localNil)
	}
	return l.core.Alloc(size, align)
}

// AllocZeroed is Heap.AllocZeroed.
func (l *Local) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if l == nil {
		panic("alloc: Local.AllocZeroed" + localNil)
	}
	return l.core.AllocZeroed(size, align)
}

// Free is Heap.Free.
func (l *Local) Free(p unsafe.Pointer) {
	if l == nil || l.h == nil {
		panic("alloc: Local.Free" + localNil)
	}
	l.core.Free(p)
}

// FreeSized is Heap.FreeSized.
func (l *Local) FreeSized(p unsafe.Pointer, size, align int) {
	if l == nil || l.h == nil {
		panic("alloc: Local.FreeSized" + localNil)
	}
	l.core.FreeSized(p, size, align)
}

// Realloc is Heap.Realloc.
func (l *Local) Realloc(p unsafe.Pointer, size, align int) (unsafe.Pointer, error) {
	return l.inside("Local.Realloc").Realloc(p, size, align)
}

// ReallocSized is Heap.ReallocSized.
func (l *Local) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return l.inside("Local.ReallocSized").ReallocSized(p, size, align, to)
}

// ReallocZeroed is Heap.ReallocZeroed.
func (l *Local) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return l.inside("Local.ReallocZeroed").ReallocZeroed(p, size, align, to)
}

// Resize is Heap.Resize.
func (l *Local) Resize(p unsafe.Pointer, size int) bool {
	return l.inside("Local.Resize").Resize(p, size)
}

// ResizeSized is Heap.ResizeSized.
func (l *Local) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return l.inside("Local.ResizeSized").ResizeSized(p, size, align, to)
}

// Usable is Heap.Usable.
func (l *Local) Usable(p unsafe.Pointer) int { return l.inside("Local.Usable").Usable(p) }

// Trim frees the empty slabs and the freed blocks that l keeps for reuse, and gives pages between
// blocks in use back to the system. What the system refuses to take back stays.
func (l *Local) Trim() { l.inside("Local.Trim").Trim() }

// Close gives the slabs of l to the heap. Its blocks stay live and can be freed through the heap or
// another Local. A second call does nothing.
func (l *Local) Close() { l.inside("Local.Close").Close() }
