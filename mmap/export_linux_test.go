package mmap

import "golang.org/x/sys/unix"

// addPages adds the backing of newPages and, under another name, the same backing as on kernels
// that cannot mark pages.
func addPages(all map[string]func() Backing) {
	all["pages"] = func() Backing { return newPages() }
	all["access"] = func() Backing {
		p := newPages()
		p.guards = GuardAccess
		return p
	}
}

func unmap(m *memory) error {
	if m.object != nil {
		return nil
	}
	return unix.MunmapPtr(m.base, uintptr(m.size))
}
