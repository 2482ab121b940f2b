package ecs

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"io"
	"math"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// Hash returns a 64-bit FNV-1a hash of all living entities. For every archetype with rows, in order
// of creation, it covers the types, the entities, and the fields, enable bits and buffers of their
// components. The order of the entries of sparse types does not count. Padding, capacities, memory
// addresses and the world's tag in entities do not count, so two worlds that went through the same
// operations have the same hash. Indices and versions of entities count, so a world whose entities
// were created anew from a file has another hash. Floats count by their bits. In shared values,
// pointers, channels and the contents of interfaces do not count. Values of managed types do not
// count at all, because Go values have no stable bytes. A closed world has the hash of an empty
// one. Cost: it reads every row, about 1 ns per byte.
func (w *World) Hash() uint64 {
	w.endBorrows("World.Hash")
	h := hasher{w: w, h: fnv.New64a()}
	for _, a := range w.archetypes.list {
		if a.table.Store.Len() > 0 {
			h.archetype(a)
		}
	}
	for _, t := range w.types.sparse {
		if t.sparse.Len() > 0 {
			h.sparse(t)
		}
	}
	return h.h.Sum64()
}

type hasher struct {
	w *World
	h hash.Hash64
}

func (h *hasher) word(v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	h.h.Write(b[:])
}

func (h *hasher) entity(e Entity) {
	h.word(uint64(entity.ID(e.in(0)).Bits()<<32 | uint64(e.Version())))
}

func (h *hasher) archetype(a *Archetype) {
	h.word(uint64(len(a.table.Types)))
	for _, id := range a.table.Types {
		h.h.Write([]byte(h.w.types.list[id].name))
		h.word(uint64(id))
		if v := a.valueOf(id); v != nil {
			h.shared(reflect.ValueOf(v.Any()))
		}
	}
	h.word(uint64(a.table.Store.Len()))
	// Column by column, not chunk by chunk: how rows are cut into chunks depends on the memory that
	// there was.
	for pos := range a.table.Store.Chunks() {
		for _, e := range entities(a.table.Store.Row(pos, 0).Base, a.table.Store.RowsOf(pos)) {
			h.entity(e)
		}
	}
	for _, c := range a.table.Store.Columns() {
		for pos := range a.table.Store.Chunks() {
			at := a.table.Store.Row(pos, 0)
			// Safe because c is a column of this chunk.
			h.column(unsafe.Add(at.Base, uintptr(c.Offset)*at.Scale), a.table.Store.RowsOf(pos), c)
		}
	}
	for _, slot := range a.table.Books.Toggling() {
		h.bits(a, slot)
	}
}

// bits hashes the enable bits of a type, 64 rows a word.
func (h *hasher) bits(a *Archetype, slot uint16) {
	word, n := uint64(0), 0
	for pos := range a.table.Store.Chunks() {
		for row := range a.table.Store.RowsOf(pos) {
			if a.table.Books.Bits(slot, pos).Has(row) {
				word |= 1 << (n % 64)
			}
			if n++; n%64 == 0 {
				h.word(word)
				word = 0
			}
		}
	}
	h.word(word)
}

func (h *hasher) column(column unsafe.Pointer, n int, c column) {
	t := h.w.types.list[c.Key]
	// Safe because row < n, the chunk's rows, and i < length, the buffer's elements.
	for row := range n {
		if !t.buffer {
			h.value(unsafe.Add(column, uintptr(row)*uintptr(c.Size)), t.fields)
			continue
		}
		b := value.HeaderAt(column, row, c.Size)
		h.word(uint64(b.Len()))
		first := t.spill.Elements(b)
		for i := range b.Len() {
			h.value(unsafe.Add(first, i*t.shape.Element), t.fields)
		}
	}
}

func (h *hasher) value(p unsafe.Pointer, fields []layout.Field) {
	for i := range fields {
		f := &fields[i]
		at := unsafe.Add(p, f.Offset) // Safe because the field lies inside the value at p.
		switch {
		case f.Count > 0:
			for i := range f.Count {
				h.value(unsafe.Add(at, i*f.Size), f.Each) // Safe because Count elements lie there.
			}
		case f.Marked:
			h.entity(*(*Entity)(at)) // Safe because marked fields are entities.
		default:
			h.h.Write(unsafe.Slice((*byte)(at), f.Size))
		}
	}
}

// shared hashes a shared value: numbers, texts and what is made of them.
func (h *hasher) shared(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		one := uint64(0)
		if v.Bool() {
			one = 1
		}
		h.word(one)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		h.word(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		h.word(v.Uint())
	case reflect.Float32, reflect.Float64:
		h.word(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		h.word(math.Float64bits(real(v.Complex())))
		h.word(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		h.word(uint64(v.Len()))
		io.WriteString(h.h, v.String())
	case reflect.Array:
		if v.Type().Size() == 0 { // there may be more elements than anybody can walk
			return
		}
		for i := range v.Len() {
			h.shared(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Entity]() {
			h.entity(Entity(entity.FromBits(v.Field(1).Uint()<<32 | v.Field(0).Uint())))
			return
		}
		for i := range v.NumField() {
			h.shared(v.Field(i))
		}
	}
}
