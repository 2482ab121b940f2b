package ecs

import (
	"unsafe"

	"quarry/ecs/internal/value"
)

// Values are moved field by field, each field in all rows of a chunk: what a move does is decided
// once a column, and the loop is over numbers of two types.

// signedNumber, unsignedNumber and so on are the numbers that fields have.
type (
	signedNumber   interface{ int8 | int16 | int32 | int64 }
	unsignedNumber interface {
		uint8 | uint16 | uint32 | uint64
	}
	anyNumber interface {
		signedNumber | unsignedNumber | float32 | float64
	}
)

// stretch is n values, one behind the other, on their way from one layout to another.
type stretch struct {
	to, from         unsafe.Pointer
	toSize, fromSize int // bytes of a value
	n                int
}

// rawBytes returns so many bytes at an address.
func rawBytes(p unsafe.Pointer, n int) []byte {
	return unsafe.Slice((*byte)(p), n) // Safe because the caller knows of them.
}

// convert makes the values, which are zero where no move leads.
func (s stretch) convert(moves []fieldMove) {
	if s.n == 0 || s.toSize == 0 {
		return
	}
	clear(rawBytes(s.to, s.n*s.toSize))
	for i := range moves {
		s.move(&moves[i])
	}
}

// move moves one field.
func (s stretch) move(m *fieldMove) {
	// Safe because the field lies in the values of both layouts, see imageType.moves.
	s.to, s.from = unsafe.Add(s.to, m.to), unsafe.Add(s.from, m.from)
	switch m.op {
	case moveSigned:
		widenFrom(s, m.size, m.wide, widen[int8, int16], widen[int8, int32], widen[int8, int64], widen[int16, int32], widen[int16, int64], widen[int32, int64])
	case moveUnsigned:
		widenFrom(s, m.size, m.wide, widen[uint8, uint16], widen[uint8, uint32], widen[uint8, uint64], widen[uint16, uint32], widen[uint16, uint64], widen[uint32, uint64])
	case moveFloat:
		widen[float32, float64](s)
	default:
		s.moveBytes(m.size)
	}
}

// widenFrom calls the one of six functions that widens numbers of some bytes to some more.
func widenFrom(s stretch, from, to int, oneTwo, oneFour, oneEight, twoFour, twoEight, fourEight func(stretch)) {
	switch [2]int{from, to} {
	case [2]int{1, 2}:
		oneTwo(s)
	case [2]int{1, 4}:
		oneFour(s)
	case [2]int{1, 8}:
		oneEight(s)
	case [2]int{2, 4}:
		twoFour(s)
	case [2]int{2, 8}:
		twoEight(s)
	default:
		fourEight(s)
	}
}

// widen makes numbers of a type those of a wider one of the same kind.
func widen[A, B anyNumber](s stretch) {
	for i := range s.n {
		// Safe because n values lie there, with an A and a B at their beginnings.
		*(*B)(unsafe.Add(s.to, i*s.toSize)) = B(*(*A)(unsafe.Add(s.from, i*s.fromSize)))
	}
}

// moveBytes copies size bytes of each value.
func (s stretch) moveBytes(size int) {
	switch {
	case size == s.toSize && size == s.fromSize:
		value.Move(rawBytes(s.to, s.n*size), rawBytes(s.from, s.n*size))
	case size == 1:
		copyEach[[1]byte](s)
	case size == 2:
		copyEach[[2]byte](s)
	case size == 4:
		copyEach[[4]byte](s)
	case size == 8:
		copyEach[[8]byte](s)
	case size == 16:
		copyEach[[16]byte](s)
	default:
		for i := range s.n {
			copy(rawBytes(unsafe.Add(s.to, i*s.toSize), size), rawBytes(unsafe.Add(s.from, i*s.fromSize), size)) // Safe because n values lie there.
		}
	}
}

// copyEach copies a T of each value.
func copyEach[T any](s stretch) {
	for i := range s.n {
		*(*T)(unsafe.Add(s.to, i*s.toSize)) = *(*T)(unsafe.Add(s.from, i*s.fromSize)) // Safe because n values lie there.
	}
}
