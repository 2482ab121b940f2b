package alloc

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"quarry/alloc/internal/ledger"
	"quarry/alloc/internal/registry"
	"quarry/alloc/internal/universe"
	"quarry/mmap"
)

// Blocks with their own mapping: all blocks of Pages, and large blocks of a heap for which its
// universe has no room. Some freed mappings may be kept committed for the next block of
// about their size; package mmap parks the address ranges of the others.

// keptBytes bounds the memory held by a heap's kept mappings in total. Mapping 2 MiB costs some
// system calls and 512 page faults, or one fault of 30 us with huge pages; touching a larger
// mapping takes longer than the calls.
const keptBytes = 8 << 20

// mapping is a region that holds one block, or none when it is kept.
type mapping struct {
	region   universe.Region
	p        unsafe.Pointer // the block
	size     int            // of the block, as requested; meaningful for Pages only
	granules int            // granules committed, from the region's base on
}

// usable returns the number of bytes from the block's address to the end of the mapping.
func (m *mapping) usable() int {
	return m.granules*mmap.Granule - int(uintptr(m.p)-uintptr(m.region.Base()))
}

// mappings holds the mappings of a heap or of Pages. Its lock is held over calls of package mmap
// and nothing else, so a goroutine that holds another lock may wait for it. It is not held while
// the budget is charged, since the charge may purge the mappings kept here.
type mappings struct {
	reserve func(size int) (universe.Region, error)
	owner   string       // the owner, in the words of a panic
	retain  int          // maximum bytes in kept mappings (H6)
	small   bool         // small pages are asked for
	refusal func() error // refuses on purpose; nil: none

	mu    sync.Mutex
	live  map[unsafe.Pointer]*mapping // by address of the block
	kept  []*mapping                  // freed, oldest first
	bytes int                         // bytes committed by kept mappings (H6)
}

// allMappings are all mappings of the process.
var allMappings registry.Registry[mappings]

func init() {
	ledger.Process.Kept = func(yield func(func() int) bool) {
		for _, l := range allMappings.All() {
			if !yield(l.giveBack) {
				return
			}
		}
	}
}

func (l *mappings) init(owner string, retain int, small bool, refusal func() error) {
	l.owner, l.retain, l.small, l.refusal = owner, retain, small, refusal
	l.live = map[unsafe.Pointer]*mapping{}
	l.reserve = func(size int) (universe.Region, error) {
		r, err := mmap.Reserve(size)
		if err != nil {
			return nil, err // not r, which would be a nil region in an interface
		}
		return r, nil
	}
	allMappings.Add(l)
}

// alloc returns a block in its own mapping. fresh reports that the block is zero.
func (l *mappings) alloc(name string, size, align int) (p unsafe.Pointer, fresh bool, err error) {
	if size > maxMapping {
		return nil, false, fmt.Errorf("alloc: %s: block of %d bytes, the limit is %d: %w", name, size, maxMapping, ErrTooBig)
	}
	if err := universe.RefuseBy(l.refusal, name); err != nil {
		return nil, false, err
	}
	// A region begins on a granule, but on the Go heap only on a page; the slack makes room to
	// align the block.
	slack := 0
	if align > mmap.Granule || !mmap.Real {
		slack = align
	}
	granules := (max(size, 1) + slack + mmap.Granule - 1) / mmap.Granule
	if p = l.reuse(granules, size, align); p != nil {
		return p, false, nil
	}
	m, err := l.open(granules)
	if err != nil {
		return nil, false, fmt.Errorf("alloc: %s: block of %d bytes: %w", name, size, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.place(m, size, align), true, nil
}

// reuse returns a block in a kept mapping, or nil.
func (l *mappings) reuse(granules, size, align int) unsafe.Pointer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.keptFor(granules); m != nil {
		return l.place(m, size, align)
	}
	return nil
}

// place places a block in a mapping. mu is held.
func (l *mappings) place(m *mapping, size, align int) unsafe.Pointer {
	base := m.region.Base()
	// Safe because the step is below align, and the region is at least size+align long wherever its
	// base is not already aligned.
	m.p, m.size = unsafe.Add(base, -uintptr(base)&uintptr(max(align, 1)-1)), size
	l.live[m.p] = m
	return m.p
}

// open charges the budget, then reserves and commits a region.
func (l *mappings) open(granules int) (*mapping, error) {
	if err := ledger.Process.Charge(granules * mmap.Granule); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCommit, err)
	}
	m, err := l.reserved(granules)
	if err != nil {
		ledger.Process.Refund(granules * mmap.Granule)
	}
	return m, err
}

// reserved is open without the charge.
func (l *mappings) reserved(granules int) (*mapping, error) {
	region, err := l.reserve(regionSize(granules))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReserve, err)
	}
	if l.small {
		_ = region.Hint(mmap.SmallPages, true) // only a hint: without it the block costs more memory
	}
	if err := region.Commit(0, granules*mmap.Granule); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.kept = append(l.kept, &mapping{region: region}) // for forget to release
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrCommit, err), l.forget(l.retain))
	}
	return &mapping{region: region, granules: granules}, nil
}

// regionSize rounds the size of a mapping's address range up to one of four sizes per doubling, so
// that a block can grow in place and parked ranges fit later blocks. Only the requested size is
// committed.
func regionSize(granules int) int {
	step := max(1, 1<<bits.Len(uint(granules-1))>>3)
	return (granules + step - 1) / step * step * mmap.Granule
}

// keptFor removes and returns the smallest kept mapping that has enough granules and would not
// waste more than half of them, or returns nil. mu is held.
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

// free removes the block at p and keeps its mapping or releases it. A mapping that the system
// refuses to take back stays in kept and is retried.
func (l *mappings) free(name string, p unsafe.Pointer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.live[p]
	if m == nil {
		// errors.md: `by two goroutines at once`, `was freed by another goroutine while it was
		// free` | Two frees of one block meet. |
		// [misuse.md](misuse.md): `wrap.NewTrack` says who freed it.
		panic(fmt.Sprintf("alloc: %s: %p was freed by two goroutines at once", name, p))
	}
	delete(l.live, p)
	l.keep(m)
	if m.granules*mmap.Granule > l.retain {
		// It is too large to keep: put it first, so that only it is released.
		copy(l.kept[1:], l.kept)
		l.kept[0] = m
	}
	_ = l.forget(l.retain)
}

// keep adds a mapping without a block to kept. mu is held.
func (l *mappings) keep(m *mapping) {
	l.kept = append(l.kept, m)
	l.bytes += m.granules * mmap.Granule
}

// close frees all blocks and releases all mappings.
func (l *mappings) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.live {
		l.keep(m)
	}
	clear(l.live)
	err := l.forget(0)
	if err == nil {
		allMappings.Remove(l)
	}
	return err
}

// trim releases all kept mappings.
func (l *mappings) trim() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.forget(0)
}

// giveBack is trim for a purge of the budget. It returns the bytes returned to the system.
func (l *mappings) giveBack() (returned int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.kept {
		returned += m.region.Committed()
	}
	_ = l.forget(0)
	for _, m := range l.kept {
		returned -= m.region.Committed()
	}
	return returned
}

// forget releases kept mappings, oldest first, until the rest hold at most limit bytes. A mapping
// whose release was refused stays only to be retried. mu is held.
func (l *mappings) forget(limit int) (err error) {
	left := l.kept[:0]
	for _, m := range l.kept {
		if m.granules > 0 && l.bytes <= limit {
			left = append(left, m)
			continue
		}
		l.bytes -= m.granules * mmap.Granule
		m.granules = 0
		committed := m.region.Committed()
		e := m.region.Release()
		ledger.Process.Refund(committed - m.region.Committed()) // a failed Release may have returned part of it
		if e != nil {
			err = errors.Join(err, e)
			left = append(left, m)
		}
	}
	clear(l.kept[len(left):])
	l.kept = left
	return err
}

// resize commits or decommits granules of a block's own region and reports whether it could. Unless
// wasting is set, it refuses a size that would waste more than half of the block.
func (l *mappings) resize(p unsafe.Pointer, size int, wasting bool) bool {
	l.mu.Lock()
	m := l.live[p]
	l.mu.Unlock()
	if m == nil || size > maxMapping {
		return false
	}
	// A live mapping belongs to its caller; the lock only protects readers of the statistics.
	offset := int(uintptr(m.p) - uintptr(m.region.Base()))
	granules := (offset + max(size, 1) + mmap.Granule - 1) / mmap.Granule
	after := block{usable: granules*mmap.Granule - offset}
	if !wasting && !after.couldBe(size) || granules*mmap.Granule > m.region.Size() || m.commit(granules) != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m.size, m.granules = size, granules
	return true
}

// commit makes exactly the given number of granules of the region committed; on an error the number
// is unchanged. The caller records it.
func (m *mapping) commit(granules int) error {
	have, want := m.granules*mmap.Granule, granules*mmap.Granule
	if want > have {
		if err := ledger.Process.Charge(want - have); err != nil {
			return err
		}
		if err := m.region.Commit(have, want-have); err != nil {
			ledger.Process.Refund(want - have)
			return err
		}
	}
	if want < have {
		err := m.region.Decommit(want, have-want)
		if err != nil && !errors.Is(err, mmap.ErrAccess) { // ErrAccess: no access, and reserved all the same
			return err
		}
		ledger.Process.Refund(have - want)
	}
	return nil
}

// lookup returns the usable and the requested bytes of the live block at p, or why there is none.
func (l *mappings) lookup(p unsafe.Pointer) (usable, asked int, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.live[p]
	if m == nil {
		return 0, 0, l.explain(p)
	}
	return m.usable(), m.size, ""
}

// explain returns why p is not a block, in the words of a panic. mu is held.
func (l *mappings) explain(p unsafe.Pointer) string {
	for _, m := range l.live {
		if inside := uintptr(p) - uintptr(m.p); inside < uintptr(m.usable()) {
			return fmt.Sprintf(" points %d bytes into a block of %d bytes", inside, m.usable())
		}
	}
	for _, m := range l.kept {
		if m.granules > 0 && m.p == p {
			return " is not a block of " + l.owner + " (freed twice?)"
		}
	}
	return " is not a block of " + l.owner
}

// stats adds the mappings to s.
func (l *mappings) stats(s *HeapStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Kept = l.bytes
	for _, m := range l.live {
		s.LiveBlocks++
		s.LiveBytes += m.usable()
		s.Mapped += m.granules * mmap.Granule
	}
}

// verify checks H6.
func (l *mappings) verify() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p, m := range l.live {
		inside := uintptr(p) - uintptr(m.region.Base())
		if m.p != p || inside >= uintptr(m.granules*mmap.Granule) || m.region.Committed() != m.granules*mmap.Granule {
			return fmt.Errorf("alloc: H6: the mapping of the block at %p has %d granules and %d bytes committed", p, m.granules, m.region.Committed())
		}
	}
	bytes := 0
	for _, m := range l.kept {
		bytes += m.granules * mmap.Granule
		if m.granules > 0 && m.region.Committed() != m.granules*mmap.Granule {
			return fmt.Errorf("alloc: H6: a kept mapping has %d granules and %d bytes committed", m.granules, m.region.Committed())
		}
	}
	if bytes != l.bytes || bytes > l.retain {
		return fmt.Errorf("alloc: H6: kept mappings hold %d bytes, the books say %d, the limit is %d", bytes, l.bytes, l.retain)
	}
	return nil
}
