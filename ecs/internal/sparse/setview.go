package sparse

import (
	"unsafe"

	"quarry/ecs/internal/entity"
)

// SetView is what look-ups by row need of a set. It is valid until the next Add, Remove, Reserve,
// Trim or Close.
type SetView struct {
	places, values unsafe.Pointer
	size           uintptr
	most           uint32
}

// View returns the set's view.
func (s *Set) View() SetView { return SetView{s.places, s.values, s.size, s.most} }

// Of returns the address of the value of an entity that is alive, or nil. It is small enough to be
// inlined.
func (v *SetView) Of(e entity.ID) unsafe.Pointer {
	if i := e.Index(); i < v.most {
		// Safe because there are most places. The entity is alive, so its place is its own (P1).
		if at := *(*Entry)(unsafe.Add(v.places, uintptr(i)*placeSize)); at != 0 {
			return unsafe.Add(v.values, uintptr(at)*v.size) // Safe because the entry is there.
		}
	}
	return nil
}

// Mask returns for up to 64 entities a bit each, from bit 0 on: whether it has a value, and whether
// that is enabled. The entities are alive.
func (s *Set) Mask(ids []entity.ID) (has, on uint64) {
	view := s.View() // in registers
	// Safe because an array of eight IDs is taken where there are eight.
	i := 0
	for ; i+8 <= len(ids); i += 8 { // eight at a time: the shifts are constants, and wait for nothing
		e := (*[8]entity.ID)(ids[i:])
		has |= (view.has(e[0]) | view.has(e[1])<<1 | view.has(e[2])<<2 | view.has(e[3])<<3 |
			view.has(e[4])<<4 | view.has(e[5])<<5 | view.has(e[6])<<6 | view.has(e[7])<<7) << i
	}
	for ; i < len(ids); i++ {
		has |= view.has(ids[i]) << i
	}
	if s.bits == nil {
		return has, has
	}
	for i, e := range ids {
		if has>>i&1 != 0 && s.Enabled(*s.place(e.Index())) {
			on |= 1 << i
		}
	}
	return has, on
}

// has returns 1 if an entity has a value, else 0, without a branch that depends on it.
func (v *SetView) has(e entity.ID) uint64 {
	i := e.Index()
	if i >= v.most {
		return 0
	}
	at := int32(*(*Entry)(unsafe.Add(v.places, uintptr(i)*placeSize))) // Safe because there are most places.
	return uint64(uint32(at|-at) >> 31)
}
