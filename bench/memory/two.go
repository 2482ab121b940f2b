package main

import (
	"runtime"
	"sync/atomic"
	"time"
)

// chunkTwo runs hot pairs on one goroutine and then on two at once, in each pass. A pass is long
// compared with the time to wake a goroutine, and the two wait for each other before they begin.
func chunkTwo(e *env) error {
	const stretch = 4 * time.Millisecond
	n, took, err := pairs(e, e.m, nil, chunkBytes, 256)
	if err != nil {
		return err
	}
	n = max(256, int(stretch*time.Duration(n)/max(took, 1)))
	if e.scale.time < stretch*8 {
		n = min(n, e.scale.pairs*16)
	}
	var alone, both time.Duration
	_, err = e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		_, one, err := pairs(e, e.m, nil, chunkBytes, n)
		if err != nil {
			return 0, 0, err
		}
		two, err := together(e, s, n)
		if s == nil && !e.checking {
			alone, both = alone+one, both+two
		}
		return n, two, err
	})
	e.out.More["ratio"] = float64(both) / float64(max(alone, 1))
	return err
}

// together runs n pairs on each of two goroutines and returns the mean of their times.
func together(e *env, s *sampler, n int) (time.Duration, error) {
	type done struct {
		took time.Duration
		s    *sampler
		err  error
	}
	ends := make(chan done, 2)
	var ready atomic.Int32
	for range 2 {
		m, err := e.m.fork()
		if err != nil {
			return 0, err
		}
		go func(own *sampler) {
			for ready.Add(1); ready.Load() < 2; {
				runtime.Gosched()
			}
			_, took, err := pairs(&env{m: m, checking: e.checking}, m, own, chunkBytes, n)
			if err == nil {
				err = m.retire()
			}
			ends <- done{took, own, err}
		}(s.fork())
	}
	var sum time.Duration
	var failed error
	for range 2 {
		d := <-ends
		sum += d.took
		s.join(d.s)
		if d.err != nil {
			failed = d.err
		}
	}
	return sum / 2, failed
}
