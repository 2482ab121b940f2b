package alloc

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/mmap"
)

// Blocks with a mapping of their own: above 1 MiB, or aligned to more than a
// chunk. A few freed ones are kept committed for the next block of about their
// size; of the others the address range is parked by the layer below.

// keptBytes bounds what kept mappings hold in all. One of 2 MiB costs some system
// calls and 512 page faults, or one of 30 us where pages are huge; larger ones
// are touched for longer than the calls take.
const keptBytes = 8 << 20

// regionPages is what a mapping needs of the layer below: *mmap.Region, and in
// tests one that fails on command.
type regionPages interface {
	pages
	Hint(h mmap.Hint, on bool) error
}

// mapping is a region with one block in it, or none when it is kept.
type mapping struct {
	region   regionPages
	p        unsafe.Pointer // the block
	granules int            // committed, from the region's base on
}

// usable returns the bytes from the block's address on.
func (m *mapping) usable() int {
	return m.granules*mmap.Granule - int(uintptr(m.p)-uintptr(m.region.Base()))
}

// mappings are those of a heap. All is under the heap's lock.
type mappings struct {
	reserve func(size int) (regionPages, error)
	live    map[unsafe.Pointer]*mapping // by address of the block
	kept    []*mapping                  // freed, oldest first
	bytes   int                         // committed by those of kept (H6)
}

func newMappings() mappings {
	return mappings{
		live: map[unsafe.Pointer]*mapping{},
		reserve: func(size int) (regionPages, error) {
			r, err := mmap.Reserve(size)
			if err != nil {
				return nil, err // not r, which would be a nil region in an interface
			}
			return r, nil
		},
	}
}

// allocMapping returns a block in a mapping of its own; fresh says that it is
// zero.
func (h *Heap) allocMapping(name string, size, align int) (p unsafe.Pointer, fresh bool, err error) {
	if size > maxMapping {
		return nil, false, fmt.Errorf("alloc: %s: block of %d bytes, the limit is %d: %w", name, size, maxMapping, ErrTooBig)
	}
	if err := h.u.refuse(name); err != nil {
		return nil, false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// A region begins on a granule, but on the Go heap only on a page; the slack
	// makes room to move up to the alignment.
	slack := 0
	if align > mmap.Granule || !mmap.Real {
		slack = align
	}
	granules := (max(size, 1) + slack + mmap.Granule - 1) / mmap.Granule
	m := h.mappings.keptFor(granules)
	if m == nil {
		if m, err = h.mappings.open(granules, h.small); err != nil {
			return nil, false, fmt.Errorf("alloc: %s: block of %d bytes: %w", name, size, err)
		}
		fresh = true
	}
	base := m.region.Base()
	// Safe because the step is below align and the region is at least size+align
	// long wherever its base is not aligned already.
	m.p = unsafe.Add(base, -uintptr(base)&uintptr(max(align, 1)-1))
	h.mappings.live[m.p] = m
	return m.p, fresh, nil
}

// open reserves and commits a region.
func (l *mappings) open(granules int, small bool) (*mapping, error) {
	region, err := l.reserve(regionSize(granules))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReserve, err)
	}
	if small {
		_ = region.Hint(mmap.SmallPages, true) // a wish: without it the block costs more memory
	}
	if err := region.Commit(0, granules*mmap.Granule); err != nil {
		l.kept = append(l.kept, &mapping{region: region}) // for forget to release
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrCommit, err), l.forget(keptBytes))
	}
	return &mapping{region: region, granules: granules}, nil
}

// regionSize rounds a mapping's address range up to four sizes per doubling, so
// that parked ranges fit later blocks. Only what is asked for is committed.
func regionSize(granules int) int {
	step := max(1, 1<<bits.Len(uint(granules-1))>>3)
	return (granules + step - 1) / step * step * mmap.Granule
}

// keptFor takes the smallest kept mapping that has the granules and would not
// waste more than half of them, or returns nil.
func (l *mappings) keptFor(granules int) *mapping {
	best := -1
	for i, m := range l.kept {
		if m.granules >= granules && m.granules <= 2*granules && (best < 0 || m.granules < l.kept[best].granules) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	m := l.kept[best]
	l.kept = append(l.kept[:best], l.kept[best+1:]...)
	l.bytes -= m.granules * mmap.Granule
	return m
}

// freeMapping takes the block at p out and keeps its mapping. What the system
// refuses to take back stays kept, for the next try.
func (h *Heap) freeMapping(name string, p unsafe.Pointer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.mappings.live[p]
	if m == nil {
		panic(fmt.Sprintf("alloc: %s: %p was freed by two goroutines at once", name, p))
	}
	delete(h.mappings.live, p)
	h.mappings.keep(m)
	if m.granules*mmap.Granule > keptBytes {
		// It cannot stay: first in the line, so that it goes alone.
		k := h.mappings.kept
		copy(k[1:], k)
		k[0] = m
	}
	_ = h.mappings.forget(keptBytes)
}

// keep adds a mapping without a block.
func (l *mappings) keep(m *mapping) {
	l.kept = append(l.kept, m)
	l.bytes += m.granules * mmap.Granule
}

// retire makes all live mappings kept ones.
func (l *mappings) retire() {
	for _, m := range l.live {
		l.keep(m)
	}
	clear(l.live)
}

// forget releases kept mappings, oldest first, until those left hold no more than
// limit bytes. One that was refused is of no further use but to be tried again.
func (l *mappings) forget(limit int) (err error) {
	left := l.kept[:0]
	for _, m := range l.kept {
		if m.granules > 0 && l.bytes <= limit {
			left = append(left, m)
			continue
		}
		l.bytes -= m.granules * mmap.Granule
		m.granules = 0
		if e := m.region.Release(); e != nil {
			err = errors.Join(err, e)
			left = append(left, m)
		}
	}
	clear(l.kept[len(left):])
	l.kept = left
	return err
}

// resizeMapping commits or gives back granules of a block's own region.
func (h *Heap) resizeMapping(b *block, size int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.mappings.live[b.p]
	if m == nil || size > maxMapping {
		return false
	}
	offset := int(uintptr(m.p) - uintptr(m.region.Base()))
	granules := (offset + max(size, 1) + mmap.Granule - 1) / mmap.Granule
	after := block{usable: granules*mmap.Granule - offset}
	if !after.couldBe(size) || granules*mmap.Granule > m.region.Size() {
		return false
	}
	var err error
	switch at := m.granules * mmap.Granule; {
	case granules > m.granules:
		err = m.region.Commit(at, granules*mmap.Granule-at)
	case granules < m.granules:
		err = m.region.Decommit(granules*mmap.Granule, at-granules*mmap.Granule)
		if errors.Is(err, mmap.ErrAccess) {
			err = nil // refused half way: the granules are reserved all the same
		}
	}
	if err != nil {
		return false
	}
	m.granules = granules
	return true
}

// explain says why p is no block, in the words of a panic.
func (l *mappings) explain(p unsafe.Pointer) string {
	for _, m := range l.live {
		if inside := uintptr(p) - uintptr(m.p); inside < uintptr(m.usable()) {
			return fmt.Sprintf(" points %d bytes into a block of %d bytes", inside, m.usable())
		}
	}
	for _, m := range l.kept {
		if m.granules > 0 && m.p == p {
			return " is not a block of this heap (freed twice?)"
		}
	}
	return " is not a block of this heap"
}
