package mmap

// addPages adds what newPages gives and, under a name of its own, what it gives
// on kernels that cannot mark pages.
func addPages(all map[string]func() System) {
	all["pages"] = func() System { return newPages() }
	all["access"] = func() System {
		p := newPages()
		p.guards = GuardAccess
		return p
	}
}
