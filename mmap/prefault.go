package mmap

import (
	"sync/atomic"
	"unsafe"
)

// prefaultStep is how many bytes are faulted in while the region's lock is held.
const prefaultStep = 64 << 20

// Prefault spends the memory of [off, off+n) now, so that no later touch has to
// wait for the kernel. Contents stay. off and n are multiples of PageSize,
// n > 0; all of it is ready and not guarded. To the race detector it is a write
// of each page, so nobody else should use the range meanwhile. It costs what
// first touch costs, a little less where the kernel does a whole range in one
// call (Linux 5.14 and later; elsewhere a word of each page is written). An
// error is an *Error that wraps ErrMemory; part may have been faulted in then.
// Where the kernel cannot say no, running out of memory ends the process.
func (r *Region) Prefault(off, n int) error {
	r.checkOpen("Prefault", off, n)
	for n > 0 {
		step := min(n, prefaultStep)
		if err := r.prefault(off, step); err != nil {
			return err
		}
		off, n = off+step, n-step
	}
	return nil
}

func (r *Region) checkOpen(op string, off, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.openPages(op, off, n)
}

func (r *Region) prefault(off, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.openPages("Prefault", off, n)
	if errno := r.space.sys.populate(&r.memory, off, n); errno != nil {
		return r.refuse("Prefault", off, n, ErrMemory, errno)
	}
	return nil
}

// touch writes a word of each page back to it.
func touch(m *memory, off, n int) {
	b := m.bytes(off, n)
	for i := 0; i < len(b); i += PageSize() {
		// Safe because i is a multiple of the page size below len(b), so the word
		// is aligned and inside ready memory; or-ing nothing keeps its contents
		// whoever writes it at the same time.
		atomic.OrUint32((*uint32)(unsafe.Pointer(&b[i])), 0)
	}
}
