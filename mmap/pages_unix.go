//go:build linux || darwin

package mmap

import (
	"cmp"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unixPages implements the steps that Linux and macOS share.
type unixPages struct{}

const reserveFlags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

// mapRange maps size bytes plus spare more, which it unmaps at once: that shows that they could be
// had, and leaves them to others. The kernel maps downwards, so the next range lies right below
// this one, and where both are parked they can be joined.
func mapRange(size, spare int) (memory, error) {
	slack := 0
	for {
		n := spare + size + slack
		start, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_NONE, reserveFlags)
		if err != nil {
			return memory{}, err
		}
		head := spare + int(-(uintptr(start)+uintptr(spare))&(Granule-1))
		if head+size > n { // not aligned
			trim(start, n)
			slack = Granule - PageSize() // enough to align any page
			continue
		}
		// Safe because [head, head+size) lies inside the mapping of n bytes.
		m := memory{base: unsafe.Add(start, head), size: size}
		trim(start, head)
		// Safe because it is the end of the range, inside the mapping or right
		// behind it, and is not touched.
		trim(unsafe.Add(m.base, size), n-head-size)
		return m, nil
	}
}

// trim unmaps a range that no one has seen yet. If the OS refuses, the range stays reserved without
// access and is lost to the process.
func trim(start unsafe.Pointer, n int) {
	if n > 0 {
		_ = unix.MunmapPtr(start, uintptr(n))
	}
}

// tryMap maps and unmaps a range, which no one else has seen.
func tryMap(size int) error {
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

// attach maps a file over a range without access, privately: writes stay in the process.
func (unixPages) attach(m *memory, off, n int, f *os.File, at int64) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	errno := error(nil)
	err = raw.Control(func(fd uintptr) {
		// Safe because [off, off+n) lies inside the range, which this package owns and never
		// unmaps, so the fixed mapping replaces no one else's.
		_, errno = unix.MmapPtr(int(fd), at, unsafe.Add(m.base, off), uintptr(n),
			unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_NORESERVE|unix.MAP_FIXED)
	})
	return cmp.Or(err, errno)
}

// remap maps fresh pages over old ones.
func remap(m *memory, off, n, access int) error {
	// Safe because [off, off+n) lies inside the range, which this package owns and never unmaps, so
	// the fixed mapping replaces no one else's.
	_, err := unix.MmapPtr(-1, 0, unsafe.Add(m.base, off), uintptr(n), access, reserveFlags|unix.MAP_FIXED)
	return err
}
