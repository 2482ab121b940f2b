package asm

// firstNotFullGo is the portable code: eight words are combined before one
// branch looks at them, through an array pointer, so that the body has no
// bounds checks. A group that holds a free bit is left to the second loop.
func firstNotFullGo(words []uint64) int {
	rest := words
	for len(rest) >= 8 {
		w := (*[8]uint64)(rest)
		if w[0]&w[1]&w[2]&w[3]&w[4]&w[5]&w[6]&w[7] != full {
			break
		}
		rest = rest[8:]
	}
	for i, w := range rest {
		if w != full {
			return len(words) - len(rest) + i
		}
	}
	return -1
}
