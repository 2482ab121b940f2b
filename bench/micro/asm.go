package micro

import (
	"math/bits"

	"quarry/asm"
)

var asmTables = []table{add, dot, fill, popCount, firstNotFull, compact, match}

var add = table{
	name: "Add", pkg: "asm", what: "dst[i] += x[i] of float64",
	x: "elements", unit: "element", sizes: powers,
	ways: []way{
		{name: "asm", build: addWay(func(dst, x []float64, times int) {
			for range times {
				asm.Add(dst, x)
			}
		})},
		{name: "loop", roof: true, build: addWay(func(dst, x []float64, times int) {
			x = x[:len(dst)]
			for range times {
				for i := range dst {
					dst[i] += x[i]
				}
			}
		})},
	},
}

func addWay(pass func(dst, x []float64, times int)) func(int) (*run, error) {
	return func(n int) (*run, error) {
		dst, x := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i%7 + 1)
		}
		return &run{
			pass: func(times int) { pass(dst, x, times) },
			check: func(times int) error {
				for i := range dst {
					if err := want("element", dst[i], x[i]*float64(times)); err != nil {
						return err
					}
				}
				return nil
			},
		}, nil
	}
}

// fold is a way whose reduction returns the same value each time. Sums are of whole numbers below
// 2^53, so their order does not matter.
func fold[T comparable](value T, pass func(times int) (last T)) *run {
	last := value
	return &run{
		pass: func(times int) { last = pass(times) },
		check: func(int) error {
			return want("result", last, value)
		},
	}
}

var dot = table{
	name: "Dot", pkg: "asm", what: "sum of x[i] * y[i] of float64",
	x: "elements", unit: "element", sizes: powers,
	ways: []way{
		{name: "asm", build: func(n int) (*run, error) {
			x, y, sum := dotColumns(n)
			return fold(sum, func(times int) (last float64) {
				for range times {
					last = asm.Dot(x, y)
				}
				return last
			}), nil
		}},
		{name: "loop", roof: true, build: func(n int) (*run, error) {
			x, y, sum := dotColumns(n)
			return fold(sum, func(times int) (last float64) {
				for range times {
					last = 0
					for i := range x {
						last += x[i] * y[i]
					}
				}
				return last
			}), nil
		}},
	},
}

// dotColumns returns columns with a sum of products that is exact in any order.
func dotColumns(n int) (x, y []float64, sum float64) {
	x, y = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i%5), float64(i%3)
		sum += float64(i % 5 * (i % 3))
	}
	return x, y, sum
}

var fill = table{
	name: "Fill", pkg: "asm", what: "16 bytes written to each element",
	x: "elements", unit: "element", sizes: powers,
	ways: []way{
		{name: "asm", build: fillWay(func(dst []Position, from, times int) {
			for k := range times {
				asm.Fill(dst, Position{float64(from + k), 1})
			}
		})},
		{name: "loop", roof: true, build: fillWay(func(dst []Position, from, times int) {
			for k := range times {
				v := Position{float64(from + k), 1}
				for i := range dst {
					dst[i] = v
				}
			}
		})},
	},
}

func fillWay(pass func(dst []Position, from, times int)) func(int) (*run, error) {
	return func(n int) (*run, error) {
		dst, done := make([]Position, n), 0
		return &run{
			pass: func(times int) {
				pass(dst, done, times)
				done += times
			},
			check: func(times int) error {
				for _, p := range dst {
					if err := want("element", p, Position{float64(times - 1), 1}); err != nil {
						return err
					}
				}
				return nil
			},
		}, nil
	}
}

var popCount = table{
	name: "PopCount", pkg: "asm", what: "set bits of words counted",
	x: "words", unit: "word", sizes: powers,
	ways: []way{
		{name: "asm", build: func(n int) (*run, error) {
			words, count := mixedWords(n)
			return fold(count, func(times int) (last int) {
				for range times {
					last = asm.PopCount(words)
				}
				return last
			}), nil
		}},
		{name: "loop", roof: true, build: func(n int) (*run, error) {
			words, count := mixedWords(n)
			return fold(count, func(times int) (last int) {
				for range times {
					last = 0
					for _, w := range words {
						last += bits.OnesCount64(w)
					}
				}
				return last
			}), nil
		}},
	},
}

// mixedWords returns words with runs of set and clear bits; count is how many bits are set.
func mixedWords(n int) (words []uint64, count int) {
	words = make([]uint64, n)
	for i := range n * 64 {
		if i/11%3 == 0 {
			words[i/64] |= 1 << (i % 64)
			count++
		}
	}
	return words, count
}

var firstNotFull = table{
	name: "FirstNotFull", pkg: "asm", what: "the first word with a clear bit, the last of n",
	x: "words", unit: "word", sizes: powers,
	ways: []way{
		{name: "asm", build: func(n int) (*run, error) {
			words := fullWords(n)
			return fold(n-1, func(times int) (last int) {
				for range times {
					last = asm.FirstNotFull(words)
				}
				return last
			}), nil
		}},
		{name: "loop", roof: true, build: func(n int) (*run, error) {
			words := fullWords(n)
			return fold(n-1, func(times int) (last int) {
				for range times {
					last = len(words)
					for i, w := range words {
						if w != 1<<64-1 {
							last = i
							break
						}
					}
				}
				return last
			}), nil
		}},
	},
}

// fullWords returns words that are full except for the last.
func fullWords(n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = 1<<64 - 1
	}
	words[n-1] = 1
	return words
}
