package asm

// matchGo is the portable code. w&l | h&^w holds the wrong bits of one word. Most signatures differ
// in their first words, so the loop over the words of a signature stops at the first wrong one.
func matchGo(dst, table, has, lacks []uint64, width int) int {
	count, i := 0, 0
	lacks = lacks[:len(has)]
	var word uint64
	for ; len(table) >= width; table = table[width:] {
		signature := table[:len(has)]
		matches := uint64(1)
		for j, h := range has {
			w := signature[j]
			if w&lacks[j]|h&^w != 0 {
				matches = 0
				break
			}
		}
		word |= matches << (i & 63)
		count += int(matches)
		i++
		if i&63 == 0 {
			dst[i/64-1] = word
			word = 0
		}
	}
	if i&63 != 0 {
		dst[i/64] = word
	}
	return count
}
