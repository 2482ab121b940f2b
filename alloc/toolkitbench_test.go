package alloc_test

import (
	"testing"
	"unsafe"

	"quarry/alloc"
)

// Allocations of 64 bytes; those of Go are measured beside them.

var (
	benchSink unsafe.Pointer
	benchSum  uintptr
)

func BenchmarkArena(b *testing.B) {
	a := alloc.NewArenaOf(newHeap(b), alloc.Fixed(1<<20))
	defer a.Close()
	sum := uintptr(0)
	const lap = 16_000
	b.Run("direct", func(b *testing.B) {
		for i := 0; i < b.N; i += lap {
			a.Reset(alloc.KeepAll)
			for range lap {
				p, _ := a.Alloc(64, 8)
				sum += uintptr(p)
			}
		}
	})
	b.Run("interface", func(b *testing.B) {
		var through alloc.Allocator = a
		for i := 0; i < b.N; i += lap {
			a.Reset(alloc.KeepAll)
			for range lap {
				p, _ := through.Alloc(64, 8)
				sum += uintptr(p)
			}
		}
	})
	benchSum = sum
}

func BenchmarkStack(b *testing.B) {
	s, err := alloc.NewStack(newHeap(b), 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		p, _ := s.Alloc(64, 8)
		s.FreeSized(p, 64, 8)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

type cell [8]uint64

func BenchmarkPool(b *testing.B) {
	p, err := alloc.NewPool[cell](newHeap(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("pair", func(b *testing.B) {
		for range b.N {
			v, _ := p.New()
			p.Free(v)
		}
	})
	v, err := p.New()
	if err != nil {
		b.Fatal(err)
	}
	r := p.Ref(v)
	b.Run("get", func(b *testing.B) {
		n := uint64(0)
		for range b.N {
			n += p.Get(r)[0]
		}
		if n != 0 {
			b.Fatal(n)
		}
	})
	p.Free(v)
	if err := p.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkTyped(b *testing.B) {
	h := newHeap(b)
	b.Run("heap", func(b *testing.B) {
		for range b.N {
			v, _ := alloc.New[cell](h)
			alloc.Free(h, v)
		}
	})
	b.Run("arena", func(b *testing.B) {
		a := alloc.NewArena(h)
		defer a.Close()
		for i := range b.N {
			if i%16_000 == 0 {
				a.Reset(alloc.KeepAll)
			}
			v, _ := alloc.New[cell](a)
			benchSink = unsafe.Pointer(v)
		}
	})
	b.Run("go", func(b *testing.B) {
		for range b.N {
			benchSink = unsafe.Pointer(new(cell))
		}
	})
}
