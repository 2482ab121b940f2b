package asm_test

import (
	"encoding/binary"
	"math"
	"testing"

	"quarry/asm"
)

// FuzzAxpy: data is the elements, pairs of (dst, x), so any bit pattern comes
// up; both element types are made of the same bytes. off moves dst within its
// vector.
func FuzzAxpy(f *testing.F) {
	f.Add(uint64(0x3ff0000000000000), byte(0), []byte("sixteen bytes or so, one pair"))
	f.Add(uint64(0x7ff0000000000000), byte(3), make([]byte, 16*70))
	f.Add(uint64(0x8000000000000001), byte(15), []byte{})
	f.Fuzz(func(t *testing.T, a uint64, off byte, data []byte) {
		lo := int(off % 16)
		n := len(data) / 8
		dst, x := make([]float32, lo+n+1), make([]float32, n)
		for _, impl := range asm.AxpyImpls32() {
			for i := range n {
				dst[lo+i] = math.Float32frombits(binary.LittleEndian.Uint32(data[8*i:]))
				x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[8*i+4:]))
			}
			dst[lo+n] = 42
			checkAxpy(t, impl.Func, dst[lo:lo+n], math.Float32frombits(uint32(a>>32)), x, "%s float32", impl.Name)
			if dst[lo+n] != 42 {
				t.Fatalf("%s float32: n=%d off=%d: the element behind dst was overwritten", impl.Name, n, lo)
			}
		}
		n = len(data) / 16
		wide, y := make([]float64, lo+n+1), make([]float64, n)
		for _, impl := range asm.AxpyImpls64() {
			for i := range n {
				wide[lo+i] = math.Float64frombits(binary.LittleEndian.Uint64(data[16*i:]))
				y[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[16*i+8:]))
			}
			wide[lo+n] = 42
			checkAxpy(t, impl.Func, wide[lo:lo+n], math.Float64frombits(a), y, "%s float64", impl.Name)
			if wide[lo+n] != 42 {
				t.Fatalf("%s float64: n=%d off=%d: the element behind dst was overwritten", impl.Name, n, lo)
			}
		}
	})
}

// FuzzFirstNotFull: n full words, of which each byte pair of edits clears one
// bit (a place, a bit), moved by off words within their vector.
func FuzzFirstNotFull(f *testing.F) {
	f.Add(uint16(0), byte(0), []byte{})
	f.Add(uint16(100), byte(3), []byte{99, 63})
	f.Add(uint16(300), byte(7), []byte{250, 1, 40, 0})
	f.Fuzz(func(t *testing.T, n uint16, off byte, edits []byte) {
		lo := int(off % 8)
		w := make([]uint64, lo+int(n%2048)+1)[lo:] // the word behind the end stays free
		w = w[: len(w)-1 : len(w)]
		for i := range w {
			w[i] = math.MaxUint64
		}
		for ; len(edits) >= 2 && len(w) > 0; edits = edits[2:] {
			w[(len(w)-1)*int(edits[0])/255] &^= 1 << (edits[1] % 64)
		}
		want := asm.FirstNotFullRef(w)
		for _, impl := range asm.FirstNotFullImpls() {
			if got := impl.Func(w); got != want {
				t.Fatalf("%s: %d words: got %d want %d", impl.Name, len(w), got, want)
			}
		}
	})
}

// wordPairs reads data as words: those at even places, those at odd ones, all.
// Bytes that make no whole pair are left out.
func wordPairs(data []byte) (even, odd, all []uint64) {
	for ; len(data) >= 16; data = data[16:] {
		even = append(even, binary.LittleEndian.Uint64(data))
		odd = append(odd, binary.LittleEndian.Uint64(data[8:]))
		all = append(all, even[len(even)-1], odd[len(odd)-1])
	}
	return even, odd, all
}
