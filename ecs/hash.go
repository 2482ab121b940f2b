package ecs

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"quarry/ecs/internal/entity"
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
// and the bytes of its elements.

// hasher computes the hash of a world.
type hasher struct {
	w     *World
	types []uint64 // by typeID
	bytes []byte   // of a value that is gathered
}

// Constants of the hash: the fractions of the square roots of 2 and of 3 and of the golden ratio.
const (
	hashSeed = 0x6a09e667f3bcc909
	hashStep = 0xbb67ae8584caa73b
	hashRow  = 0x9e3779b97f4a7c15
)

// Hash returns a 64-bit hash of all living entities: of each archetype with rows the types, the
// entities, and the fields, enable bits and buffers of their components; and the entries of sparse
// types. The order of rows within an archetype counts. Neither the order of archetypes counts, by
// which queries go, nor the order in which types were registered or entries added, nor how rows are
// cut into chunks. A type counts by kind, package and name; types of one name, as functions declare
// them, are told apart by the order of registration. Padding, capacities, memory addresses and the
// world's tag in entities do not count, so two worlds that went through the same operations have
// the same hash. Indices and versions of entities count, so a world whose entities were created
// anew from a file has another hash. Floats count by their bits. In shared values, pointers,
// channels and the contents of interfaces do not count. Values of managed types do not count at
// all, because Go values have no stable bytes, nor do those of chunk types. A closed world has the
// hash of an empty one. The hash is the same on every platform with little-endian numbers; its
// definition is in docs/ecs.md. Cost: it reads every row, about 0.3 ns per byte.
func (w *World) Hash() uint64 {
	w.endBorrows("World.Hash")
	h, sum := hasher{w: w, types: w.typeHashes()}, uint64(0)
	for _, a := range w.archetypes.list {
		if a.table.Store.Len() > 0 {
			sum += h.archetype(a)
		}
	}
	for _, t := range w.types.sparse {
		if t.sparse.Len() > 0 {
			sum += h.sparse(t)
		}
	}
	return hashWords(sum)
}

// hashAt begins the term of a place.
func hashAt(place int) uint64 { return hashSeed + uint64(place)*hashRow }

// hashWord adds a word to a term.
func hashWord(h, word uint64) uint64 {
	high, low := bits.Mul64(h^word, hashStep)
	return high ^ low ^ bits.RotateLeft64(word, 32)
}

// hashEnd ends a term.
func hashEnd(h uint64) uint64 {
	high, low := bits.Mul64(h^hashSeed, hashStep)
	return high ^ low
}

// hashWords returns the term of words at place 0.
func hashWords(words ...uint64) uint64 {
	h := hashAt(0)
	for _, w := range words {
		h = hashWord(h, w)
	}
	return hashEnd(h)
}

// hashBytes adds bytes to a term.
func hashBytes(h uint64, b []byte) uint64 {
	for ; len(b) >= 8; b = b[8:] {
		h = hashWord(h, binary.LittleEndian.Uint64(b))
	}
	switch {
	case len(b) == 4:
		h = hashWord(h, uint64(binary.LittleEndian.Uint32(b)))
	case len(b) > 0:
		word := uint64(0)
		for i, x := range b {
			word |= uint64(x) << (8 * i)
		}
		h = hashWord(h, word)
	}
	return h
}

// typeHashes returns the hash of each type, by typeID. Any goroutine may call it.
func (w *World) typeHashes() []uint64 {
	if known := w.types.hashes.Load(); known != nil && len(*known) == len(w.types.list) {
		return *known
	}
	all, likes := make([]uint64, len(w.types.list)), map[deltaType]int{}
	for i, t := range w.types.list {
		d := describeType(t)
		key := deltaType{name: d.name, kind: d.kind}
		h := hashAt(0)
		for _, word := range [...]int{int(d.kind), likes[key], len(d.name)} {
			h = hashWord(h, uint64(word))
		}
		all[i] = hashEnd(hashBytes(h, []byte(d.name)))
		likes[key]++
	}
	w.types.hashes.Store(&all)
	return all
}

// archetype returns the hash of an archetype.
func (h *hasher) archetype(a *Archetype) uint64 {
	ids, types := uint64(0), uint64(0)
	for pos, c := range a.table.Store.Chunks() {
		for row, e := range entities(a.table.Store.Row(pos, 0).Base, a.table.Store.RowsOf(pos)) {
			ids += hashEnd(hashWord(hashAt(c.Start+row+1), hashedEntity(e)))
		}
	}
	for slot, id := range a.table.Types {
		values, disabled, shared := uint64(0), uint64(0), uint64(0)
		switch t := h.w.types.list[id]; {
		case t.kind == KindManaged || t.kind == KindChunk:
		case t.kind == KindShared:
			shared = h.shared(a.valueOf(id))
		case t.size > 0:
			values = h.column(a, t)
		}
		if h.w.types.list[id].enableable {
			disabled = h.disabled(a, uint16(slot))
		}
		types += hashWords(h.types[id], values, disabled, shared)
	}
	return hashWords(uint64(a.table.Store.Len()), ids, types)
}

// shared returns the hash of a shared value.
func (h *hasher) shared(v *value.Shared) uint64 {
	h.bytes = appendHashed(h.bytes[:0], v)
	return hashEnd(hashBytes(hashAt(0), h.bytes))
}

// hashedEntity returns what of an entity counts.
func hashedEntity(e Entity) uint64 { return entity.ID(e).In(0).Bits() }

// disabled returns the sum of the rows in which a type is disabled.
func (h *hasher) disabled(a *Archetype, slot uint16) (sum uint64) {
	for pos, c := range a.table.Store.Chunks() {
		words, n := a.table.Books.Bits(slot, pos).Words(), a.table.Store.RowsOf(pos)
		for at := 0; at < n; at += 64 {
			clear := ^words[at/64]
			if rest := n - at; rest < 64 {
				clear &= 1<<rest - 1
			}
			for ; clear != 0; clear &= clear - 1 {
				sum += hashEnd(hashAt(c.Start + at + bits.TrailingZeros64(clear) + 1))
			}
		}
	}
	return sum
}

// column returns the sum of the values of a type.
func (h *hasher) column(a *Archetype, t *typeInfo) (sum uint64) {
	c := a.table.Column(t.id)
	for pos, chunk := range a.table.Store.Chunks() {
		at, n := a.table.Store.Row(pos, 0), a.table.Store.RowsOf(pos)
		first := at.Element(c.Offset, c.Size)
		// Safe because n values of the column lie one after the other, and len elements of a
		// buffer.
		switch {
		case t.kind != KindBuffer:
			sum += h.values(first, t, n, chunk.Start)
		default:
			for row := range n {
				b := value.HeaderAt(first, row, c.Size)
				term := hashWord(hashAt(chunk.Start+row+1), uint64(b.Len()))
				sum += hashEnd(hashBytes(term, h.gather(t.spill.Elements(b), t, t.shape.Element, b.Len())))
			}
		}
	}
	return sum
}

// values returns the sum of n values that lie one after the other, the first in row start.
func (h *hasher) values(first unsafe.Pointer, t *typeInfo, n, start int) (sum uint64) {
	if t.isSpan(t.size) {
		all := unsafe.Slice((*byte)(first), n*t.size) // Safe because n values lie there.
		for row := range n {
			sum += hashEnd(hashBytes(hashAt(start+row+1), all[row*t.size:(row+1)*t.size]))
		}
		return sum
	}
	for row := range n {
		at := unsafe.Add(first, row*t.size) // Safe as above.
		sum += hashEnd(hashBytes(hashAt(start+row+1), h.gather(at, t, t.size, 1)))
	}
	return sum
}

// sparse returns the hash of the entries of a sparse type. Their order does not count: it follows
// that in which rows move and end, and so how rows are cut into chunks.
func (h *hasher) sparse(t *typeInfo) (sum uint64) {
	for i, e := range t.sparse.IDs() {
		at, off := sparse.Entry(i+1), uint64(0)
		if !t.sparse.Enabled(at) {
			off = 1
		}
		term := hashWord(hashWord(hashAt(0), hashedEntity(Entity(e))), off)
		sum += hashEnd(hashBytes(term, h.gather(t.sparse.Value(at), t, t.size, 1)))
	}
	return hashWords(h.types[t.id], uint64(t.sparse.Len()), sum)
}
