package world

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/value"
)

// The hash of a world. It is made of sums, so that neither the order of registration nor that of
// archetypes counts, nor how rows are cut into chunks, and parts of a column can be hashed apart:
//
//	world      term(0, sum over archetypes with rows, and over sparse types with entries)
//	archetype  term(0, rows, sum of term(row+1, entity), sum over its types)
//	its type   term(0, type, sum of term(row+1, value), sum of term(row+1) of disabled rows, shared value)
//	sparse     term(0, type, entries, sum of term(0, entity, 1 if it is disabled, value))
//	type       term(0, kind, how many of this kind and name came before, bytes of the name, name)
//
// A term is a hash of a place and of words:
//
//	h = seed + place*hashRow;  for each word: h = fold(h^word) ^ word turned by 32;  fold(h^seed)
//
// where fold is the product with hashStep, 128 bits, its halves xored. Bytes are words of 8,
// little-endian, the last filled with zeros. A value's bytes are those of its fields one after the
// other, without padding; an entity is 8 bytes without the tag; a buffer is a word with its length
// and the bytes of its elements. Values of managed and chunk types are left out.

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

// archetype returns the hash of an archetype.
func (h *Hasher) archetype(a *Archetype) uint64 {
	ids, types := uint64(0), uint64(0)
	for pos, c := range a.Table.Store.Chunks() {
		for row, e := range Entities(a.Table.Store.Row(pos, 0).Base, a.Table.Store.RowsOf(pos)) {
			ids += HashEnd(HashWord(HashAt(c.Start+row+1), hashedEntity(e)))
		}
	}
	for slot, id := range a.Table.Types {
		values, disabled, shared := uint64(0), uint64(0), uint64(0)
		switch t := h.W.Types.List[id]; {
		case t.Kind == KindManaged || t.Kind == KindChunk:
		case t.Kind == KindShared:
			shared = h.Shared(a.ValueOf(id))
		case t.Size > 0:
			values = h.column(a, t)
		}
		if h.W.Types.List[id].Enableable {
			disabled = h.disabled(a, uint16(slot))
		}
		types += HashWords(h.Types[id], values, disabled, shared)
	}
	return HashWords(uint64(a.Table.Store.Len()), ids, types)
}

// Shared returns the hash of a shared value.
func (h *Hasher) Shared(v *value.Shared) uint64 {
	h.bytes = appendHashed(h.bytes[:0], v)
	return HashEnd(hashBytes(HashAt(0), h.bytes))
}

// disabled returns the sum of the rows in which a type is disabled.
func (h *Hasher) disabled(a *Archetype, slot uint16) (sum uint64) {
	for pos, c := range a.Table.Store.Chunks() {
		words, n := a.Table.Metadata.Bits(slot, pos).Words(), a.Table.Store.RowsOf(pos)
		for at := 0; at < n; at += 64 {
			clear := ^words[at/64]
			if rest := n - at; rest < 64 {
				clear &= 1<<rest - 1
			}
			for ; clear != 0; clear &= clear - 1 {
				sum += HashEnd(HashAt(c.Start + at + bits.TrailingZeros64(clear) + 1))
			}
		}
	}
	return sum
}

// column returns the sum of the values of a type.
func (h *Hasher) column(a *Archetype, t *Type) (sum uint64) {
	c := a.Table.Column(t.ID)
	for pos, chunk := range a.Table.Store.Chunks() {
		at, n := a.Table.Store.Row(pos, 0), a.Table.Store.RowsOf(pos)
		first := at.Element(c.Offset, c.Size)
		// Safe because n values of the column lie one after the other, and len elements of a
		// buffer.
		switch {
		case t.Kind != KindBuffer:
			sum += h.values(first, t, n, chunk.Start)
		default:
			for row := range n {
				b := value.HeaderAt(first, row, c.Size)
				term := HashWord(HashAt(chunk.Start+row+1), uint64(b.Len()))
				sum += HashEnd(hashBytes(term, h.gather(t.Spill.Elements(b), t, t.Shape.Element, b.Len())))
			}
		}
	}
	return sum
}

// values returns the sum of n values that lie one after the other, the first in row start.
func (h *Hasher) values(first unsafe.Pointer, t *Type, n, start int) (sum uint64) {
	if t.isSpan(t.Size) {
		all := unsafe.Slice((*byte)(first), n*t.Size) // Safe because n values lie there.
		for row := range n {
			sum += HashEnd(hashBytes(HashAt(start+row+1), all[row*t.Size:(row+1)*t.Size]))
		}
		return sum
	}
	for row := range n {
		at := unsafe.Add(first, row*t.Size) // Safe as above.
		sum += HashEnd(hashBytes(HashAt(start+row+1), h.gather(at, t, t.Size, 1)))
	}
	return sum
}

// sparse returns the hash of the entries of a sparse type. Their order does not count: it follows
// that in which rows move and end, and so how rows are cut into chunks.
func (h *Hasher) sparse(t *Type) (sum uint64) {
	for i, e := range t.Sparse.IDs() {
		at, off := sparse.Entry(i+1), uint64(0)
		if !t.Sparse.Enabled(at) {
			off = 1
		}
		term := HashWord(HashWord(HashAt(0), hashedEntity(e)), off)
		sum += HashEnd(hashBytes(term, h.gather(t.Sparse.Value(at), t, t.Size, 1)))
	}
	return HashWords(h.Types[t.ID], uint64(t.Sparse.Len()), sum)
}
