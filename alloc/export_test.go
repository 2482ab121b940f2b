package alloc

import (
	"errors"

	"quarry/mmap"
)

// WithPages makes a universe on pages of the test's.
func WithPages(p pages) Option { return func(c *config) { c.pages, c.size = p, p.Size() } }

// FailingPages refuses the k-th call of Commit or Decommit, counted from 1.
type FailingPages struct {
	*mmap.Region
	Calls, FailAt int
	Err           error
}

func (f *FailingPages) fails() bool {
	f.Calls++
	return f.Calls == f.FailAt
}

func (f *FailingPages) Commit(offset, n int) error {
	if f.fails() {
		return f.Err
	}
	return f.Region.Commit(offset, n)
}

func (f *FailingPages) Decommit(offset, n int) error {
	if f.fails() {
		if errors.Is(f.Err, mmap.ErrAccess) { // refused half way: reserved all the same
			return errors.Join(f.Err, f.Region.Decommit(offset, n))
		}
		return f.Err
	}
	return f.Region.Decommit(offset, n)
}

// Corrupt breaks one invariant of a universe and returns what puts it right.
func (u *Universe) Corrupt(invariant string) (restore func()) {
	switch invariant {
	case "I1":
		u.inUse[len(u.inUse)-1].TryAllocAt(5, 1)
		return func() { u.inUse[len(u.inUse)-1].TryFree(5, 1) }
	case "I2":
		u.full[0].SetBit(3)
		return func() { u.full[0].ClearBit(3) }
	case "I3":
		u.nReady++
		return func() { u.nReady-- }
	case "I4":
		u.full[len(u.full)-1].ClearBit(63)
		return func() { u.full[len(u.full)-1].SetBit(63) }
	case "I5":
		u.nEmpty.Add(1)
		return func() { u.nEmpty.Add(-1) }
	}
	return nil
}

// Corrupt breaks one invariant of a heap that holds a slab of slots.
func (h *Heap) Corrupt(invariant string) (restore func()) {
	var s *slab
	h.eachSlab(func(t *slab) {
		if t.class != runClass && !t.isFull() && t.used > 0 {
			s = t
		}
	})
	switch invariant {
	case "H1":
		s.used++
		return func() { s.used-- }
	case "H2":
		word, bit := &h.u.inUse[s.first/ChunksPerMegachunk], int(s.first)%ChunksPerMegachunk
		word.TryFree(bit, 1)
		return func() { word.TryAllocAt(bit, 1) }
	case "H3":
		s.listed = false
		return func() { s.listed = true }
	case "H4":
		h.stats.LiveBlocks++
		return func() { h.stats.LiveBlocks-- }
	}
	return nil
}

// ClassSizes, SlotAt and ClassFor let tests check the size classes.
var (
	ClassSizes = classSizes[:]
	SlotAt     = slotAt
	ClassFor   = classFor
)
