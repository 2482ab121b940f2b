package mmap

import "golang.org/x/sys/unix"

// addPages adds what newPages gives and, under a name of its own, what it gives
// on kernels that cannot mark pages.
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
