package worldfile

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

// ValueCopy is n values, one after the other, on their way from one layout to another.
type ValueCopy struct {
	To, From         unsafe.Pointer
	ToSize, FromSize int // bytes of a value
	N                int
}

// rawBytes returns so many bytes at an address.
func rawBytes(p unsafe.Pointer, n int) []byte {
	return unsafe.Slice((*byte)(p), n) // Safe because the caller knows of them.
}

// Convert makes the values, which are zero where no move leads.
func (s ValueCopy) Convert(moves []fieldMove) {
	if s.N == 0 || s.ToSize == 0 {
		return
	}
	clear(rawBytes(s.To, s.N*s.ToSize))
	for i := range moves {
		s.move(&moves[i])
	}
}

// move moves one field.
func (s ValueCopy) move(m *fieldMove) {
	// Safe because the field lies in the values of both layouts, see ImageType.Moves.
	s.To, s.From = unsafe.Add(s.To, m.to), unsafe.Add(s.From, m.from)
	switch m.op {
	case moveSigned:
		widenFrom(s, m.size, m.wide, widen[int8, int16], widen[int8, int32], widen[int8, int64], widen[int16, int32],
			widen[int16, int64], widen[int32, int64])
	case moveUnsigned:
		widenFrom(s, m.size, m.wide, widen[uint8, uint16], widen[uint8, uint32], widen[uint8, uint64],
			widen[uint16, uint32], widen[uint16, uint64], widen[uint32, uint64])
	case moveFloat:
		widen[float32, float64](s)
	default:
		s.MoveBytes(m.size)
	}
}

// widenFrom calls the one of six functions that widens numbers of some bytes to some more.
func widenFrom(s ValueCopy, from, to int, oneTwo, oneFour, oneEight, twoFour, twoEight, fourEight func(ValueCopy)) {
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
func widen[A, B anyNumber](s ValueCopy) {
	for i := range s.N {
		// Safe because n values lie there, with an A and a B at their beginnings.
		*(*B)(unsafe.Add(s.To, i*s.ToSize)) = B(*(*A)(unsafe.Add(s.From, i*s.FromSize)))
	}
}

// MoveBytes copies size bytes of each value.
func (s ValueCopy) MoveBytes(size int) {
	switch {
	case size == s.ToSize && size == s.FromSize:
		value.Move(rawBytes(s.To, s.N*size), rawBytes(s.From, s.N*size))
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
		for i := range s.N {
			// Safe because n values lie there.
			copy(rawBytes(unsafe.Add(s.To, i*s.ToSize), size), rawBytes(unsafe.Add(s.From, i*s.FromSize), size))
		}
	}
}

// copyEach copies a T of each value.
func copyEach[T any](s ValueCopy) {
	for i := range s.N {
		// Safe because n values lie there.
		*(*T)(unsafe.Add(s.To, i*s.ToSize)) = *(*T)(unsafe.Add(s.From, i*s.FromSize))
	}
}
