package blob

import "math/bits"

// Constants of the hash: the fractions of the square roots of 2 and of 3, made odd.
const (
	hashSeed = 0x6a09e667f3bcc909
	hashStep = 0xbb67ae8584caa73b
)

// hashWords returns a hash of words, the same on every system. Files have it, so it must not
// change. Equal hashes prove nothing: bytes are compared too. Cost: a product of 128 bits a word.
func hashWords(words []word) uint64 {
	h := uint64(hashSeed) ^ uint64(len(words))
	for _, w := range words {
		hi, lo := bits.Mul64(h^uint64(w), hashStep)
		h = hi ^ lo ^ bits.RotateLeft64(uint64(w), 32)
	}
	hi, lo := bits.Mul64(h^bits.RotateLeft64(hashSeed, 17), hashStep)
	return hi ^ lo
}

// hashText is hashWords of a text.
func hashText(text string) uint64 {
	words := make([]word, 0, len(text)/8+2)
	for i := 0; i < len(text); i += 8 {
		var w word
		for k := i; k < min(i+8, len(text)); k++ {
			w |= word(text[k]) << (8 * (k - i))
		}
		words = append(words, w)
	}
	return hashWords(append(words, word(len(text))))
}
