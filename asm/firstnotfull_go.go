package asm

// firstNotFullGo is the portable code. It combines eight words before one branch tests them,
// through an array pointer, so that the body has no bounds checks. The second loop searches the
// group that holds a free bit.
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
