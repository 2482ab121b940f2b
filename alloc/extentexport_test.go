package alloc

import (
	"unsafe"

	"quarry/internal/universe/mapping"
)

// FailMappings makes the calls for the extent's reservations follow a script.
func (x *Extent) FailMappings(s *mapping.Script) { x.reserve = s.Reserve }

// ReserveLeast makes the extent reserve no more than it needs, as under a limit of addresses.
func (x *Extent) ReserveLeast() {
	reserve := x.reserve
	x.reserve = func(_, least int) (mapping.Region, error) { return reserve(least, least) }
}

// Mapped reports whether the extent lies in a reservation of its own.
func (x *Extent) Mapped() bool { return x.mapping != nil }

// Corrupt breaks an invariant of an extent that lies in chunks, and returns what puts it right.
func (x *Extent) Corrupt(invariant string) (restore func()) {
	switch invariant {
	case "X1":
		x.run += 64
		return func() { x.run -= 64 }
	case "X1 none":
		size := x.size
		x.size = 0
		return func() { x.size = size }
	case "X2":
		last := (*byte)(unsafe.Add(x.base, x.room()-1))
		*last = 1
		return func() { *last = 0 }
	}
	return nil
}
