package asm

import "encoding/binary"

// hashWordsGo is the portable code, four words at a time, so that one multiplication need not wait
// for another.
func hashWordsGo(b []byte, key, mask uint64) (sum uint64) {
	var x, y uint64
	for len(b) >= 32 {
		w := (*[32]byte)(b)
		x += hashTerm(binary.LittleEndian.Uint64(w[:8])&mask ^ key)
		y += hashTerm(binary.LittleEndian.Uint64(w[8:16])&mask ^ (key + hashPlace))
		x += hashTerm(binary.LittleEndian.Uint64(w[16:24])&mask ^ (key + 2*hashPlace&(1<<64-1)))
		y += hashTerm(binary.LittleEndian.Uint64(w[24:])&mask ^ (key + 3*hashPlace&(1<<64-1)))
		b, key = b[32:], key+4*hashPlace&(1<<64-1)
	}
	for ; len(b) >= 8; b, key = b[8:], key+hashPlace {
		x += hashTerm(binary.LittleEndian.Uint64(b)&mask ^ key)
	}
	return x + y
}

func hashTerm(x uint64) uint64 {
	x = (x ^ x>>30) * hashMix1
	x = (x ^ x>>27) * hashMix2
	return x ^ x>>31
}
