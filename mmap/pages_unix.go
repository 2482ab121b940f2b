//go:build linux || darwin

package mmap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// unixPages are the steps that Linux and macOS take alike.
type unixPages struct{}

const reserveFlags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

func (unixPages) reserve(size int) (memory, error) {
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
func (unixPages) room(size int) error {
	start, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, reserveFlags)
	if err == nil {
		err = unix.MunmapPtr(start, uintptr(size))
	}
	return err
}

func (unixPages) allow(m *memory, off, n int) error {
	return unix.Mprotect(m.bytes(off, n), unix.PROT_READ|unix.PROT_WRITE)
}

func (unixPages) deny(m *memory, off, n int) error {
	return unix.Mprotect(m.bytes(off, n), unix.PROT_NONE)
}
