package mmap

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// pages gives ranges of the address space of the process.
type pages struct{}

func newPages() pages { return pages{} }

// hugePageSize is unknown: large pages of Windows need a privilege, must be
// committed with their reservation and cannot be decommitted.
func hugePageSize() int { return 0 }

func (pages) traits() traits {
	return traits{name: "Windows pages", align: Granule, refused: ErrAddressSpace}
}

// reserve keeps what alignment does not need, up to Granule bytes: Windows
// releases whole reservations only.
func (pages) reserve(size int) (memory, error) {
	start, err := windows.VirtualAlloc(0, uintptr(size+Granule), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return memory{}, err
	}
	start = (start + Granule - 1) &^ (Granule - 1)
	// Safe because start is an address outside the Go heap, inside a reservation
	// that is never released; rounding up left size bytes behind it.
	return memory{base: unsafe.Add(nil, start), size: size}, nil
}

// allow commits; Windows charges the page file here, not at first touch.
func (pages) allow(m *memory, off, n int) error {
	_, err := windows.VirtualAlloc(address(m, off), uintptr(n), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// deny is part of drop.
func (pages) deny(*memory, int, int) error { return nil }

func (pages) drop(m *memory, off, n int) error {
	return windows.VirtualFree(address(m, off), uintptr(n), windows.MEM_DECOMMIT)
}

func address(m *memory, off int) uintptr { return uintptr(m.base) + uintptr(off) }

func (pages) advice(op string, errno error) string {
	if op == "Reserve" {
		return "lower the size"
	}
	return "decommit something, or enlarge the page file"
}
