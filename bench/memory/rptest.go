package main

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Parameters of rptest as it is usually run.
const (
	rptestLeast = 8      // bytes
	rptestMost  = 16_000 // bytes
	rptestSlots = 1000   // live blocks per goroutine
	rptestBatch = 100    // replacements per loop
	rptestCross = 2      // in every second loop, blocks go to another goroutine
)

// rptest repeats the benchmark of rpmalloc: each goroutine replaces random blocks whose sizes fall
// off linearly. In every second loop it also leaves a batch of new blocks for another goroutine and
// frees the batch that another one left. Every 4 KiB of a block are touched. An operation is an
// allocation and a free of a block; ns/op is wall time over the operations of all goroutines.
func rptest(e *env) error {
	sizes := falloff(4096, rand.New(rand.NewPCG(2017, 2)))
	var left atomic.Pointer[[]slot] // the batch that waits for a goroutine
	seed := uint64(0)
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		counts := make([]books, width())
		g := newGang(e, s)
		from := time.Now()
		for i := range counts {
			seed++
			r := &rptester{sizes: sizes, left: &left, books: &counts[i], rng: rand.New(rand.NewPCG(seed, 100))}
			full := func() {}
			if i == 0 {
				full = e.holdsMost
			}
			g.start(func(w *member) error { return r.run(w, e.scale.loops, full) })
		}
		if err := g.wait(); err != nil {
			return 0, 0, err
		}
		var all books
		for _, b := range counts {
			all.got += b.got
			all.freed += b.freed
			all.crossed += b.crossed
		}
		last, err := dropAll(e.m, left.Swap(nil))
		took := time.Since(from)
		if err == nil && all.got != all.freed+last {
			err = wrong("%d blocks were got and %d were freed", all.got, all.freed+last)
		}
		e.out.More["crossed"] = float64(all.crossed) / float64(all.got)
		return all.got, took, err
	})
	return err
}

// falloff draws sizes whose frequency falls linearly from the smallest size to zero at the largest.
func falloff(n int, rng *rand.Rand) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = rptestMost - int(math.Sqrt(rng.Float64())*(rptestMost-rptestLeast))
	}
	return sizes
}

// books count the blocks of one goroutine.
type books struct {
	got, freed, crossed int // crossed: freed from a batch that was left, mostly by another goroutine
}

// rptester is the part of one goroutine.
type rptester struct {
	sizes []int
	left  *atomic.Pointer[[]slot]
	books *books
	rng   *rand.Rand
}

// run does all loops, calls full and frees the remaining blocks.
func (r *rptester) run(w *member, loops int, full func()) error {
	slots := make([]slot, rptestSlots)
	w.s.begin()
	for loop := range loops {
		for range rptestBatch {
			b := &slots[r.rng.IntN(len(slots))]
			if b.p != nil {
				if err := b.drop(w.m); err != nil {
					return err
				}
				r.books.freed++
			}
			if err := r.fill(w.m, b); err != nil {
				return err
			}
			w.s.step()
		}
		if loop%rptestCross == rptestCross-1 {
			if err := r.cross(w.m); err != nil {
				return err
			}
			w.s.begin()
		}
	}
	full()
	n, err := dropAll(w.m, &slots)
	r.books.freed += n
	return err
}

// fill gets a block of a random size and touches it.
func (r *rptester) fill(m memory, b *slot) error {
	n := r.rng.Uint32()
	if err := b.fill(m, r.sizes[int(n)%len(r.sizes)], byte(n>>24)); err != nil {
		return err
	}
	for i := pageSize; i < b.size-1; i += pageSize {
		*at(b.p, i) = b.tag
	}
	r.books.got++
	return nil
}

// cross leaves a batch of new blocks and frees the batch that was left before.
func (r *rptester) cross(m memory) error {
	batch := make([]slot, rptestBatch)
	for i := range batch {
		if err := r.fill(m, &batch[i]); err != nil {
			return err
		}
	}
	n, err := dropAll(m, r.left.Swap(&batch))
	r.books.freed += n
	r.books.crossed += n
	return err
}

// dropAll frees the blocks of a batch and counts them.
func dropAll(m memory, batch *[]slot) (n int, err error) {
	if batch == nil {
		return 0, nil
	}
	for i := range *batch {
		b := &(*batch)[i]
		if b.p == nil {
			continue
		}
		if err := b.drop(m); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
