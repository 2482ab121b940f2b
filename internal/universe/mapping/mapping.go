package mapping

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"quarry/internal/universe/ledger"
	"quarry/internal/universe/memory"
	"quarry/internal/universe/registry"
	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// Blocks with their own mapping: all blocks of Pages, and large blocks of a heap for which its
// universe has no room. Some freed mappings may be kept committed for the next block of
// about their size; package mmap parks the address ranges of the others.

// KeptBytes bounds the memory held by a heap's kept mappings in total. Mapping 2 MiB costs some
// system calls and 512 page faults, or one fault of 30 us with huge pages; touching a larger
// mapping takes longer than the calls.
const KeptBytes = 8 << 20

// Mapping is a region that holds one block, or none when it is kept.
type Mapping struct {
	Region   Region
	Block    unsafe.Pointer // the block
	size     int            // of the block, as requested; meaningful for Pages and small blocks only
	small    bool           // the block is, or was, a small one: small.go
	touched  int            // bytes of the pages that a small block has, or had
	Granules int            // granules committed, from the region's base on
}

// usable returns the number of bytes from the block's address to the end of the mapping.
func (m *Mapping) usable() int {
	return m.Granules*mmap.Granule - int(uintptr(m.Block)-uintptr(m.Region.Base()))
}

// Set holds the mappings of a heap or of Pages. Its lock is held over calls of package mmap
// and nothing else, so a goroutine that holds another lock may wait for it. It is not held while
// the budget is charged, since the charge may purge the mappings kept here.
type Set struct {
	reserve func(size int) (Region, error)
	owner   string       // the owner, in the words of a panic
	retain  int          // maximum bytes in kept mappings (H6)
	small   bool         // small pages are requested
	refusal func() error // refuses on purpose; nil: none

	mu    sync.Mutex
	live  map[unsafe.Pointer]*Mapping // by address of the block
	kept  []*Mapping                  // freed, oldest first
	idle  []*Mapping                  // of freed small blocks, guarded, oldest first
	bytes int                         // bytes committed by kept mappings (H6)
}

// allMappings are all mappings of the process.
var allMappings registry.Registry[Set]

func init() {
	ledger.Process.Kept = func(yield func(func() int) bool) {
		for _, l := range allMappings.All() {
			if !yield(l.giveBack) {
				return
			}
		}
	}
}

// Init begins an empty set. owner names its owner in panics; retain bounds the bytes kept.
func (l *Set) Init(owner string, retain int, small bool, refusal func() error) {
	l.owner, l.retain, l.small, l.refusal = owner, retain, small, refusal
	l.live = map[unsafe.Pointer]*Mapping{}
	l.reserve = func(size int) (Region, error) {
		r, err := mmap.Reserve(size)
		if err != nil {
			return nil, err // not r, which would be a nil region in an interface
		}
		return r, nil
	}
	allMappings.Add(l)
}

// Alloc returns a block in its own mapping. fresh reports that the block is zero.
func (l *Set) Alloc(name string, size, align int) (p unsafe.Pointer, fresh bool, err error) {
	if size > memory.MaxSize {
		return nil, false, fmt.Errorf("alloc: %s: block of %d bytes, the limit is %d: %w",
			name, size, memory.MaxSize, sentinel.ErrTooBig)
	}
	if err := memory.Refuse(l.refusal, name); err != nil {
		return nil, false, err
	}
	// A region begins on a granule, but on the Go heap only on a page; the slack makes room to
	// align the block.
	slack := 0
	if align > mmap.Granule || !mmap.Real {
		slack = align
	}
	granules := (max(size, 1) + slack + mmap.Granule - 1) / mmap.Granule
	small := isSmall(size, slack)
	if p = l.reuse(granules, size, align, small); p != nil {
		return p, false, nil
	}
	if small {
		if p = l.wake(size, align); p != nil {
			return p, true, nil
		}
	}
	m, err := l.open(granules, small)
	if err != nil && l.shed() { // idle mappings have addresses
		m, err = l.open(granules, small)
	}
	if err != nil {
		return nil, false, fmt.Errorf("alloc: %s: block of %d bytes: %w", name, size, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.place(m, size, align), true, nil
}

// reuse returns a block in a kept mapping, or nil.
func (l *Set) reuse(granules, size, align int, small bool) unsafe.Pointer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.keptFor(granules, small); m != nil {
		return l.place(m, size, align)
	}
	return nil
}

// place places a block in a mapping. mu is held.
func (l *Set) place(m *Mapping, size, align int) unsafe.Pointer {
	base := m.Region.Base()
	// Safe because the step is below align, and the region is at least size+align long wherever its
	// base is not already aligned.
	m.Block, m.size = unsafe.Add(base, -uintptr(base)&uintptr(max(align, 1)-1)), size
	m.touched = pagesOf(size)
	l.live[m.Block] = m
	return m.Block
}

// open charges the budget, then reserves and commits a region.
func (l *Set) open(granules int, small bool) (*Mapping, error) {
	if err := ledger.Process.Charge(granules * mmap.Granule); err != nil {
		return nil, fmt.Errorf("%w: %w", sentinel.ErrCommit, err)
	}
	m, err := l.reserved(granules, small)
	if err != nil {
		ledger.Process.Refund(granules * mmap.Granule)
	}
	return m, err
}

// reserved is open without the charge.
func (l *Set) reserved(granules int, small bool) (*Mapping, error) {
	region, err := l.reserve(regionSize(granules))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sentinel.ErrReserve, err)
	}
	if l.small || small {
		_ = region.Hint(mmap.SmallPages, true) // only a hint: without it the block costs more memory
	}
	if err := region.Commit(0, granules*mmap.Granule); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.kept = append(l.kept, &Mapping{Region: region}) // for forget to release
		return nil, errors.Join(fmt.Errorf("%w: %w", sentinel.ErrCommit, err), l.forget(l.retain))
	}
	return &Mapping{Region: region, Granules: granules, small: small}, nil
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
func (l *Set) keptFor(granules int, small bool) *Mapping {
	best := -1
	for i, m := range l.kept {
		if m.small == small && m.Granules >= granules && m.Granules <= 2*granules &&
			(best < 0 || m.Granules < l.kept[best].Granules) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	m := l.kept[best]
	l.kept = append(l.kept[:best], l.kept[best+1:]...)
	l.bytes -= m.Granules * mmap.Granule
	return m
}

// Free removes the block at p and keeps its mapping or releases it. A mapping that the system
// refuses to take back stays in kept and is retried.
func (l *Set) Free(name string, p unsafe.Pointer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.live[p]
	if m == nil {
		panic(fmt.Sprintf("alloc: %s: %p was freed by two goroutines at once", name, p))
	}
	delete(l.live, p)
	if l.rest(m) {
		return
	}
	l.keep(m)
	if m.Granules*mmap.Granule > l.retain {
		// It is too large to keep: put it first, so that only it is released.
		copy(l.kept[1:], l.kept)
		l.kept[0] = m
	}
	_ = l.forget(l.retain)
}

// keep adds a mapping without a block to kept. mu is held.
func (l *Set) keep(m *Mapping) {
	l.kept = append(l.kept, m)
	l.bytes += m.Granules * mmap.Granule
}

// Close frees all blocks and releases all mappings.
func (l *Set) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.live {
		l.keep(m)
	}
	clear(l.live)
	err := errors.Join(l.forget(0), l.dropIdle())
	if err == nil {
		allMappings.Remove(l)
	}
	return err
}

// Trim releases all kept and idle mappings.
func (l *Set) Trim() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.forget(0), l.dropIdle())
}

// giveBack is trim for a purge of the budget. It returns the bytes returned to the system.
func (l *Set) giveBack() (returned int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.kept {
		returned += m.Region.Committed()
	}
	_ = l.forget(0)
	for _, m := range l.kept {
		returned -= m.Region.Committed()
	}
	return returned
}

// forget releases kept mappings, oldest first, until the rest hold at most limit bytes. A mapping
// whose release was refused stays only to be retried. mu is held.
func (l *Set) forget(limit int) (err error) {
	left := l.kept[:0]
	for _, m := range l.kept {
		if m.Granules > 0 && l.bytes <= limit {
			left = append(left, m)
			continue
		}
		l.bytes -= m.Granules * mmap.Granule
		m.Granules = 0
		committed := m.Region.Committed()
		e := m.Region.Release()
		ledger.Process.Refund(committed - m.Region.Committed()) // a failed Release may have returned part of it
		if e != nil {
			err = errors.Join(err, e)
			left = append(left, m)
		}
	}
	clear(l.kept[len(left):])
	l.kept = left
	return err
}

// Resize commits or decommits granules of a block's own region and reports whether it could. Unless
// wasting is set, it refuses a size that would waste more than half of the block.
func (l *Set) Resize(p unsafe.Pointer, size int, wasting bool) bool {
	l.mu.Lock()
	m := l.live[p]
	l.mu.Unlock()
	// A small block stays one: larger blocks have huge pages.
	if m == nil || size > memory.MaxSize || m.small && size > SmallBytes {
		return false
	}
	if m.small {
		return l.resizeSmall(m, size)
	}
	// A live mapping belongs to its caller; the lock only protects readers of the statistics.
	offset := int(uintptr(m.Block) - uintptr(m.Region.Base()))
	granules := (offset + max(size, 1) + mmap.Granule - 1) / mmap.Granule
	if !wasting && !memory.Fits(granules*mmap.Granule-offset, size) || granules*mmap.Granule > m.Region.Size() ||
		m.Commit(granules) != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m.size, m.Granules = size, granules
	return true
}

// Commit makes exactly the given number of granules of the region committed; on an error the number
// is unchanged. The caller records it.
func (m *Mapping) Commit(granules int) error {
	have, want := m.Granules*mmap.Granule, granules*mmap.Granule
	if want > have {
		if err := ledger.Process.Charge(want - have); err != nil {
			return err
		}
		if err := m.Region.Commit(have, want-have); err != nil {
			ledger.Process.Refund(want - have)
			return err
		}
	}
	if want < have {
		err := m.Region.Decommit(want, have-want)
		if err != nil && !errors.Is(err, mmap.ErrAccess) { // ErrAccess: no access, and reserved all the same
			return err
		}
		ledger.Process.Refund(have - want)
	}
	return nil
}

// Lookup returns the usable and the requested bytes of the live block at p, or why there is none.
func (l *Set) Lookup(p unsafe.Pointer) (usable, asked int, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.live[p]
	if m == nil {
		return 0, 0, l.explain(p)
	}
	return m.usable(), m.size, ""
}

// explain returns why p is not a block, in the words of a panic. mu is held.
func (l *Set) explain(p unsafe.Pointer) string {
	for _, m := range l.live {
		if inside := uintptr(p) - uintptr(m.Block); inside < uintptr(m.usable()) {
			return fmt.Sprintf(" points %d bytes into a block of %d bytes", inside, m.usable())
		}
	}
	for _, m := range append(l.kept[:len(l.kept):len(l.kept)], l.idle...) {
		if m.Granules > 0 && m.Block == p {
			return " is not a block of " + l.owner + " (freed twice?)"
		}
	}
	return " is not a block of " + l.owner
}

// Use is the bytes that mappings hold.
type Use struct {
	Blocks int // live blocks, their number
	Bytes  int // usable bytes of live blocks
	Mapped int // committed by live blocks
	Kept   int // committed by freed mappings kept for reuse
}

// Use returns what the mappings hold.
func (l *Set) Use() (u Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u.Kept = l.bytes
	for _, m := range l.live {
		u.Blocks++
		u.Bytes += m.usable()
		u.Mapped += m.Granules * mmap.Granule
	}
	return u
}

// Verify checks H6.
func (l *Set) Verify() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p, m := range l.live {
		inside := uintptr(p) - uintptr(m.Region.Base())
		if m.Block != p || inside >= uintptr(m.Granules*mmap.Granule) ||
			m.Region.Committed() != m.Granules*mmap.Granule {
			return fmt.Errorf("alloc: H6: the mapping of the block at %p has %d granules and %d bytes committed",
				p, m.Granules, m.Region.Committed())
		}
	}
	bytes := 0
	for _, m := range l.idle {
		if !m.small || m.Granules != 1 || m.Region.Committed() != mmap.Granule {
			return fmt.Errorf("alloc: H6: an idle mapping has %d granules and %d bytes committed",
				m.Granules, m.Region.Committed())
		}
	}
	for _, m := range l.kept {
		bytes += m.Granules * mmap.Granule
		if m.Granules > 0 && m.Region.Committed() != m.Granules*mmap.Granule {
			return fmt.Errorf("alloc: H6: a kept mapping has %d granules and %d bytes committed",
				m.Granules, m.Region.Committed())
		}
	}
	if bytes != l.bytes || bytes > l.retain {
		return fmt.Errorf("alloc: H6: kept mappings hold %d bytes, the metadata says %d, the limit is %d",
			bytes, l.bytes, l.retain)
	}
	return nil
}
