package trace

import (
	"encoding/binary"
	"math/bits"
)

// Every block is filled with words that follow from a stamp, the ordinal of the call that wrote the
// block, and from the place in the block: word k is mix(stamp) + k * wordStep, little-endian, cut
// at the end of the block. A byte from another block, from an earlier fill of the same block, or
// from another place in the block shows up as wrong.

// wordStep is odd, so that no two of the 2^64 words of a block are equal.
const wordStep = 0x9e3779b97f4a7c15

// mix spreads a stamp over 64 bits: the finalizer of SplitMix64 (Steele, Lea
// and Flood, OOPSLA 2014).
func mix(stamp uint64) uint64 {
	z := stamp * wordStep
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fill writes the pattern of a stamp over all of b.
func fill(b []byte, stamp uint64) {
	w := mix(stamp)
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, w)
		b = b[8:]
		w += wordStep
	}
	for i := range b {
		b[i] = byte(w >> (8 * i))
	}
}

// firstWrong returns the index of the first byte of b that does not match the pattern, or -1.
func firstWrong(b []byte, stamp uint64) int {
	w := mix(stamp)
	n := len(b)
	for len(b) >= 8 {
		if x := binary.LittleEndian.Uint64(b) ^ w; x != 0 {
			return n - len(b) + bits.TrailingZeros64(x)/8
		}
		b = b[8:]
		w += wordStep
	}
	for i := range b {
		if b[i] != byte(w>>(8*i)) {
			return n - len(b) + i
		}
	}
	return -1
}

// firstSet returns the index of the first byte of b that is not 0, or -1.
func firstSet(b []byte) int {
	n := len(b)
	for len(b) >= 8 {
		if x := binary.LittleEndian.Uint64(b); x != 0 {
			return n - len(b) + bits.TrailingZeros64(x)/8
		}
		b = b[8:]
	}
	for i := range b {
		if b[i] != 0 {
			return n - len(b) + i
		}
	}
	return -1
}

// wantByte is the pattern one byte at a time: the twin of fill and firstWrong.
func wantByte(stamp uint64, i int) byte {
	word := mix(stamp) + uint64(i/8)*wordStep
	return byte(word >> (i % 8 * 8))
}
