package wrap_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/mmap"
)

// BenchmarkGuard is a block allocated, its last byte written, and freed; by size, bare
// and in each mode. docs/memory.md has the figures.
func BenchmarkGuard(b *testing.B) {
	modes := []struct {
		name string
		open func(b *testing.B, h *alloc.Heap) alloc.Allocator
	}{
		{"heap", func(_ *testing.B, h *alloc.Heap) alloc.Allocator { return h }},
		{"canaries", func(_ *testing.B, h *alloc.Heap) alloc.Allocator { return wrap.NewGuard(h, wrap.Canaries()) }},
		{"canaries,quarantine=0", func(_ *testing.B, h *alloc.Heap) alloc.Allocator {
			return wrap.NewGuard(h, wrap.Canaries(), wrap.Quarantine(0))
		}},
		{"pages", func(_ *testing.B, h *alloc.Heap) alloc.Allocator { return wrap.NewGuard(h) }},
		{"pages,watched", func(b *testing.B, h *alloc.Heap) alloc.Allocator {
			m, err := wrap.StartMonitor()
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, m.Close()) })
			return wrap.NewGuard(h, wrap.Watched(m))
		}},
		{"pages,quarantine=0", func(_ *testing.B, h *alloc.Heap) alloc.Allocator { return wrap.NewGuard(h, wrap.Quarantine(0)) }},
	}
	for _, size := range []int{64, 4096, 64 << 10} {
		for _, mode := range modes {
			b.Run(fmt.Sprintf("%s/%d", mode.name, size), func(b *testing.B) {
				if mmap.Guards() == mmap.GuardNone && mode.name[0] == 'p' {
					b.Skip("no pages can be guarded")
				}
				a := mode.open(b, largeHeap(b))
				for b.Loop() {
					p, err := a.Alloc(size, 0)
					if err != nil {
						b.Fatal(err)
					}
					bytesOf(p, size)[size-1] = 1
					a.FreeSized(p, size, 0)
				}
				if g, ok := a.(*wrap.Guard); ok {
					require.NoError(b, g.Close())
				}
			})
		}
	}
}
