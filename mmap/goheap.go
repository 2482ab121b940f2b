package mmap

import (
	"fmt"
	"runtime"
	"unsafe"

	"quarry/internal/debug"
)

// goHeap provides ranges that are Go objects, one object each, since checkptr rejects pointer
// arithmetic that leaves an object. Objects are made zero and cleared again per granule, at the
// Commit that reuses it; clearing a whole object per region, as the runtime does for a fresh one,
// took 45 s for 16 GiB. Parked objects cannot be joined into a larger one, so when a larger one is
// made, as many bytes of them are left to the collector. A stale Go pointer keeps its object alive,
// so no other region gets it.
type goHeap struct{ plain }

const (
	goHeapAlign = 64 << 10 // bytes: the largest page of the systems served here, and 4 chunks
	clearStep   = 256 << 10
)

// goHeapLimit is the size in bytes above which no object is attempted. The runtime ends the process
// when the OS refuses it memory, so the refusal must come first.
const goHeapLimit = 4 << 30

// goHeapMost returns how many bytes all objects may have together; 0: any number. WebAssembly has 4
// GiB of addresses for everything. The collector lets the heap grow to twice what was live, which
// leaves as much again for the rest of the address space.
func goHeapMost() int {
	if runtime.GOARCH == "wasm" {
		return 1 << 30
	}
	return 0
}

func (goHeap) traits() traits {
	return traits{name: "Go heap", align: goHeapAlign, lazy: true, refused: ErrMemory, most: goHeapMost()}
}

func (goHeap) reserve(size int) (memory, error) {
	if size > goHeapLimit {
		return memory{}, errGoHeap
	}
	object := make([]byte, size+goHeapAlign)
	// Safe because pad < goHeapAlign, so [pad, pad+size) lies inside object, which the memory keeps
	// alive and which does not move.
	first := unsafe.Pointer(unsafe.SliceData(object))
	pad := -uintptr(first) & (goHeapAlign - 1)
	return memory{base: unsafe.Add(first, pad), size: size, object: object, block: uintptr(first)}, nil
}

// room is always nil: the room of the Go heap cannot be known without allocating.
func (goHeap) room(int) error { return nil }

func (goHeap) allow(*memory, int, int) error { return nil }

// deny cannot take access away; debug builds poison the range so that a late read shows.
func (goHeap) deny(m *memory, off, n int) error {
	if debug.On {
		b := m.bytes(off, n)
		debug.Poison(b[:64], debug.Freed)
		for done := 64; done < n; done *= 2 {
			copy(b[done:], b[:done])
		}
	}
	return nil
}

// drop clears in steps, because one clear is not preemptible.
func (goHeap) drop(m *memory, off, n int) error {
	for b := m.bytes(off, n); len(b) > 0; b = b[clearStep:] {
		clear(b[:clearStep])
	}
	return nil
}

func (goHeap) advice(_ string, errno error) string {
	if errno == errMost {
		return fmt.Sprintf(
			"lower the size, or release some: regions of this build are Go objects, of at most %d bytes together",
			goHeapMost())
	}
	return fmt.Sprintf("lower the size: regions of this build are Go objects of at most %d bytes", goHeapLimit)
}
