package value

import (
	"slices"
	"unsafe"
)

// Changes of a buffer's elements, as bytes. The caller has checked indices and lengths. The bytes
// of from may be elements of the same buffer. After an error nothing has changed.

// Insert inserts n elements with the bytes from before element i.
func (s *Spill) Insert(h *Header, k *Shape, i, n int, from []byte) error {
	length := int(h.length)
	if length+n > k.Cap(h) {
		return s.Grow(h, k, length+n, i, i, from)
	}
	e := s.Bytes(h, k, i, length+n)
	tail := len(e) - len(from)
	if overlap(e, from) {
		// Shifting the tail would overwrite the source: append it, then swap the two parts.
		Move(e[tail:], from)
		slices.Reverse(e[:tail])
		slices.Reverse(e[tail:])
		slices.Reverse(e)
	} else {
		Move(e[len(from):], e[:tail])
		Move(e, from)
	}
	h.length = uint32(length + n)
	return nil
}

// overlap reports whether two slices share memory.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	// Safe because the addresses are only compared.
	x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}

// Set replaces all elements with n elements that have the bytes from.
func (s *Spill) Set(h *Header, k *Shape, n int, from []byte) error {
	if n > k.Cap(h) {
		return s.Grow(h, k, n, 0, int(h.length), from)
	}
	Move(s.Bytes(h, k, 0, n), from)
	h.length = uint32(n)
	return nil
}

// Cut removes elements [lo, hi). The others keep their order.
func (s *Spill) Cut(h *Header, k *Shape, lo, hi int) {
	e := s.Bytes(h, k, lo, int(h.length))
	Move(e, e[(hi-lo)*k.Element:])
	h.length -= uint32(hi - lo)
}

// SwapCut removes elements [lo, hi) and moves the last elements into the gap, in their order.
func (s *Spill) SwapCut(h *Header, k *Shape, lo, hi int) {
	length := int(h.length)
	tail := max(hi, length-(hi-lo)) // elements between hi and tail stay
	Move(s.Bytes(h, k, lo, hi), s.Bytes(h, k, tail, length))
	h.length -= uint32(hi - lo)
}

// Resize sets the length and returns the new elements, which are not initialized.
func (s *Spill) Resize(h *Header, k *Shape, n int) (fresh []byte, err error) {
	length := int(h.length)
	if n > k.Cap(h) {
		if err := s.Grow(h, k, n, length, length, nil); err != nil {
			return nil, err
		}
	}
	if n > length {
		fresh = s.Bytes(h, k, length, n)
	}
	h.length = uint32(n)
	return fresh, nil
}

// Edit replaces elements by n others, with the bytes from: all but the first before and the last
// tail ones. With next, which is a new block that Take gave, the buffer moves there; without it
// there is room.
func (s *Spill) Edit(h *Header, k *Shape, next *Header, before, n, tail int, from []byte) {
	length, old, size := before+n+tail, int(h.length), k.Element
	if next != nil {
		e := s.Bytes(next, k, 0, length)
		Move(e, s.Bytes(h, k, 0, before))
		Move(e[before*size:], from)
		Move(e[(before+n)*size:], s.Bytes(h, k, old-tail, old))
		next.length = uint32(length)
		s.replace(h, *next, k)
		return
	}
	e := s.Bytes(h, k, 0, max(length, old))
	Move(e[(before+n)*size:length*size], e[(old-tail)*size:old*size])
	Move(e[before*size:], from)
	h.length = uint32(length)
}
