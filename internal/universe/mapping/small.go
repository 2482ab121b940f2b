package mapping

import (
	"unsafe"

	"quarry/internal/universe/ledger"
	"quarry/mmap"
)

// Small blocks: those of up to SmallBytes. A huge page for one would be zeroed at its first touch,
// 2 MiB for a few bytes. So their mappings have small pages; and what is freed is not released but
// guarded, where the kernel has marks for that: its memory goes back, it faults, and the next small
// block needs neither addresses nor hints. A pair costs four system calls and a fault of 4 KiB:
//
//	live   | block | ready                      |    2 MiB, of which the pages touched have memory
//	idle   | guard | ready, not touched         |    none of it has
//
// An idle mapping is not charged to the budget.

// SmallBytes is the size of the largest small block. Four small pages are zeroed, one by one, in
// half the time of a huge one.
const SmallBytes = 16 << 10

// mostIdle bounds the address space of a set's idle mappings, and their page tables of 4 KiB each.
const mostIdle = 16

// isSmall reports whether a block that begins on a granule gets small pages.
func isSmall(size, slack int) bool { return size <= SmallBytes && slack == 0 && mmap.Real }

// pagesOf returns how many bytes of whole pages a small block may have touched.
func pagesOf(size int) int {
	page := mmap.PageSize()
	return (max(size, 1) + page - 1) / page * page
}

// wake returns a block in an idle mapping, the one that waited longest, or nil.
func (l *Set) wake(size, align int) unsafe.Pointer {
	l.mu.Lock()
	none := len(l.idle) == 0
	l.mu.Unlock()
	if none || ledger.Process.Charge(mmap.Granule) != nil { // open returns the error
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.idle) == 0 {
		ledger.Process.Refund(mmap.Granule)
		return nil
	}
	m := l.idle[0]
	if m.Region.Unguard(0, m.touched) != nil {
		ledger.Process.Refund(mmap.Granule)
		return nil
	}
	l.idle = append(l.idle[:0], l.idle[1:]...)
	return l.place(m, size, align)
}

// rest makes the mapping of a freed small block idle, if it can. mu is held.
func (l *Set) rest(m *Mapping) bool {
	if !m.small || l.retain >= mmap.Granule || len(l.idle) == mostIdle || mmap.Guards() != mmap.GuardMark ||
		m.Region.Guard(0, m.touched) != nil {
		return false
	}
	l.idle = append(l.idle, m)
	ledger.Process.Refund(mmap.Granule)
	return true
}

// resizeSmall changes the size of a small block, which stays one.
func (l *Set) resizeSmall(m *Mapping, size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.size, m.touched = size, max(m.touched, pagesOf(size))
	return true
}

// shed releases idle mappings and reports whether there were any.
func (l *Set) shed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	had := len(l.idle)
	_ = l.dropIdle()
	return len(l.idle) < had
}

// dropIdle releases idle mappings. Those that the system refuses to take back stay. mu is held.
func (l *Set) dropIdle() (err error) {
	left := l.idle[:0]
	for _, m := range l.idle {
		if e := m.Region.Release(); e != nil {
			err, left = e, append(left, m)
		}
	}
	clear(l.idle[len(left):])
	l.idle = left
	return err
}
