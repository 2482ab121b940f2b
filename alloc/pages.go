package alloc

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/internal/universe"
	"quarry/internal/universe/mapping"
	"quarry/internal/universe/memory"
	"quarry/mmap"
)

// Pages is an Allocator that gives each block its own mapping. A freed
// block's memory returns to the system, so that a stale pointer faults; its address range is parked
// for later blocks. Any goroutine may call any method except Close and Verify. Unlike a heap, Pages
// stores the size of each block: FreeSized and ResizeSized panic for any other size.
//
// A block occupies whole multiples of 2 MiB of addresses and of Stats().Mapped; it uses only the
// memory that it touches. On Linux about a quarter of vm.max_map_count blocks can exist at once
// (16,382 by default). A pair of Alloc and FreeSized costs some system calls, and the first touch
// of each page. A block of up to 16 KiB has pages of 4 KiB, and a pair takes what mmap and munmap
// take. A larger one has huge pages: the kernel zeroes 2 MiB, 75 us, and as much for each further 2
// MiB. With SmallPages it zeroes 4 KiB each time, which is eight times as much for whole blocks. A
// block that is kept by Retain costs neither.
type Pages struct {
	mappings mapping.Set
	closed   atomic.Bool
}

// NewPages returns an allocator of pages. It honors the options SmallPages, InjectFailures and
// Retain, the number of bytes of freed blocks that stay committed for later blocks, by default 0.
// Options for the size and the purging of a universe have no effect.
func NewPages(options ...Option) *Pages {
	c := universe.Config{}
	for _, o := range options {
		if o == nil {
			panic("alloc: NewPages: an option is nil")
		}
		o(&c)
	}
	p := &Pages{}
	p.mappings.Init("these pages", max(0, c.Retain)*mmap.Granule, c.Small, c.Refusal)
	return p
}

// Alloc returns a block of at least size bytes. An error wraps ErrReserve, ErrCommit or, above 64
// TiB, ErrTooBig. An alignment above 2 MiB costs as many extra bytes.
func (p *Pages) Alloc(size, align int) (unsafe.Pointer, error) {
	p.check("Pages.Alloc", size, align)
	at, _, err := p.mappings.Alloc("Pages.Alloc", size, align)
	return at, err
}

// ResizeSized grows a block in place by committing pages after it, as far as its address range
// reaches (up to a quarter more than its first size, in 2 MiB), or decommits its last pages. A
// block of up to 16 KiB grows in place to no more than that.
func (p *Pages) ResizeSized(at unsafe.Pointer, size, align, to int) bool {
	p.check("Pages.ResizeSized", to, align)
	p.find("Pages.ResizeSized", at, size, align)
	return p.mappings.Resize(at, to, true)
}

// FreeSized returns a block's memory to the system. What the system refuses to take back is retried
// later.
func (p *Pages) FreeSized(at unsafe.Pointer, size, align int) {
	if at != nil {
		p.find("Pages.FreeSized", at, size, align)
		p.mappings.Free("Pages.FreeSized", at)
	}
}

// find panics unless there is a live block of the given size and alignment.
func (p *Pages) find(name string, at unsafe.Pointer, size, align int) {
	p.check(name, size, align)
	_, asked, why := p.mappings.Lookup(at)
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
	memory.Check(name, size, align)
}

// Stats returns statistics of the blocks. Chunks and Ahead are 0.
func (p *Pages) Stats() HeapStats {
	m := p.mappings.Use()
	return HeapStats{LiveBlocks: m.Blocks, LiveBytes: m.Bytes, Mapped: m.Mapped, Kept: m.Kept}
}

// Verify checks the invariant H6 of mappings. No other call may be under way.
func (p *Pages) Verify() error { return p.mappings.Verify() }

// Close frees all memory, including live blocks. When blocks were live, the error wraps ErrLeak and
// counts them. When the system refused to take back a mapping, Close returns an error and may be
// called again; otherwise a second call does nothing. No other call may be under way.
func (p *Pages) Close() error {
	var leak error
	if left := p.Stats(); left.LiveBlocks > 0 {
		leak = fmt.Errorf("alloc: Pages.Close: %d blocks of %d bytes: %w", left.LiveBlocks, left.LiveBytes, ErrLeak)
	}
	p.closed.Store(true)
	err := p.mappings.Close()
	if err != nil {
		err = fmt.Errorf("alloc: Pages.Close: %w", err)
	}
	return errors.Join(leak, err)
}
