package mmap

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guardKind is what Guard does: marks where the kernel takes them and
// QUARRY_GUARDS does not say "access".
func guardKind() GuardKind {
	if os.Getenv("QUARRY_GUARDS") == "access" || !kernelMarks() {
		return GuardAccess
	}
	return GuardMark
}

// kernelMarks tries a mark on a page of its own, which nobody else ever sees.
// Kernels before 6.13 answer EINVAL; qemu's user mode says yes and does nothing,
// so the page is touched as well.
var kernelMarks = sync.OnceValue(func() bool {
	n := uintptr(PageSize())
	page, err := unix.MmapPtr(-1, 0, nil, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	// Safe because the mapping has n bytes and the slice goes to the kernel only.
	err = unix.Madvise(unsafe.Slice((*byte)(page), n), unix.MADV_GUARD_INSTALL)
	marks := err == nil && faults((*byte)(page))
	_ = unix.MunmapPtr(page, n)
	return marks
})

// faults reports whether a store to p, which must not be Go memory, faults.
func faults(p *byte) (yes bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { yes = recover() != nil }()
	*p = 1
	return false
}

func (p pages) guard(m *memory, off, n int) error {
	return unix.Madvise(m.bytes(off, n), unix.MADV_GUARD_INSTALL)
}

func (p pages) unguard(m *memory, off, n int) error {
	return unix.Madvise(m.bytes(off, n), unix.MADV_GUARD_REMOVE)
}

// populate asks the kernel, and touches where the kernel does not know how.
func (p pages) populate(m *memory, off, n int) error {
	err := unix.Madvise(m.bytes(off, n), unix.MADV_POPULATE_WRITE)
	if err == unix.EINVAL { // before 5.14
		touch(m, off, n)
		return nil
	}
	return err
}

// resident asks which pages are there: one byte each, of which the lowest bit counts.
func (p pages) resident(m *memory, off, n int) (bytes int, err error) {
	page := PageSize()
	present := make([]byte, n/page)
	b := m.bytes(off, n)
	// Safe because the kernel writes one byte for each page of b, which is as long
	// as present, and keeps neither address.
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(n), uintptr(unsafe.Pointer(&present[0])))
	if errno != 0 {
		return 0, known(errno)
	}
	for _, v := range present {
		bytes += int(v&1) * page
	}
	return bytes, nil
}

func (p pages) lock(m *memory, off, n int) error   { return unix.Mlock(m.bytes(off, n)) }
func (p pages) unlock(m *memory, off, n int) error { return unix.Munlock(m.bytes(off, n)) }

func (p pages) hint(m *memory, h Hint, on bool) error {
	var advice int
	switch {
	case h == NoDump && on:
		advice = unix.MADV_DONTDUMP
	case h == NoDump:
		advice = unix.MADV_DODUMP
	case h == WipeOnFork && on:
		advice = unix.MADV_WIPEONFORK
	case h == WipeOnFork:
		advice = unix.MADV_KEEPONFORK
	case on || !p.huge: // SmallPages
		advice = unix.MADV_NOHUGEPAGE
	default:
		advice = unix.MADV_HUGEPAGE
	}
	return known(unix.Madvise(m.bytes(0, m.size), advice))
}

func (p pages) advise(m *memory, off, n int, a Advice) error {
	advice := [...]int{
		Collapse: unix.MADV_COLLAPSE, WillNeed: unix.MADV_WILLNEED, Cold: unix.MADV_COLD, PageOut: unix.MADV_PAGEOUT,
	}[a]
	return known(unix.Madvise(m.bytes(off, n), advice))
}

// known turns what a kernel says of advice that it does not know, or does not
// take for this range, into ErrUnsupported. EBADF: it was built without swap.
func known(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EBADF) {
		return fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	return err
}

// name needs a kernel built with CONFIG_ANON_VMA_NAME; others say EINVAL.
func (p pages) name(m *memory, text string) {
	var arg unsafe.Pointer // nil takes the name away
	if text != "" {
		ended := append([]byte(text), 0)
		// Safe because the kernel copies the text, up to the 0, before the call returns.
		arg = unsafe.Pointer(&ended[0])
	}
	_ = unix.PrctlArg5Ptr(unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME, uintptr(m.base), uintptr(m.size), arg)
}
