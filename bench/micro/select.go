package micro

import (
	"math/bits"
	"math/rand/v2"

	"quarry/asm"
)

var compact = table{
	name: "Compact", pkg: "asm", what: "the half of the elements of 8 bytes that a random mask names moved together",
	x: "elements", unit: "element", sizes: powers,
	ways: []way{
		{name: "asm", build: compactWay(asm.Compact[uint64])},
		{name: "loop", roof: true, build: compactWay(compactLoop)},
	},
}

// compactLoop walks the set bits of each word.
func compactLoop(dst, src, mask []uint64) int {
	n := 0
	for k, w := range mask {
		for ; w != 0; w &= w - 1 {
			dst[n] = src[k*64+bits.TrailingZeros64(w)]
			n++
		}
	}
	return n
}

func compactWay(do func(dst, src, mask []uint64) int) func(int) (*run, error) {
	return func(n int) (*run, error) {
		random := rand.New(rand.NewPCG(1, 2))
		dst, src, mask := make([]uint64, n), make([]uint64, n), make([]uint64, (n+63)/64)
		count, sum := 0, uint64(0)
		for i := range src {
			src[i] = random.Uint64()
			if random.IntN(2) == 0 {
				mask[i/64] |= 1 << (i % 64)
				count++
				sum += src[i] * uint64(count)
			}
		}
		got := 0
		return &run{
			pass: func(times int) {
				for range times {
					got = do(dst, src, mask)
				}
			},
			check: func(int) error {
				s := uint64(0)
				for i, v := range dst[:got] {
					s += v * uint64(i+1)
				}
				return want("sum of what was moved", s, sum)
			},
		}, nil
	}
}

// matchWidth is the number of words of a signature in match.
const matchWidth = 4

var match = table{
	name: "Match", pkg: "asm", what: "signatures of 4 words that have three bits and lack one, bits at random",
	x: "signatures", unit: "signature", sizes: powers[:6],
	ways: []way{
		{name: "asm", build: matchWay(func(dst, table []uint64, has, lacks *[matchWidth]uint64) int {
			return asm.Match(dst, table, has[:], lacks[:], matchWidth)
		})},
		{name: "loop", roof: true, build: matchWay(matchLoop)},
	},
}

func matchLoop(dst, table []uint64, has, lacks *[matchWidth]uint64) int {
	clear(dst)
	n := 0
	for i := range len(table) / matchWidth {
		s := (*[matchWidth]uint64)(table[i*matchWidth:])
		wrong := uint64(0)
		for k := range s {
			wrong |= has[k]&^s[k] | lacks[k]&s[k]
		}
		if wrong == 0 {
			dst[i/64] |= 1 << (i % 64)
			n++
		}
	}
	return n
}

func matchWay(do func(dst, table []uint64, has, lacks *[matchWidth]uint64) int) func(int) (*run, error) {
	return func(n int) (*run, error) {
		random := rand.New(rand.NewPCG(1, 2))
		signatures, dst := make([]uint64, n*matchWidth), make([]uint64, (n+63)/64)
		for i := range signatures {
			signatures[i] = random.Uint64()
		}
		has, lacks := &[matchWidth]uint64{3, 0, 1 << 40, 0}, &[matchWidth]uint64{0, 1 << 7, 0, 0}
		got, matching := 0, 0
		for i := range n {
			s := signatures[i*matchWidth:]
			if s[0]&3 == 3 && s[2]>>40&1 == 1 && s[1]>>7&1 == 0 {
				matching++
			}
		}
		return &run{
			pass: func(times int) {
				for range times {
					got = do(dst, signatures, has, lacks)
				}
			},
			check: func(int) error {
				set := 0
				for _, w := range dst {
					set += bits.OnesCount64(w)
				}
				if err := want("bits", set, matching); err != nil {
					return err
				}
				return want("matches", got, matching)
			},
		}, nil
	}
}
