package mmap

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages provides ranges of the address space of the process.
type pages struct {
	unixPages
	huge     bool // request huge pages; false: request small ones
	mostRuns int  // limit on runs of equal access
	guards   GuardKind
}

func newPages() pages {
	return pages{
		huge:     os.Getenv("QUARRY_HUGEPAGES") != "off",
		mostRuns: mapCount() / 4, // a run is up to two mappings; half of them stay for all other code
		guards:   guardKind(),
	}
}

// mapCount returns the number of mappings that the kernel allows a process.
func mapCount() int {
	const usual = 65530 // default of the kernel since 2.6
	if n := readNumber("/proc/sys/vm/max_map_count"); n > 0 {
		return n
	}
	return usual
}

// mapped returns the number of lines of a file of the kernel, one for each mapping.
func (pages) mapped() int {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	return bytes.Count(maps, []byte("\n"))
}

func (p pages) traits() traits {
	return traits{name: "Linux pages", align: Granule, mostRuns: p.mostRuns, refused: ErrAddressSpace, guards: p.guards}
}

func (p pages) reserve(size int) (memory, error) {
	a := addressesLately()
	if size+Granule <= a.limit-a.room { // otherwise there is no need to read again
		a = addressesNow()
	}
	if err := a.refuse(size + Granule); err != nil {
		return memory{}, err
	}
	defer addressesTaken()
	// Part of Go's room is mapped for a moment, as proof that it is contiguous, but only as much as
	// leaves Go its room meanwhile.
	spare := min(a.room, a.free()-size-Granule) &^ (Granule - 1)
	m, err := mapRange(size, spare)
	if err != nil {
		return m, err
	}
	// Once for the whole range, not at each Commit, so that ready granules, and reserved ones that
	// were ready, have equal flags and share mappings. A kernel without huge pages refuses, which
	// changes nothing.
	p.adviseHuge(&m, 0, size)
	return m, nil
}

// adviseHuge requests pages of the process's kind, best effort.
func (p pages) adviseHuge(m *memory, off, n int) {
	advice := unix.MADV_HUGEPAGE
	if !p.huge {
		advice = unix.MADV_NOHUGEPAGE
	}
	_ = unix.Madvise(m.bytes(off, n), advice)
}

// room checks the limit, if there is one, and otherwise maps and unmaps the range, which no one
// else has seen.
func (pages) room(size int) error {
	a := addressesLately()
	if a.limit == math.MaxInt {
		return tryMap(size + a.room)
	}
	return a.refuse(size)
}

// reuse checks the limit and, where that leaves little, Go's heap.
func (pages) reuse() error {
	a := addressesLately()
	if a.limit-a.used >= max(goStep, 2*a.room/5) || goFree() >= reuseRoom {
		return nil
	}
	return a.refuse(0)
}

// share is a part of the limit, if there is one: addresses parked beyond it are missing to all
// others.
func (pages) share() int {
	var as unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &as) != nil || as.Cur > math.MaxInt {
		return 0
	}
	return max(int(as.Cur)/parkedPart, 1) // bytes, and not 0
}

func (pages) unmap(m *memory) error {
	defer addressesTaken()
	return unix.MunmapPtr(m.base, uintptr(m.size))
}

// deny drops the pages first: the kernel changes the access of each page that is there, small ones
// one by one, and who denies has no use for the contents.
func (p pages) deny(m *memory, off, n int) error {
	_ = p.drop(m, off, n) // locked pages stay, and the drop that follows returns the error
	return p.unixPages.deny(m, off, n)
}

func (p pages) drop(m *memory, off, n int) error {
	return unix.Madvise(m.bytes(off, n), unix.MADV_DONTNEED)
}

// renew gives the new mapping the advice of the whole range, so that it can be merged with others.
func (p pages) renew(m *memory, off, n int) error {
	if err := remap(m, off, n, unix.PROT_NONE); err != nil {
		return err
	}
	p.adviseHuge(m, off, n)
	return nil
}

func (p pages) discard(m *memory, off, n int) error { return p.drop(m, off, n) }

func (p pages) advice(op string, errno error) string {
	switch {
	case errno == errMappings && op == "Guard":
		return "use fewer guards, or a kernel that marks pages (6.13), or raise vm.max_map_count"
	case errno == errMappings:
		return "commit neighbouring granules, or raise vm.max_map_count, of which a quarter may be ready ranges"
	case op == "Lock":
		return `lock less, or raise the limit that "ulimit -l" shows`
	case op == "Guard" && errno == unix.EINVAL:
		return "locked memory takes no marks: munlockall, or set QUARRY_GUARDS=access"
	case op == "Reserve":
		return `lower the size, release regions, or raise the limit that "ulimit -v" shows`
	case errno == unix.ENOMEM:
		return `decommit something, or raise the limit that "ulimit -d" shows or vm.max_map_count`
	case errno == unix.EINVAL && (op == "Decommit" || op == "Release"):
		return "locked memory cannot be decommitted: munlockall, or do not use mlockall"
	}
	return ""
}

// guardKind returns how Guard works: by marks where the kernel supports them and QUARRY_GUARDS is
// not "access".
func guardKind() GuardKind {
	if os.Getenv("QUARRY_GUARDS") == "access" || !kernelMarks() {
		return GuardAccess
	}
	return GuardMark
}

// kernelMarks tries a mark on a page of its own, which no one else ever sees. Kernels before 6.13
// return EINVAL. The user mode of qemu reports success and does nothing, so the page is touched as
// well.
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

// populate uses the kernel's call, and touches the pages where the kernel lacks it.
func (p pages) populate(m *memory, off, n int) error {
	err := unix.Madvise(m.bytes(off, n), unix.MADV_POPULATE_WRITE)
	if err == unix.EINVAL { // before 5.14
		touch(m, off, n)
		return nil
	}
	return err
}

// resident reads which pages are present: one byte each, of which the lowest bit counts.
func (p pages) resident(m *memory, off, n int) (bytes int, err error) {
	page := PageSize()
	present := make([]byte, n/page)
	b := m.bytes(off, n)
	// Safe because the kernel writes one byte for each page of b, which is as long
	// as present, and keeps neither address.
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(n),
		uintptr(unsafe.Pointer(&present[0])))
	if errno != 0 {
		return 0, known(errno)
	}
	for _, v := range present {
		bytes += int(v&1) * page
	}
	return bytes, nil
}

func (pages) lock(m *memory, off, n int) error   { return unix.Mlock(m.bytes(off, n)) }
func (pages) unlock(m *memory, off, n int) error { return unix.Munlock(m.bytes(off, n)) }

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

// fine is not offered where all pages are small anyway.
func (p pages) fine(m *memory, off, n int, on bool) error {
	switch {
	case !p.huge:
		return errNoSuch
	case on:
		return known(unix.Madvise(m.bytes(off, n), unix.MADV_NOHUGEPAGE))
	}
	return known(unix.Madvise(m.bytes(off, n), unix.MADV_HUGEPAGE))
}

func (p pages) advise(m *memory, off, n int, a Advice) error {
	advice := [...]int{
		Collapse: unix.MADV_COLLAPSE, WillNeed: unix.MADV_WILLNEED, Cold: unix.MADV_COLD, PageOut: unix.MADV_PAGEOUT,
	}[a]
	return known(unix.Madvise(m.bytes(off, n), advice))
}

// known turns the kernel's error for advice that it does not know, or does not accept for this
// range, into ErrUnsupported. EBADF means a kernel built without swap.
func known(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EBADF) {
		return fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	return err
}

// name needs a kernel built with CONFIG_ANON_VMA_NAME; others return EINVAL.
func (p pages) name(m *memory, text string) {
	var arg unsafe.Pointer // nil removes the name
	if text != "" {
		ended := append([]byte(text), 0)
		// Safe because the kernel copies the text, up to the 0, before the call returns.
		arg = unsafe.Pointer(&ended[0])
	}
	_ = unix.PrctlArg5Ptr(unix.PR_SET_VMA, unix.PR_SET_VMA_ANON_NAME, uintptr(m.base), uintptr(m.size), arg)
}
