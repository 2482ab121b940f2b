package world

import (
	"encoding/binary"
	"math/bits"
)

// The hash of a world. It is made of sums, so that neither the order of registration nor that of
// archetypes counts, nor how rows are cut into chunks, and parts of a column can be hashed apart:
//
//	world      term(0, sum over archetypes with rows, and over sparse types with entries)
//	archetype  term(0, rows, words of the entities, sum over its types)
//	its type   term(0, type, words of the values, sum of term(row+1) of disabled rows, shared value)
//	buffers    instead of words: sum of term(row+1, length, words of the elements)
//	sparse     term(0, type, entries, sum of term(0, entity, 1 if it is disabled, words of the value))
//	type       term(0, kind, how many of this kind and name came before, bytes of the name, name)
//
// Words are 8 bytes, little-endian, and asm.HashWords adds them up: the place of a word is part of
// its summand. The values of all rows follow one another as they would lie in one array, where
// padding is 0 and entities have no tag; the last word is filled with zeros. So do the elements of
// a buffer, whose first word has place 0 again. Values of managed and chunk types are left out.
//
// A term is a hash of a place and of words:
//
//	h = seed + place*hashRow;  for each word: h = fold(h^word) ^ word turned by 32;  fold(h^seed)
//
// where fold is the product with hashStep, 128 bits, its halves xored. Bytes in a term are words
// too, the last filled with zeros.

// Constants of the hash: the fractions of the square roots of 2 and of 3 and of the golden ratio.
const (
	hashSeed = 0x6a09e667f3bcc909
	hashStep = 0xbb67ae8584caa73b
	hashRow  = 0x9e3779b97f4a7c15
)

// HashAt begins the term of a place.
func HashAt(place int) uint64 { return hashSeed + uint64(place)*hashRow }

// HashWord adds a word to a term.
func HashWord(h, word uint64) uint64 {
	high, low := bits.Mul64(h^word, hashStep)
	return high ^ low ^ bits.RotateLeft64(word, 32)
}

// HashEnd ends a term.
func HashEnd(h uint64) uint64 {
	high, low := bits.Mul64(h^hashSeed, hashStep)
	return high ^ low
}

// HashWords returns the term of words at place 0.
func HashWords(words ...uint64) uint64 {
	h := HashAt(0)
	for _, w := range words {
		h = HashWord(h, w)
	}
	return HashEnd(h)
}

// hashBytes adds bytes to a term.
func hashBytes(h uint64, b []byte) uint64 {
	for ; len(b) >= 8; b = b[8:] {
		h = HashWord(h, binary.LittleEndian.Uint64(b))
	}
	switch {
	case len(b) == 4:
		h = HashWord(h, uint64(binary.LittleEndian.Uint32(b)))
	case len(b) > 0:
		word := uint64(0)
		for i, x := range b {
			word |= uint64(x) << (8 * i)
		}
		h = HashWord(h, word)
	}
	return h
}

// TypeHashes returns the hash of each type, by TypeID. Any goroutine may call it.
func (w *World) TypeHashes() []uint64 {
	if known := w.Types.hashes.Load(); known != nil && len(*known) == len(w.Types.List) {
		return *known
	}
	all, likes := make([]uint64, len(w.Types.List)), map[Description]int{}
	for i, t := range w.Types.List {
		d := DescribeType(t)
		key := Description{Name: d.Name, Kind: d.Kind}
		h := HashAt(0)
		for _, word := range [...]int{int(d.Kind), likes[key], len(d.Name)} {
			h = HashWord(h, uint64(word))
		}
		all[i] = HashEnd(hashBytes(h, []byte(d.Name)))
		likes[key]++
	}
	w.Types.hashes.Store(&all)
	return all
}

// Hashing is a hash on its way.
type Hashing struct {
	W     *World
	Types []uint64 // by TypeID
	masks [][]byte // by TypeID, see maskOf
	bytes []byte   // of values under a mask
}

// NewHashing returns a Hashing of a world.
func NewHashing(w *World) *Hashing { return &Hashing{W: w, Types: w.TypeHashes()} }
