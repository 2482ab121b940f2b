package main

import (
	"math/rand/v2"
	"time"
	"unsafe"
)

func heapPair(e *env) error {
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		return pairs(e, e.m, s, 64, e.scale.pairs)
	})
	return err
}

// heapBatch gets blocks of random sizes and frees them in the order of allocation. It writes the
// first and the last byte of each.
func heapBatch(e *env) error {
	rng := rand.New(rand.NewPCG(16, 256))
	sizes := make([]int, e.scale.small)
	for i := range sizes {
		sizes[i] = 16 + rng.IntN(256-16+1)
	}
	held := make([]unsafe.Pointer, len(sizes))
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		from := time.Now()
		s.begin()
		for i, size := range sizes {
			p, err := e.m.alloc(size, 0)
			if err != nil {
				return 0, 0, err
			}
			mark(p, size, tagOf(i))
			held[i] = p
			s.step()
		}
		if e.checking {
			e.holdsMost()
			for i, p := range held {
				if !marked(p, sizes[i], tagOf(i)) {
					return 0, 0, wrong("block %d of %d bytes is not as it was marked", i, sizes[i])
				}
			}
		}
		for i, p := range held {
			e.m.free(p, sizes[i], 0)
			s.step()
		}
		return len(sizes), time.Since(from), nil
	})
	return err
}
