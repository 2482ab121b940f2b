package mmap

import (
	"os"

	"golang.org/x/sys/unix"
)

// pages provides ranges of the address space of the process.
type pages struct {
	plain
	unixPages
}

func newPages() pages { return pages{} }

func (pages) traits() traits {
	return traits{name: "macOS pages", align: Granule, refused: ErrAddressSpace, guards: GuardAccess}
}

func (pages) reserve(size int) (memory, error) { return mapRange(size, mostRoom) }

// room maps and unmaps the range, which no one else has seen.
func (pages) room(size int) error { return tryMap(size + mostRoom) }

// drop maps fresh pages without access over the old ones in one step. MADV_FREE and
// MADV_FREE_REUSABLE would be cheaper, but pages not yet reclaimed keep their bytes, and a granule
// must read zero after Commit.
func (pages) drop(m *memory, off, n int) error { return remap(m, off, n, unix.PROT_NONE) }

// discard is drop that leaves the pages accessible.
func (pages) discard(m *memory, off, n int) error {
	return remap(m, off, n, unix.PROT_READ|unix.PROT_WRITE)
}

func (p pages) attach(m *memory, off, n int, f *os.File, at int64) error {
	return p.unixPages.attach(m, off, n, f, at)
}

// renew is drop: a mapping that replaces a file's.
func (p pages) renew(m *memory, off, n int) error { return p.drop(m, off, n) }

func (pages) lock(m *memory, off, n int) error   { return unix.Mlock(m.bytes(off, n)) }
func (pages) unlock(m *memory, off, n int) error { return unix.Munlock(m.bytes(off, n)) }

// advise supports the kernel's advice on anonymous memory that keeps contents; MADV_FREE and its
// variants lose them.
func (pages) advise(m *memory, off, n int, a Advice) error {
	switch a {
	case WillNeed:
		return unix.Madvise(m.bytes(off, n), unix.MADV_WILLNEED)
	case PageOut:
		return unix.Madvise(m.bytes(off, n), unix.MADV_PAGEOUT)
	}
	return errNoSuch
}

func (pages) advice(op string, errno error) string {
	switch op {
	case "Reserve":
		return `lower the size, release regions, or raise the limit that "ulimit -v" shows`
	case "Lock":
		return `lock less, or raise the limit that "ulimit -l" shows`
	}
	return "decommit something, or use less memory elsewhere"
}
