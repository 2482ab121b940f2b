package alloc

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/mmap"
)

// Blocks with a mapping of their own: above 1 MiB, or aligned to more than a
// chunk. The address range is parked when the block is freed and serves the
// next block of the same number of granules.

func (h *Heap) allocMapping(size, align int) (unsafe.Pointer, error) {
	// A region begins on a granule, but on the Go heap only on a page; the slack
	// makes room to move up to the alignment.
	if size > maxMapping {
		return nil, fmt.Errorf("alloc: Heap.Alloc: block of %d bytes, the limit is %d: %w", size, maxMapping, ErrTooBig)
	}
	slack := 0
	if align > mmap.Granule || !mmap.Real {
		slack = align
	}
	want := max(size, 1) + slack
	region, err := mmap.Reserve(regionSize(want))
	if err != nil {
		return nil, fmt.Errorf("alloc: Heap.Alloc: block of %d bytes: %w: %w", size, ErrReserve, err)
	}
	granules := (want + mmap.Granule - 1) / mmap.Granule
	if err := region.Commit(0, granules*mmap.Granule); err != nil {
		err = fmt.Errorf("alloc: Heap.Alloc: block of %d bytes: %w: %w", size, ErrCommit, err)
		if e := region.Release(); e != nil {
			err = fmt.Errorf("%w; and its address range is lost: %w", err, e)
		}
		return nil, err
	}
	p := region.Base()
	if align > 1 {
		up := -uintptr(p) & uintptr(align-1)
		// Safe because up < align and the region is at least size+align long
		// wherever its base is not aligned already.
		p = unsafe.Add(p, up)
	}
	usable := granules*mmap.Granule - int(uintptr(p)-uintptr(region.Base()))
	h.mappings[p] = mapping{region: region, usable: usable}
	h.stats.LiveBlocks++
	h.stats.LiveBytes += usable
	h.stats.Mapped += granules * mmap.Granule
	return p, nil
}

// regionSize rounds a mapping's address range up to four sizes per doubling, so
// that parked ranges fit later blocks. Only what is asked for is committed.
func regionSize(n int) int {
	n = (n + mmap.Granule - 1) / mmap.Granule
	step := max(1, 1<<bits.Len(uint(n-1))>>3)
	return (n + step - 1) / step * step * mmap.Granule
}

func (h *Heap) freeMapping(p unsafe.Pointer) {
	if err := h.unmap(p); err != nil {
		// The system would not take pages back that it gave: the block is gone
		// from the books, but the promise to return its memory is broken.
		panic("alloc: Heap.Free: " + err.Error())
	}
}

func (h *Heap) unmap(p unsafe.Pointer) error {
	m := h.mappings[p]
	delete(h.mappings, p)
	h.stats.LiveBlocks--
	h.stats.LiveBytes -= m.usable
	h.stats.Mapped -= m.region.Committed()
	return m.region.Release()
}
