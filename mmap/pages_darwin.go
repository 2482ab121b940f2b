package mmap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages gives ranges of the address space of the process.
type pages struct{ plain }

func newPages() pages { return pages{} }

// hugePageSize is unknown: macOS has no huge pages of anonymous memory to ask for.
func hugePageSize() int { return 0 }

const reserveFlags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

func (pages) traits() traits {
	return traits{name: "macOS pages", align: Granule, refused: ErrAddressSpace, guards: GuardAccess}
}

func (pages) reserve(size int) (memory, error) {
	slack := Granule - PageSize() // enough to align any page
	start, err := unix.MmapPtr(-1, 0, nil, uintptr(size+slack), unix.PROT_NONE, reserveFlags)
	if err != nil {
		return memory{}, err
	}
	head := int(-uintptr(start) & (Granule - 1))
	// Safe because start is a multiple of the page size, so head <= slack and
	// [head, head+size) lies inside the mapping of size+slack bytes.
	m := memory{base: unsafe.Add(start, head), size: size}
	trim(start, head)
	// Safe because it is the end of the range, slack-head >= 0 bytes before the
	// end of the mapping, and is not touched.
	trim(unsafe.Add(m.base, size), slack-head)
	return m, nil
}

// trim gives back what alignment did not need, which nobody has seen yet. If the
// OS refuses, it stays reserved without access and is lost to the process.
func trim(start unsafe.Pointer, n int) {
	if n > 0 {
		_ = unix.MunmapPtr(start, uintptr(n))
	}
}

// room maps and unmaps: nobody has seen the range.
func (pages) room(size int) error {
	start, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, reserveFlags)
	if err == nil {
		err = unix.MunmapPtr(start, uintptr(size))
	}
	return err
}

func (pages) allow(m *memory, off, n int) error {
	return unix.Mprotect(m.bytes(off, n), unix.PROT_READ|unix.PROT_WRITE)
}

func (pages) deny(m *memory, off, n int) error {
	return unix.Mprotect(m.bytes(off, n), unix.PROT_NONE)
}

// drop maps fresh pages without access over the old ones in one step. MADV_FREE
// and MADV_FREE_REUSABLE would be cheaper, but pages that were not yet reclaimed
// keep their bytes, and a granule has to read zero after Commit.
func (pages) drop(m *memory, off, n int) error {
	// Safe because [off, off+n) lies inside the range, which this package owns
	// and never unmaps, so the fixed mapping replaces nobody else's.
	_, err := unix.MmapPtr(-1, 0, unsafe.Add(m.base, off), uintptr(n), unix.PROT_NONE, reserveFlags|unix.MAP_FIXED)
	return err
}

func (pages) lock(m *memory, off, n int) error   { return unix.Mlock(m.bytes(off, n)) }
func (pages) unlock(m *memory, off, n int) error { return unix.Munlock(m.bytes(off, n)) }

// advise knows what the kernel has for anonymous memory that keeps contents:
// MADV_FREE and its kin lose them.
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
		return `lower the size, or raise the limit that "ulimit -v" shows`
	case "Lock":
		return `lock less, or raise the limit that "ulimit -l" shows`
	}
	return "decommit something, or use less memory elsewhere"
}
