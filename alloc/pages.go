package alloc

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/mmap"
)

// Pages is an Allocator of plain pages: each block is a mapping of its own, as the
// blocks of a Heap above 1 MiB are, and goes back to the system when it is freed, so
// that a stale pointer faults. Its address range is parked for later blocks. Any
// goroutine may call any method but Close and Verify. Unlike a heap it knows the size
// of each block: a FreeSized or ResizeSized with another one panics.
//
// A block takes whole 2 MiB of addresses and of Stats().Mapped; what it touches of
// them it takes of memory. There can be about a quarter of vm.max_map_count blocks
// at once on Linux (16,382 by default). A pair of Alloc and FreeSized costs some system calls,
// 5 us, and the first touch of the memory on top; see Retain.
type Pages struct {
	mappings mappings
	closed   atomic.Bool
}

// NewPages takes the options SmallPages, InjectFailures and Retain, which is how many
// bytes of freed blocks stay committed for later ones, by default none; those of a
// universe's size and purging do nothing.
func NewPages(options ...Option) *Pages {
	c := config{}
	for _, o := range options {
		if o == nil {
			panic("alloc: NewPages: an option is nil")
		}
		o(&c)
	}
	p := &Pages{}
	p.mappings.init("these pages", max(0, c.retain)*mmap.Granule, c.small, c.failures)
	return p
}

// Alloc returns a block of at least size bytes. An error wraps ErrReserve, ErrCommit
// or, above 64 TiB, ErrTooBig. An alignment above 2 MiB takes as many bytes more.
func (p *Pages) Alloc(size, align int) (unsafe.Pointer, error) {
	p.check("Pages.Alloc", size, align)
	at, _, err := p.mappings.alloc("Pages.Alloc", size, align)
	return at, err
}

// ResizeSized commits more pages behind a block, where its address range has room (up
// to a quarter more than its first size, in 2 MiB), or gives its last ones back.
func (p *Pages) ResizeSized(at unsafe.Pointer, size, align, to int) bool {
	p.check("Pages.ResizeSized", to, align)
	p.find("Pages.ResizeSized", at, size, align)
	return p.mappings.resize(at, to, true)
}

// FreeSized gives a block back to the system. What the system refuses to take is tried
// again later.
func (p *Pages) FreeSized(at unsafe.Pointer, size, align int) {
	if at != nil {
		p.find("Pages.FreeSized", at, size, align)
		p.mappings.free("Pages.FreeSized", at)
	}
}

// find panics unless there is a live block of that size and alignment.
func (p *Pages) find(name string, at unsafe.Pointer, size, align int) {
	p.check(name, size, align)
	_, asked, why := p.mappings.lookup(at)
	if why != "" {
		panic(fmt.Sprintf("alloc: %s: %p%s", name, at, why))
	}
	if size != asked || uintptr(at)&uintptr(max(align, 1)-1) != 0 {
		panic(fmt.Sprintf("alloc: %s: the block at %p has %d bytes: it was not allocated with size=%d align=%d",
			name, at, asked, size, align))
	}
}

func (p *Pages) check(name string, size, align int) {
	if p.closed.Load() {
		panic("alloc: " + name + ": the Pages are closed")
	}
	checkBlock(name, size, align)
}

// Stats counts the blocks. Chunks and Ahead are 0.
func (p *Pages) Stats() (s HeapStats) {
	p.mappings.stats(&s)
	return s
}

// Verify checks the invariant H6 of mappings. No other call may be under way.
func (p *Pages) Verify() error { return p.mappings.verify() }

// Close returns all memory, live blocks too. When blocks were live the error wraps
// ErrLeak and counts them. After an error of the system, which would not take a
// mapping back, Close may be called again; else a second call does nothing. No other
// call may be under way.
func (p *Pages) Close() error {
	var leak error
	if left := p.Stats(); left.LiveBlocks > 0 {
		leak = fmt.Errorf("alloc: Pages.Close: %d blocks of %d bytes: %w", left.LiveBlocks, left.LiveBytes, ErrLeak)
	}
	p.closed.Store(true)
	err := p.mappings.close()
	if err != nil {
		err = fmt.Errorf("alloc: Pages.Close: %w", err)
	}
	return errors.Join(leak, err)
}
