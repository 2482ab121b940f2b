package micro

import (
	"math/bits"
	"math/rand/v2"

	"quarry/bitmask"
)

var bitmaskTables = []table{findRun, ones, lastFree}

// findWords is how many words findRun looks at per step: they fit the first-level cache.
const findWords = 1024

var findRun = table{
	name: "FindRun", pkg: "bitmask", what: "the first run of n zeros of one word of random runs",
	x: "zeros", unit: "search", sizes: []int{1, 2, 4, 8, 16, 32, 64},
	ways: []way{
		{name: "bitmask", build: func(n int) (*run, error) {
			words, sum := runWords(n)
			r := fold(sum, func(times int) (last int) {
				for range times {
					last = 0
					for _, w := range words {
						at, _ := bitmask.FindRun(w, n)
						last += at
					}
				}
				return last
			})
			r.ops = findWords
			return r, nil
		}},
		{name: "loop", roof: true, build: func(n int) (*run, error) {
			words, sum := runWords(n)
			r := fold(sum, func(times int) (last int) {
				for range times {
					last = 0
					for _, w := range words {
						last += runLoop(w, n)
					}
				}
				return last
			})
			r.ops = findWords
			return r, nil
		}},
	},
}

// runLoop goes from run to run of zeros, and returns 64 when none is long enough.
func runLoop(w uint64, n int) int {
	for at := 0; at < 64; {
		at += bits.TrailingZeros64(^(w >> at)) // past the ones
		zeros := min(bits.TrailingZeros64(w>>at), 64-at)
		if zeros >= n && at < 64 {
			return at
		}
		at += zeros
	}
	return 64
}

// runWords returns words with runs of eight bits on average; sum is the sum of the offsets to find,
// computed by asking at every offset whether the run is clear.
func runWords(n int) (words []uint64, sum int) {
	random := rand.New(rand.NewPCG(3, 4))
	words = make([]uint64, findWords)
	bit := uint64(0)
	for i := range words {
		for k := range 64 {
			if random.IntN(8) == 0 {
				bit ^= 1
			}
			words[i] |= bit << k
		}
		at := 0
		for at+n <= 64 && words[i]>>at&bitmask.Mask(0, n) != 0 {
			at++
		}
		if at+n > 64 {
			at = 64
		}
		sum += at
	}
	return words, sum
}

var ones = table{
	name: "Ones", pkg: "bitmask", what: "the set bits of a row of bits walked, a third of them set in runs",
	x: "words", unit: "word", sizes: powers[:6],
	ways: []way{
		{name: "bitmask", build: onesWay(func(words []uint64) (sum int) {
			for i := range bitmask.Bits(words).Ones() {
				sum += i
			}
			return sum
		})},
		{name: "loop", roof: true, build: onesWay(func(words []uint64) (sum int) {
			for k, w := range words {
				for ; w != 0; w &= w - 1 {
					sum += k*64 + bits.TrailingZeros64(w)
				}
			}
			return sum
		})},
	},
}

func onesWay(walk func([]uint64) int) func(int) (*run, error) {
	return func(n int) (*run, error) {
		words, _ := mixedWords(n)
		sum := 0
		for i := range n * 64 {
			if words[i/64]>>(i%64)&1 == 1 {
				sum += i
			}
		}
		return fold(sum, func(times int) (last int) {
			for range times {
				last = walk(words)
			}
			return last
		}), nil
	}
}

var lastFree = table{
	name: "LastFree", pkg: "bitmask", what: "the only free unit of n words, in the last, claimed and given back",
	x: "words", unit: "pair", sizes: powers[:6],
	ways: []way{
		{name: "Hierarchy", build: buildLastOfHierarchy},
		{name: "Bits", build: func(n int) (*run, error) {
			b := bitmask.Bits(fullWords(n))
			b.SetRange(n*64-64, 63)
			b.ClearBit(n*64 - 1)
			return claimed(n, func(times int) (sum int) {
				for range times {
					at, _ := b.TryAlloc(1)
					b.TryFree(at, 1)
					sum += at
				}
				return sum
			}), nil
		}},
		{name: "loop", roof: true, build: func(n int) (*run, error) {
			words := fullWords(n)
			words[n-1] = 1<<63 - 1
			return claimed(n, func(times int) (sum int) {
				for range times {
					for i, w := range words {
						if w != 1<<64-1 {
							at := bits.TrailingZeros64(^w)
							words[i] |= 1 << at
							sum += i*64 + at
							words[i] &^= 1 << at
							break
						}
					}
				}
				return sum
			}), nil
		}},
	},
}

func buildLastOfHierarchy(n int) (*run, error) {
	h := bitmask.NewHierarchy(n * 64)
	for i := range n {
		h.TryAllocAt(i*64, 64)
	}
	h.TryFree(n*64-1, 1)
	return claimed(n, func(times int) (sum int) {
		for range times {
			at, _ := h.TryAlloc(1)
			h.TryFree(at, 1)
			sum += at
		}
		return sum
	}), nil
}

// claimed is a run in which pairs claims the last unit and gives it back, times times, and returns
// the sum of the units.
func claimed(n int, pairs func(times int) int) *run {
	sum := 0
	return &run{ops: 1,
		pass:  func(times int) { sum += pairs(times) },
		check: func(times int) error { return want("sum of units", sum, times*(n*64-1)) },
	}
}
