package container

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMapHash: of 4,096 integers in a pattern, the hash's parts spread as random numbers would, for
// each of 32 seeds: the bits that choose a table, a group, a tag, and a mark of a group that was
// passed. The measure is the sum of squares of what 64 buckets have too many or too few, which for
// random numbers is as large as the number of buckets, give or take a fifth.
func TestMapHash(t *testing.T) {
	const keys, seeds = 4096, 32
	patterns := map[string]func(i uint64) uint64{
		"counted":      func(i uint64) uint64 { return i },
		"high bits":    func(i uint64) uint64 { return i << 52 },
		"middle bits":  func(i uint64) uint64 { return i << 24 },
		"both ends":    func(i uint64) uint64 { return i<<58 | i>>6 },
		"thousands":    func(i uint64) uint64 { return i * 1000 },
		"addresses":    func(i uint64) uint64 { return 0xC000000000 + i*64 },
		"negative":     func(i uint64) uint64 { return -i },
		"reversed":     bits.Reverse64,
		"floats":       func(i uint64) uint64 { return math.Float64bits(float64(i)) },
		"generations":  func(i uint64) uint64 { return i<<32 | i&3 },
		"squares":      func(i uint64) uint64 { return i * i },
		"32-bit lanes": func(i uint64) uint64 { return i<<32 | i },
	}
	parts := map[string]func(h uint64) uint64{
		"table": func(h uint64) uint64 { return h >> 58 },
		"group": func(h uint64) uint64 { return uint64(firstGroup(h, 64)) },
		"tag":   func(h uint64) uint64 { return h & tagBits >> 1 },
		"mark":  func(h uint64) uint64 { return h>>7&7 | h>>58<<3 },
	}
	for name, key := range patterns {
		for part, of := range parts {
			sum := 0.0
			for range seeds {
				m := newMap[uint64, uint64](t)
				var buckets [512]float64
				n := 64.0
				if part == "mark" {
					n = 512
				}
				for i := range uint64(keys) {
					buckets[of(m.hash(key(i)))]++
				}
				for _, b := range buckets[:int(n)] {
					sum += (b - keys/n) * (b - keys/n) / (keys / n) / n / seeds
				}
			}
			require.Less(t, sum, 1.4, "%s, %s", name, part)
		}
	}
}
