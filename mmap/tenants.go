package mmap

import (
	"slices"
	"unsafe"
)

// tenants are all ranges that a space has handed out, by ascending base, so
// that a fault address finds its region. Ranges are never given back to the OS,
// so entries stay; the region of one changes at Reserve and Release. Go objects
// are not listed: they do not fault, and the list would keep them alive.
type tenants []tenant

// tenant is one range and who has it.
type tenant struct {
	base   uintptr
	size   int     // bytes
	region *Region // nil while parked
}

// find is where the entry with the greatest base <= addr is, or -1.
func (t tenants) find(addr uintptr) int {
	i, exact := slices.BinarySearchFunc(t, addr, func(one tenant, addr uintptr) int {
		switch {
		case one.base < addr:
			return -1
		case one.base > addr:
			return 1
		}
		return 0
	})
	if exact {
		return i
	}
	return i - 1
}

// settleIn records who has a range from now on.
func (s *space) settleIn(m *memory, r *Region) {
	if m.object != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	base := uintptr(m.base)
	i := s.tenants.find(base)
	if i < 0 || s.tenants[i].base != base {
		i++
		s.tenants = slices.Insert(s.tenants, i, tenant{base: base, size: m.size})
	}
	s.tenants[i].region = r
}

// tenant finds the range that an address lies in.
func (s *space) tenant(addr uintptr) (tenant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.tenants.find(addr)
	if i < 0 || addr-s.tenants[i].base >= uintptr(s.tenants[i].size) {
		return tenant{}, false
	}
	return s.tenants[i], true
}

// RegionAt returns the open region that the byte at p lies in, and its offset there;
// false for all other memory, and for regions that are Go objects. The byte need not be
// ready. It stays true for as long as the caller keeps the region from being released.
// Cost: a lock and a binary search among all ranges.
func RegionAt(p unsafe.Pointer) (r *Region, offset int, ok bool) { return process().regionAt(p) }

func (s *space) regionAt(p unsafe.Pointer) (r *Region, offset int, ok bool) {
	t, ok := s.tenant(uintptr(p))
	if !ok || t.region == nil {
		return nil, 0, false
	}
	return t.region, int(uintptr(p) - t.base), true
}

// lives reports whether the list says that r has the range at base.
func (s *space) lives(base unsafe.Pointer, r *Region) bool {
	t, ok := s.tenant(uintptr(base))
	return ok && t.region == r && t.base == uintptr(base)
}
