package world

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"

	"quarry/asm"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// The words of values that Hash counts. Where all bytes of a value count as they are, they are
// hashed where they lie; others are gathered first, under a mask.

// hashGather is how many bytes of values are gathered at a time.
const hashGather = 4 << 10

// isSpan reports whether all bytes of values of size bytes count, as they are.
func (t *Type) isSpan(size int) bool {
	return len(t.Fields) == 1 && !t.Fields[0].Marked && t.Fields[0].Count == 0 && t.Fields[0].Size == size
}

// maskOf returns the bits of values, or of elements, that count, as bytes: padding does not, nor
// does the tag of an entity. It has those of so many values that they are whole words: of one, or
// of 8.
func (h *Hashing) maskOf(t *Type) []byte {
	if int(t.ID) >= len(h.masks) {
		h.masks = append(h.masks, make([][]byte, len(h.Types)-len(h.masks))...)
	}
	mask := h.masks[t.ID]
	if mask == nil {
		size := int(t.Go.Size())
		mask = make([]byte, size, 8*size)
		if maskFields(mask, t.Fields); size%8 != 0 {
			for range 7 {
				mask = append(mask, mask[:size]...)
			}
		}
		h.masks[t.ID] = mask
	}
	return mask
}

// maskFields sets the bits of fields that count.
func maskFields(mask []byte, fields []layout.Field) {
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Count > 0:
			for i := range f.Count {
				maskFields(mask[f.Offset+i*f.Size:], f.Each)
			}
		case f.Marked:
			binary.LittleEndian.PutUint64(mask[f.Offset:], entity.Untagged)
		default:
			for i := range f.Size {
				mask[f.Offset+i] = 0xff
			}
		}
	}
}

// wordStream adds up the words of bytes that come in pieces.
type wordStream struct {
	sum   uint64
	place int     // of the next word
	n     int     // bytes of the next word that have come
	next  [8]byte // the next word
}

// add adds bytes.
func (s *wordStream) add(b []byte) {
	if s.n > 0 {
		n := copy(s.next[s.n:], b)
		if s.n, b = s.n+n, b[n:]; s.n < 8 {
			return
		}
		s.sum += asm.HashWords(s.next[:], s.place, ^uint64(0))
		s.place, s.n = s.place+1, 0
	}
	whole := len(b) &^ 7
	s.sum += asm.HashWords(b[:whole], s.place, ^uint64(0))
	s.place += whole / 8
	s.n = copy(s.next[:], b[whole:])
}

// end returns the sum, after a last word that is filled with zeros.
func (s *wordStream) end() uint64 {
	if s.n > 0 {
		clear(s.next[s.n:])
		s.sum += asm.HashWords(s.next[:], s.place, ^uint64(0))
	}
	return s.sum
}

// stream adds n values that lie one after the other.
func (h *Hashing) stream(s *wordStream, first unsafe.Pointer, t *Type, n int) {
	all := unsafe.Slice((*byte)(first), n*t.Size) // Safe because n values lie there.
	if t.isSpan(t.Size) {
		s.add(all)
		return
	}
	mask := h.maskOf(t)
	if t.Size == 8 {
		s.sum += asm.HashWords(all, s.place, binary.LittleEndian.Uint64(mask))
		s.place += n
		return
	}
	most := max(hashGather/len(mask), 1) * len(mask)
	for len(all) > 0 {
		part := all[:min(len(all), most)]
		s.add(h.masked(part, mask))
		all = all[len(part):]
	}
}

// words returns the sum of n values of size bytes that lie one after the other, the first at place
// 0.
func (h *Hashing) words(first unsafe.Pointer, t *Type, size, n int) uint64 {
	if n == 0 || size == 0 {
		return 0
	}
	all := unsafe.Slice((*byte)(first), n*size) // Safe because n values lie there.
	if !t.isSpan(size) {
		all = h.masked(all, h.maskOf(t))
	}
	if len(all)%8 == 0 {
		return asm.HashWords(all, 0, ^uint64(0))
	}
	var s wordStream
	s.add(all)
	return s.end()
}

// copyMasked copies the bits that mask has.
func copyMasked(to, from, mask []byte) {
	to, from = to[:len(mask)], from[:len(mask)]
	for ; len(mask) >= 8; to, from, mask = to[8:], from[8:], mask[8:] {
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from)&binary.LittleEndian.Uint64(mask))
	}
	for i := range mask {
		to[i] = from[i] & mask[i]
	}
}

// masked returns the bits of values that count, until the next call.
func (h *Hashing) masked(all, mask []byte) []byte {
	if cap(h.bytes) < len(all) {
		h.bytes = make([]byte, max(len(all), hashGather))
	}
	to := h.bytes[:len(all)]
	for at := 0; at < len(all); at += len(mask) {
		mask := mask[:min(len(mask), len(all)-at)]
		copyMasked(to[at:], all[at:], mask)
	}
	return to
}

// Shared returns the hash of a shared value.
func (h *Hashing) Shared(v *value.Shared) uint64 {
	h.bytes = appendHashed(h.bytes[:0], v)
	return HashEnd(hashBytes(HashAt(0), h.bytes))
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
			return word(to, (v.Field(1).Uint()<<32|v.Field(0).Uint())&entity.Untagged)
		}
		for i := range v.NumField() {
			to = appendHashedPart(to, v.Field(i))
		}
	}
	return to
}
