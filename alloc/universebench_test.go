package alloc_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// BenchmarkUniverse is a chunk allocated and freed. Two goroutines do b.N pairs
// each, so where they do not disturb each other a pair costs what one costs.
func BenchmarkUniverse(b *testing.B) {
	pairs := func(u *alloc.Universe, n int) {
		for range n {
			c, _, err := u.Alloc(1)
			if err != nil {
				panic(err)
			}
			u.Free(c, 1)
		}
	}
	b.Run("impl=Pair/goroutines=1", func(b *testing.B) {
		u := newUniverse(b)
		pairs(u, b.N)
	})
	b.Run("impl=Pair/goroutines=2", func(b *testing.B) {
		u := newUniverse(b)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { pairs(u, b.N) })
		}
		all.Wait()
	})
	b.Run("impl=Pair/n=4", func(b *testing.B) {
		u := newUniverse(b)
		for range b.N {
			c, err := u.AllocExact(4)
			if err != nil {
				b.Fatal(err)
			}
			u.Free(c, 4)
		}
	})
	b.Run("impl=AlignedPair/n=2", func(b *testing.B) {
		u := newUniverse(b)
		for range alloc.MaxSize / alloc.MegachunkSize {
			_, err := u.AllocExact(64)
			require.NoError(b, err)
		}
		for m := range alloc.ChunkIndex(alloc.MaxSize/alloc.MegachunkSize - 1) {
			u.Free(m*64+7, 2) // a pair that is not aligned
		}
		u.Free(1<<20-64, 64) // but for the last megachunk
		b.ResetTimer()
		for range b.N {
			c, err := u.AllocAligned(2)
			if err != nil {
				b.Fatal(err)
			}
			u.Free(c, 2)
		}
		b.StopTimer()
		for c := range alloc.ChunkIndex(1 << 20) {
			if u.InUse(c) {
				u.Free(c, 1)
			}
		}
	})
	b.Run("impl=LastOf16384", func(b *testing.B) {
		u := newUniverse(b)
		for range alloc.MaxSize / alloc.MegachunkSize {
			_, err := u.AllocExact(64)
			require.NoError(b, err)
		}
		u.Free(1<<20-7, 1)
		b.ResetTimer()
		pairs(u, b.N)
		b.StopTimer()
		for c := range alloc.ChunkIndex(1 << 20) {
			if u.InUse(c) {
				u.Free(c, 1)
			}
		}
	})
}
