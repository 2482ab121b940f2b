package table

import (
	"iter"
	"math/bits"
)

// MaxTypes is the number of component types of a world.
const MaxTypes = 1024

// TypeID is the number of a component type in its world, in order of registration.
type TypeID uint16

// Signature is a set of types: bit i stands for type i.
type Signature [MaxTypes / 64]uint64

// Has reports whether the set has a type.
func (s *Signature) Has(id TypeID) bool { return s[id/64]>>(id%64)&1 != 0 }

// Add adds a type, which may already be in the set.
func (s *Signature) Add(id TypeID) { s[id/64] |= 1 << (id % 64) }

// Drop removes a type, which may be absent.
func (s *Signature) Drop(id TypeID) { s[id/64] &^= 1 << (id % 64) }

// Each yields the types in rising order.
func (s *Signature) Each() iter.Seq[TypeID] {
	return func(yield func(TypeID) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(TypeID(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// Count returns the number of types.
func (s *Signature) Count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// Meets reports whether two sets have a type in common.
func (s *Signature) Meets(t *Signature) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}
