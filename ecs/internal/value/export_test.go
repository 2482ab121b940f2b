package value

import (
	"maps"
	"slices"
)

// Corrupt breaks one numbered invariant of a store with slot 1 in a row and slot 2 free, and
// returns what puts that right.
func (s *Store[T]) Corrupt(invariant string, v T) (restore func()) {
	old := *s
	restore = func() { *s = old }
	s.free = slices.Clone(old.free)
	switch invariant {
	case "S1 lost":
		s.last++
	case "S1 free twice":
		s.free = append(s.free, old.free[0])
	case "S1 free of none":
		s.free = append(s.free, 0)
	case "S1 free of more":
		s.free = append(s.free, s.last+1)
	case "S1 free in use":
		*s.Get(1) = *new(T) // a released value that a row still has
		s.free = append(s.free, 1)
		return func() { *s = old; *s.Get(1) = v }
	case "S1 forgotten":
		s.free = nil
	case "S2":
		s.pages = append(slices.Clone(old.pages), make([]T, 1<<s.order))
	case "S2 part":
		s.pages = slices.Clone(old.pages)
		s.pages[0] = s.pages[0][:1<<s.order-1]
	case "S3":
		*s.Get(2) = v
		return func() { *s = old; *s.Get(2) = *new(T) }
	case "S3 ahead":
		*s.Get(s.last + 1) = v
		return func() { *s = old; *s.Get(s.last + 1) = *new(T) }
	}
	return restore
}

// Pages returns how many pages of values there are, and PageLen how many values one has.
func (s *Store[T]) Pages() int   { return len(s.pages) }
func (s *Store[T]) PageLen() int { return 1 << s.order }

// Corruptions are ways to break a header, of a buffer that has spilled or one that has not.
var Corruptions = map[string]struct {
	Spilled bool
	Do      func(h *Header, k *Shape)
}{
	"H1 inline":          {false, func(h *Header, k *Shape) { h.length = uint32(k.Inline) + 1 }},
	"H1 spilled":         {true, func(h *Header, _ *Shape) { h.length = h.capacity + 1 }},
	"H2 below the room":  {true, func(h *Header, k *Shape) { h.length, h.capacity = 0, uint32(k.Inline) }},
	"H2 above the block": {true, func(h *Header, _ *Shape) { h.capacity++ }},
	"H2 no block":        {true, func(h *Header, _ *Shape) { h.ref++ }},
	"H2 outside":         {true, func(h *Header, _ *Shape) { h.ref = 1<<32 - 1 }},
	"H3 forgotten":       {true, func(h *Header, _ *Shape) { *h = Header{} }},
}

// Corrupt breaks one numbered invariant of a store with a value that is held once, by means of
// another one, and returns what puts that right.
func (s *Values[T]) Corrupt(invariant string, v *Shared, x T) (restore func()) {
	was, equal, odd := *v, maps.Clone(s.equal), slices.Clone(s.odd)
	switch invariant {
	case "K1 odd", "K2":
		s.odd = append(s.odd, s.make(x))
	case "K1 equal":
		s.equal[x] = v
	case "K3 count":
		v.refs++
	case "K3 idle":
		s.enter(s.Of(x))
	case "K3 found":
		v.v = x
	case "K3 stranger":
		stranger := was
		s.enter(&stranger)
	}
	return func() { *v = was; s.equal, s.odd = equal, odd }
}
