package asm

import "unsafe"

// fillGo is the portable code. The runtime's copy moves whole vectors, so the filled part is copied
// behind itself, doubling, up to a block that stays in the L1 cache; that block is then copied
// repeatedly.
func fillGo[T any](dst []T, v T) {
	const blockBytes = 4096
	block := max(16, blockBytes/int(max(1, unsafe.Sizeof(v))))
	done := min(16, len(dst))
	for i := range dst[:done] {
		dst[i] = v
	}
	for done < len(dst) {
		done += copy(dst[done:], dst[:min(done, block)])
	}
}
