package main

import (
	"errors"
	"time"

	"quarry/alloc"
)

// pagesPair gets a block of Pages, touches it and frees it, over and over, beside mmap, a touch and
// munmap of as many bytes in turns; see refs.go for the figures.
func pagesPair(e *env, size int) error {
	p := alloc.NewPages()
	n := max(16, e.scale.pairs/16)
	var failed error
	err := e.both(n, func(*sampler) (time.Duration, int) {
		from := time.Now()
		for range n {
			failed = errors.Join(failed, mapTouched(size))
		}
		return time.Since(from), 0
	}, func(s *sampler) (time.Duration, int) {
		from := time.Now()
		s.begin()
		for range n {
			b, err := p.Alloc(size, 0)
			if err != nil {
				failed = errors.Join(failed, err)
				break
			}
			*at(b, 0) = 1
			p.FreeSized(b, size, 0)
			s.step()
		}
		return time.Since(from), 0
	})
	c, e2 := e.m.alloc(1, 0)
	if e2 == nil {
		e.out.CommittedPeak = e.m.committed()
		e.m.free(c, 1, 0)
	}
	return errors.Join(err, failed, e2, p.Close())
}
