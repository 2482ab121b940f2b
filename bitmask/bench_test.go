package bitmask_test

import (
	"math/rand/v2"
	"testing"

	"quarry/bitmask"
)

// mixed returns words of free and used runs with a mean length of 8 units, from
// a fixed seed.
func mixed(n int) []uint64 {
	rng := rand.New(rand.NewPCG(3, 4))
	b := make([]uint64, n)
	bit := rng.Uint64() & 1
	for i := range n * 64 {
		if rng.IntN(8) == 0 {
			bit ^= 1
		}
		b[i/64] |= bit << uint(i%64)
	}
	return b
}

// BenchmarkFindRun is one search in one word of a table in the first-level
// cache. The loops stand in each case, so that no call goes through a variable.
func BenchmarkFindRun(b *testing.B) {
	words := mixed(2048)
	for _, n := range []int{1, 2, 3, 4, 8, 16, 24, 32, 33, 48, 64} {
		b.Run("impl=Go/n="+itoa(n)+"/words=1", func(b *testing.B) {
			sum := 0
			for i := range b.N {
				at, _ := bitmask.FindRun(words[i&2047], n)
				sum += at
			}
			sink = sum
		})
	}
	for _, n := range []int{1, 4, 16, 64} {
		b.Run("impl=Ref/n="+itoa(n)+"/words=1", func(b *testing.B) {
			sum := 0
			for i := range b.N {
				at, _ := bitmask.FindRunRef(words[i&2047], n)
				sum += at
			}
			sink = sum
		})
	}
}

func BenchmarkLongestRun(b *testing.B) {
	words := mixed(2048)
	for _, impl := range []string{"Go", "Ref"} {
		b.Run("impl="+impl+"/words=1", func(b *testing.B) {
			sum := 0
			for i := range b.N {
				if impl == "Go" {
					_, n := bitmask.LongestRun(words[i&2047])
					sum += n
				} else {
					_, n := bitmask.LongestRunRef(words[i&2047])
					sum += n
				}
			}
			sink = sum
		})
	}
}

// BenchmarkBitsFindRun is one search for a run that may cross words, in a table
// of groups of words in the first-level cache.
func BenchmarkBitsFindRun(b *testing.B) {
	for _, words := range []int{8, 64} {
		table := mixed(2048)
		groups := 2048 / words
		for _, n := range []int{1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 100} {
			b.Run("impl=Go/n="+itoa(n)+"/words="+itoa(words), func(b *testing.B) {
				sum := 0
				for i := range b.N {
					k := i & (groups - 1) * words
					at, _ := bitmask.Bits(table[k : k+words]).FindRun(n)
					sum += at
				}
				sink = sum
			})
		}
	}
	for _, n := range []int{1, 16} {
		table := mixed(2048)
		b.Run("impl=Ref/n="+itoa(n)+"/words=8", func(b *testing.B) {
			sum := 0
			for i := range b.N {
				k := i & 255 * 8
				at, _ := rowOf(table[k : k+8]).FindRun(n)
				sum += at
			}
			sink = sum
		})
	}
}

func BenchmarkBitsLongestRun(b *testing.B) {
	table := mixed(2048)
	for _, words := range []int{1, 8, 64} {
		b.Run("impl=Go/words="+itoa(words), func(b *testing.B) {
			sum := 0
			for i := range b.N {
				k := i & (2048/words - 1) * words
				_, n := bitmask.Bits(table[k : k+words]).LongestRun()
				sum += n
			}
			sink = sum
		})
	}
}

func BenchmarkBitsBest(b *testing.B) {
	table := bitmask.Bits(mixed(64))
	for _, n := range []int{4, 16} {
		b.Run("impl=BestRun/n="+itoa(n)+"/words=64", func(b *testing.B) {
			for range b.N {
				sink, _ = table.FindBestRun(n)
			}
		})
	}
}

// BenchmarkBitsWalk is a walk over all of 64 words, about 2,048 bits and 256
// runs.
func BenchmarkBitsWalk(b *testing.B) {
	table := bitmask.Bits(mixed(64))
	b.Run("impl=Ones/words=64", func(b *testing.B) {
		sum := 0
		for range b.N {
			for i := range table.Ones() {
				sum += i
			}
		}
		sink = sum
	})
	b.Run("impl=FreeRuns/words=64", func(b *testing.B) {
		sum := 0
		for range b.N {
			for at, n := range table.FreeRuns() {
				sum += at ^ n
			}
		}
		sink = sum
	})
}

// BenchmarkHierarchy has one unit free among 2^20 at a place that changes from
// step to step: First finds it, Churn frees a unit, finds and claims it. Flat is
// First without summaries.
func BenchmarkHierarchy(b *testing.B) {
	const units = 1 << 20
	rng := rand.New(rand.NewPCG(13, 14))
	places := make([]int, 4096)
	for i := range places {
		places[i] = rng.IntN(units)
	}
	filled := func() *bitmask.Hierarchy {
		h := bitmask.NewHierarchy(units)
		for i := 0; i < units; i += 64 {
			h.TryAllocAt(i, 64)
		}
		return h
	}
	for _, at := range []int{0, units / 2, units - 1} {
		b.Run("impl=First/at="+itoa(at)+"/words=16384", func(b *testing.B) {
			h := filled()
			h.TryFree(at, 1)
			sum := 0
			for range b.N {
				got, _ := h.First()
				sum += got
			}
			if sum != at*b.N {
				b.Fatalf("got a sum of %d want %d", sum, at*b.N)
			}
		})
	}
	b.Run("impl=Flat/words=16384", func(b *testing.B) {
		flat := make(bitmask.Bits, units/64)
		flat.SetRange(0, units-1)
		for range b.N {
			sink, _ = flat.FindRun(1)
		}
	})
	b.Run("impl=Churn/n=1/words=16384", func(b *testing.B) {
		h := filled()
		for i := range b.N {
			h.TryFree(places[i&4095], 1)
			if got, ok := h.TryAlloc(1); !ok || got != places[i&4095] {
				b.Fatalf("got %d %v want %d", got, ok, places[i&4095])
			}
		}
	})
	for _, n := range []int{16, 64} {
		b.Run("impl=Churn/n="+itoa(n)+"/words=16384", func(b *testing.B) {
			h := filled()
			for i := 0; i < units; i += 64 {
				h.TryFree(i, 1) // every word has something free, none a run
			}
			far := units - 64
			h.TryAllocAt(far, 1)
			for range b.N {
				h.TryFree(far, n)
				if got, ok := h.TryAlloc(n); !ok || got != far {
					b.Fatalf("got %d %v want %d", got, ok, far)
				}
			}
		})
	}
	b.Run("impl=Refuse/n=1/words=16384", func(b *testing.B) {
		h := filled()
		for range b.N {
			if _, ok := h.TryAlloc(1); ok {
				b.Fatal("got a unit of a full hierarchy")
			}
		}
	})
}

// BenchmarkWord is one claim and one free of a run in an empty word.
func BenchmarkWord(b *testing.B) {
	for _, n := range []int{1, 8, 64} {
		b.Run("impl=AllocFree/n="+itoa(n)+"/words=1", func(b *testing.B) {
			var w bitmask.Word
			for range b.N {
				at, _, _, _ := w.TryAlloc(n)
				w.TryFree(at, n)
			}
		})
	}
}
