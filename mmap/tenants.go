package mmap

import (
	"slices"
	"unsafe"
)

// tenants is the list of a space's open regions by ascending base, in which an address finds its
// region. Go objects are not listed: they do not fault, and the list would keep them alive.
type tenants []*Region

// behind returns the index of the first region that begins above addr.
func (t tenants) behind(addr uintptr) int {
	i, _ := slices.BinarySearchFunc(t, addr, func(r *Region, addr uintptr) int {
		if uintptr(r.memory.base) <= addr {
			return -1
		}
		return 1
	})
	return i
}

// add lists a region that has its range.
func (t *tenants) add(r *Region) {
	if r.memory.object == nil {
		*t = slices.Insert(*t, t.behind(uintptr(r.memory.base)), r)
	}
}

// remove removes a region that still has its range from the list.
func (t *tenants) remove(r *Region) {
	if i := t.behind(uintptr(r.memory.base)) - 1; i >= 0 && (*t)[i] == r {
		*t = slices.Delete(*t, i, i+1)
	}
}

// at returns the open region that contains an address, or nil.
func (t tenants) at(addr uintptr) *Region {
	i := t.behind(addr) - 1
	if i < 0 || addr-uintptr(t[i].memory.base) >= uintptr(t[i].memory.size) {
		return nil
	}
	return t[i]
}

// RegionAt returns the open region that contains the byte at p, and the byte's offset in the
// region. ok is false for all other memory, and for regions that are Go objects. The byte need not
// be ready. The result stays true as long as the caller keeps the region from being released. Cost:
// a lock and a binary search among the open regions.
func RegionAt(p unsafe.Pointer) (r *Region, offset int, ok bool) { return process().regionAt(p) }

func (s *space) regionAt(p unsafe.Pointer) (r *Region, offset int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r = s.tenants.at(uintptr(p)); r == nil {
		return nil, 0, false
	}
	return r, int(uintptr(p) - uintptr(r.memory.base)), true
}

// lives reports whether the list has r at its base.
func (s *space) lives(r *Region) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tenants.at(uintptr(r.memory.base)) == r
}
