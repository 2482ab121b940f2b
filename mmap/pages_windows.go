package mmap

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// pages provides ranges of the address space of the process.
type pages struct{ plain }

func newPages() pages { return pages{} }

func (pages) traits() traits {
	return traits{name: "Windows pages", align: Granule, refused: ErrAddressSpace, guards: GuardAccess}
}

// reserve keeps what alignment does not need, up to Granule bytes, since Windows releases whole
// reservations only. No call here spans two reservations.
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

// room reserves and releases the range, which no one else has seen.
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

// deny decommits as drop does; a drop after it finds nothing left to do. VirtualProtect would keep
// contents, but it refuses a range with a hole in it, such as a guard or a half-refused commit
// leaves.
func (p pages) deny(m *memory, off, n int) error { return p.drop(m, off, n) }

// drop takes access away too; decommitted pages stay decommitted.
func (pages) drop(m *memory, off, n int) error {
	return windows.VirtualFree(address(m, off), uintptr(n), windows.MEM_DECOMMIT)
}

func address(m *memory, off int) uintptr { return uintptr(m.base) + uintptr(off) }

// lock is limited by the working set of the process, about 200 KiB unless SetProcessWorkingSetSize
// has raised it.
func (pages) lock(m *memory, off, n int) error {
	return windows.VirtualLock(address(m, off), uintptr(n))
}

func (pages) unlock(m *memory, off, n int) error {
	return windows.VirtualUnlock(address(m, off), uintptr(n))
}

// hint ignores WipeOnFork: without fork there is no child whose memory to wipe.
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
