package asm

import "fmt"

// Match asks of every signature in table whether it has all bits of has and
// none of lacks, and sets or clears bit i%64 of dst[i/64] for signature i
// accordingly; the bits of the last word behind the last signature are cleared.
// It returns how many match. A signature is width words, and table holds them
// one behind the other, so there are len(table)/width:
//
//	table   |sig 0 ... width words|sig 1 ...|sig 2 ...|
//	dst     bit 0                  bit 1     bit 2
//
// Archetypes are matched to a query in one call this way: bit c of a signature
// says that the archetype has component type c. A bit that is in both has and
// lacks is in no signature's favour: nothing matches then.
//
// Cost: one call per 256 KiB, no allocation; 1,024 signatures of 16 words took
// 6.2 us in Go, 1.5 with AVX2, 0.65 with AVX512, 10,000 of them 47, 17 and 8
// us. Assembly serves widths of 1 to 16 words with AVX512, multiples of 4 up to
// 64 with AVX2; other widths run the Go twin. dst must not overlap the rest.
// Nothing outside the first (signatures+63)/64 words of dst is written.
//
// Match panics if width < 1, if len(table) is no multiple of width, if has or
// lacks are not width words long, or if dst is too short.
func Match(dst, table, has, lacks []uint64, width int) int {
	checkMatch(dst, table, has, lacks, width)
	kernel := Go
	if n := len(table) / width; n >= matchMin {
		switch {
		case best == AVX512 && width <= 16:
			kernel = AVX512
		case best == AVX2 && width%4 == 0 && width <= 64:
			kernel = AVX2
		}
	}
	if kernel == Go {
		return matchGo(dst, table, has, lacks, width)
	}
	count := 0
	most := callBytes / 8 / width / 64 * 64 // signatures, so that a call begins with a word of dst
	for len(table) > 0 {
		n := min(len(table)/width, most)
		if kernel == AVX512 {
			matchAVX512(dst, table[:n*width], has, lacks, width)
		} else {
			matchAVX2(dst, table[:n*width], has, lacks, width)
		}
		words := (n + 63) / 64
		count += popcountGo(dst[:words])
		dst, table = dst[words:], table[n*width:]
	}
	return count
}

// matchMin is the number of signatures from which assembly is faster than the
// Go twin: at 8 signatures of 1, 4, 16 words 13, 19, 35 ns in Go, -, 14, 18 with
// AVX2, 12, 12, 12 with AVX512; at 4 signatures of 4 words 9 to 10 for all.
const matchMin = 8

func checkMatch(dst, table, has, lacks []uint64, width int) {
	if width < 1 {
		panic(fmt.Sprintf("asm: Match: width=%d is less than 1", width))
	}
	n := len(table) / width
	switch {
	case n*width != len(table):
		panic(fmt.Sprintf("asm: Match: len(table)=%d is no multiple of width=%d", len(table), width))
	case len(has) != width:
		panic(fmt.Sprintf("asm: Match: len(has)=%d is not width=%d", len(has), width))
	case len(lacks) != width:
		panic(fmt.Sprintf("asm: Match: len(lacks)=%d is not width=%d", len(lacks), width))
	case len(dst) < (n+63)/64:
		panic(fmt.Sprintf("asm: Match: len(dst)=%d is less than %d words for %d signatures",
			len(dst), (n+63)/64, n))
	}
}
