package alloc

import (
	"quarry/mmap"
)

// Corrupt breaks one invariant of a heap that has a shared slab, one of l, a run
// and a mapping, and returns what puts it right.
func (h *Heap) Corrupt(l *Local, invariant string) (restore func()) {
	var shared, own, run, wide *slab
	h.eachHead(func(_ ChunkIndex, s *slab, head uint64) {
		switch {
		case head&kindMask == kindRun:
			run = s
		case head&kindMask == kindWide:
			wide = s
		case head&kindMask == kindSlots && ownerIn(head) == 0:
			shared = s
		case head&kindMask == kindSlots && ownerIn(head) == l.id:
			own = s
		}
	})
	switch invariant {
	case "H1":
		c := run.chunk()
		h.u.index.Word(int(c/ChunksPerMegachunk)).TryFree(int(c)%ChunksPerMegachunk, 1)
		return func() { h.u.index.Word(int(c/ChunksPerMegachunk)).TryAllocAt(int(c)%ChunksPerMegachunk, 1) }
	case "H1, run":
		head := run.head.Load()
		run.head.Store(headOf(kindRun, 0, chunksIn(head)+1, firstIn(head), 0))
		return func() { run.head.Store(head) }
	case "H2":
		k := &classes[classIn(shared.head.Load())]
		shared.words[k.words-1].live.And(1<<63 - 1)
		return func() { shared.words[k.words-1].live.Or(1 << 63) }
	case "H3":
		was := shared.state.Swap(stateFull)
		return func() { shared.state.Store(was) }
	case "H4":
		own.place = placeFull
		return func() { own.place = placeCurrent }
	case "H5":
		own.words[0].live.And(^uint64(1))
		return func() { own.words[0].live.Or(1) }
	case "H6":
		h.mappings.bytes += mmap.Granule
		return func() { h.mappings.bytes -= mmap.Granule }
	case "H8":
		wide.words[0].own ^= 1 << 63
		return func() { wide.words[0].own ^= 1 << 63 }
	case "H8, word":
		wide.words[1].own++
		return func() { wide.words[1].own-- }
	case "H9":
		l.held++
		return func() { l.held-- }
	case "H9, head":
		kept := h.table.link(l.cached[1])
		head := kept.head.Load()
		kept.head.Store(head + 1<<headOwner)
		return func() { kept.head.Store(head) }
	case "H9, list":
		first := l.cached[1]
		l.cached[1], l.held = 0, l.held-2
		return func() { l.cached[1], l.held = first, l.held+2 }
	case "H7":
		h.supply.slabs.Add(1)
		return func() { h.supply.slabs.Add(-1) }
	}
	return nil
}

// FailingRegion refuses the k-th call of Reserve, Commit, Decommit or Release of
// all mappings of a heap, counted from 1.
type FailingRegion struct {
	*mmap.Region
	script *Script
}

// Script counts the calls.
type Script struct {
	Calls, FailAt int
	Err           error
	Hints         []mmap.Hint
}

func (s *Script) fails() error {
	s.Calls++
	if s.Calls == s.FailAt {
		return s.Err
	}
	return nil
}

func (f *FailingRegion) Commit(offset, n int) error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.Commit(offset, n)
}

func (f *FailingRegion) Decommit(offset, n int) error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.Decommit(offset, n)
}

// Hint is counted, and never refused.
func (f *FailingRegion) Hint(h mmap.Hint, on bool) error {
	f.script.Hints = append(f.script.Hints, h)
	return f.Region.Hint(h, on)
}

func (f *FailingRegion) Release() error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.Release()
}

// FailMappings makes the calls for the heap's mappings follow a script.
func (h *Heap) FailMappings(s *Script) { h.mappings.follow(s) }

// FailMappings makes all calls for the blocks follow a script.
func (p *Pages) FailMappings(s *Script) { p.mappings.follow(s) }

func (l *mappings) follow(s *Script) {
	l.reserve = func(size int) (regionPages, error) {
		if err := s.fails(); err != nil {
			return nil, err
		}
		r, err := mmap.Reserve(size)
		if err != nil {
			return nil, err
		}
		return &FailingRegion{Region: r, script: s}, nil
	}
}

// ClassSizes, SlotAt and ClassFor let tests check the size classes.
var (
	ClassSizes = classSizes[:]
	SlotAt     = func(number int, offset uint32) uint32 { return classes[number].slot(offset) }
	ClassFor   = classFor
)

// Shards returns the number of shards that goroutines of h are spread over.
func (h *Heap) Shards() int {
	seen := map[uint32]bool{}
	t := h.shards.table()
	for i := range t {
		seen[t[i].Load()] = true
	}
	return len(seen)
}
