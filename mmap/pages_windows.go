package mmap

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// pages gives ranges of the address space of the process.
type pages struct{ plain }

func newPages() pages { return pages{} }

func (pages) traits() traits {
	return traits{name: "Windows pages", align: Granule, refused: ErrAddressSpace, guards: GuardAccess}
}

// reserve keeps what alignment does not need, up to Granule bytes: Windows
// releases whole reservations only. No call of it reaches from one reservation into
// the next.
func (p pages) reserve(size int) (memory, error) {
	if err := p.room(size + Granule); err != nil {
		return memory{}, err
	}
	start, err := windows.VirtualAlloc(0, uintptr(size+Granule), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return memory{}, err
	}
	first := (start + Granule - 1) &^ (Granule - 1)
	// Safe because first is an address outside the Go heap, inside a reservation
	// that is never released; rounding up left size bytes behind it.
	return memory{base: unsafe.Add(nil, first), size: size, block: start}, nil
}

// room reserves and releases: nobody has seen the range.
func (pages) room(size int) error {
	start, err := windows.VirtualAlloc(0, uintptr(size+mostRoom), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err == nil {
		err = windows.VirtualFree(start, 0, windows.MEM_RELEASE)
	}
	return err
}

// allow commits; Windows charges the page file here, not at first touch.
func (pages) allow(m *memory, off, n int) error {
	_, err := windows.VirtualAlloc(address(m, off), uintptr(n), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// deny decommits as drop does, and what a drop behind it finds is gone already.
// VirtualProtect would keep contents, but it refuses a range with a hole in it,
// such as a guard makes or a commit that was refused half way.
func (p pages) deny(m *memory, off, n int) error { return p.drop(m, off, n) }

// drop takes access away too; what is decommitted already stays so.
func (pages) drop(m *memory, off, n int) error {
	return windows.VirtualFree(address(m, off), uintptr(n), windows.MEM_DECOMMIT)
}

func address(m *memory, off int) uintptr { return uintptr(m.base) + uintptr(off) }

// lock is bounded by the working set of the process, 200 KiB or so unless
// SetProcessWorkingSetSize has raised it.
func (pages) lock(m *memory, off, n int) error {
	return windows.VirtualLock(address(m, off), uintptr(n))
}

func (pages) unlock(m *memory, off, n int) error {
	return windows.VirtualUnlock(address(m, off), uintptr(n))
}

// hint: without fork there is no child to wipe memory for.
func (pages) hint(_ *memory, h Hint, _ bool) error {
	if h == WipeOnFork {
		return nil
	}
	return errNoSuch
}

func (pages) advice(op string, errno error) string {
	switch op {
	case "Reserve":
		return "lower the size, or release regions"
	case "Lock":
		return "lock less, or raise the working set of the process with SetProcessWorkingSetSize"
	}
	return "decommit something, or enlarge the page file"
}
