package past

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/mmap"
)

// Layer is what memories held at one moment.
type Layer struct {
	past         *Past
	number       uint64
	below, above *Layer  // the next older and newer one; written by the owner while past.mu is held
	parts        []*part // by memory
	closed       bool
}

// Number returns the layer's number: the later the moment, the greater.
func (l *Layer) Number() uint64 { return l.number }

// part is what a layer has of one memory.
type part struct {
	pages  []atomic.Pointer[hasPage] // which units it has
	mu     sync.Mutex                // held to copy a unit to the part
	units  []uint32                  // that it has, in the order in which they came
	region *mmap.Region              // as long as the memory; nil until the first unit comes
	base   unsafe.Pointer            // of the region
	ready  []bool                    // granules of the region that are committed
}

// hasPage has a bit for each unit.
type hasPage [pageUnits / 64]atomic.Uint64

// part returns the part of a memory, with room for the bits of its units. It belongs to the owner.
func (l *Layer) part(at int) *part {
	for len(l.parts) <= at {
		l.parts = append(l.parts, &part{})
	}
	p := l.parts[at]
	if more := len(l.past.memories[at].pages) - len(p.pages); more > 0 {
		pages := make([]atomic.Pointer[hasPage], len(p.pages)+more)
		for i := range p.pages {
			pages[i].Store(p.pages[i].Load())
		}
		p.pages = pages
	}
	return p
}

// has reports whether the part has a unit. Its bytes are there then.
func (p *part) has(unit int) bool {
	page := p.pages[unit/pageUnits].Load()
	return page != nil && page[unit%pageUnits/64].Load()>>(unit%64)&1 != 0
}

// bytes returns the bytes of a unit that the part has.
func (p *part) bytes(unit int) []byte {
	// Safe because the region is as long as the memory, and the unit's granule is committed.
	return unsafe.Slice((*byte)(unsafe.Add(p.base, unit*UnitSize)), UnitSize)
}

// put copies the bytes of a unit to the part, unless it has the unit. The bytes must not change
// meanwhile. An error is from mmap; the part lacks the unit then.
func (p *part) put(m *Memory, unit int, from []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.has(unit) {
		return nil
	}
	if err := p.makeRoom(m, unit); err != nil {
		return err
	}
	copy(p.bytes(unit), from)
	p.units = append(p.units, uint32(unit))
	page := &p.pages[unit/pageUnits]
	if page.Load() == nil {
		page.Store(new(hasPage))
	}
	page.Load()[unit%pageUnits/64].Or(1 << (unit % 64))
	return nil
}

// makeRoom commits the granule of a unit.
func (p *part) makeRoom(m *Memory, unit int) error {
	if p.region != nil && p.region.Size() < m.units*UnitSize && len(p.units) == 0 {
		if err := p.region.Release(); err != nil {
			return err
		}
		p.region, p.ready = nil, p.ready[:0]
	}
	if p.region == nil {
		r, err := mmap.Reserve(m.units * UnitSize)
		if err != nil {
			return fmt.Errorf("past: %w", err)
		}
		if err := r.Hint(mmap.SmallPages, true); err != nil && !errors.Is(err, mmap.ErrUnsupported) {
			return fmt.Errorf("past: %w", errors.Join(err, r.Release()))
		}
		p.region, p.base = r, r.Base()
		p.ready = append(p.ready[:0], make([]bool, r.Size()/mmap.Granule)...)
	}
	granule := unit * UnitSize / mmap.Granule
	if p.ready[granule] {
		return nil
	}
	if err := p.region.Commit(granule*mmap.Granule, mmap.Granule); err != nil {
		return fmt.Errorf("past: %w", err)
	}
	p.ready[granule] = true
	return nil
}

// clear makes the part lack all units, and keeps its memory.
func (p *part) clear() {
	for _, unit := range p.units {
		p.pages[unit/pageUnits].Load()[unit%pageUnits/64].Store(0)
	}
	p.units = p.units[:0]
}

// release gives the part's memory back.
func (p *part) release() error {
	if p.region == nil {
		return nil
	}
	err := p.region.Release()
	p.region, p.ready = nil, p.ready[:0]
	return err
}

// address returns the address of a unit in the part, which has it or is asked for no unit.
func (p *part) address(unit int) unsafe.Pointer {
	// Safe because the region is as long as the memory.
	return unsafe.Add(p.base, unit*UnitSize)
}
