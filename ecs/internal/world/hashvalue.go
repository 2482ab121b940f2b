package world

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// The bytes of values that Hash counts. Where all bytes of a value count as they are, they are
// hashed where they lie; others are gathered first.

// isSpan reports whether all bytes of values of size bytes count, as they are.
func (t *Type) isSpan(size int) bool {
	return len(t.Fields) == 1 && !t.Fields[0].Marked && t.Fields[0].Count == 0 && t.Fields[0].Size == size
}

// gather returns the bytes that count of n values of size bytes, which lie one after the other.
// They are valid until the next call.
func (h *Hasher) gather(first unsafe.Pointer, t *Type, size, n int) []byte {
	if n == 0 || size == 0 {
		return nil
	}
	if t.isSpan(size) {
		return unsafe.Slice((*byte)(first), n*size) // Safe because n values lie there.
	}
	h.bytes = h.bytes[:0]
	for i := range n {
		h.bytes = appendFields(h.bytes, unsafe.Add(first, i*size), t.Fields) // Safe as above.
	}
	return h.bytes
}

// appendFields appends the bytes of a value that count.
func appendFields(to []byte, p unsafe.Pointer, fields []layout.Field) []byte {
	for i := range fields {
		f := &fields[i]
		at := unsafe.Add(p, f.Offset) // Safe because the field lies inside the value at p.
		switch {
		case f.Count > 0:
			for i := range f.Count {
				to = appendFields(to, unsafe.Add(at, i*f.Size), f.Each) // Safe because Count elements lie there.
			}
		case f.Marked:
			// Safe because marked fields are entities.
			to = binary.LittleEndian.AppendUint64(to, hashedEntity(*(*entity.ID)(at)))
		default:
			to = append(to, unsafe.Slice((*byte)(at), f.Size)...) // Safe because the field is so long.
		}
	}
	return to
}

// appendHashed appends what counts of a shared value: numbers as 8 bytes, texts with their lengths,
// and what is made of them.
func appendHashed(to []byte, v *value.Shared) []byte {
	return appendHashedPart(to, reflect.ValueOf(v.Any()))
}

func appendHashedPart(to []byte, v reflect.Value) []byte {
	word := binary.LittleEndian.AppendUint64
	switch v.Kind() {
	case reflect.Bool:
		one := uint64(0)
		if v.Bool() {
			one = 1
		}
		return word(to, one)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return word(to, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return word(to, v.Uint())
	case reflect.Float32, reflect.Float64:
		return word(to, math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		return word(word(to, math.Float64bits(real(v.Complex()))), math.Float64bits(imag(v.Complex())))
	case reflect.String:
		return append(word(to, uint64(v.Len())), v.String()...)
	case reflect.Array:
		if v.Type().Size() == 0 { // there may be more elements than anybody can walk
			return to
		}
		for i := range v.Len() {
			to = appendHashedPart(to, v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == EntityType {
			return word(to, hashedEntity(entity.FromBits(v.Field(1).Uint()<<32|v.Field(0).Uint())))
		}
		for i := range v.NumField() {
			to = appendHashedPart(to, v.Field(i))
		}
	}
	return to
}

// Hasher computes the hash of a world.
type Hasher struct {
	W     *World
	Types []uint64 // by TypeID
	bytes []byte   // of a value that is gathered
}

// hashedEntity returns what of an entity counts.
func hashedEntity(e entity.ID) uint64 { return e.In(0).Bits() }
