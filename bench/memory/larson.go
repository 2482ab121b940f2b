package main

import (
	"math/rand/v2"
	"time"
	"unsafe"
)

// Sizes of larson, in bytes, and the generations of a pass.
const (
	larsonLeast       = 8
	larsonMost        = 1000
	larsonGenerations = 2
)

func larsonOf(name string, goroutines int) workload {
	return workload{
		name: name, kind: blocks, what: "free and alloc of a random slot; arrays are handed to new goroutines",
		run: func(e *env) error { return larson(e, threads(goroutines)) },
		args: func(sc scale, _ bool) []any {
			return []any{"larson", threads(goroutines), sc.slots, sc.slots * sc.rounds, sc.time.Nanoseconds()}
		},
	}
}

// slot is a place for a live block.
type slot struct {
	p    unsafe.Pointer // nil: empty
	size int
	tag  byte // the block's mark
}

// fill gets a block into the slot and marks it.
func (b *slot) fill(m memory, size int, tag byte) error {
	p, err := m.alloc(size, 0)
	if err != nil {
		return err
	}
	mark(p, size, tag)
	*b = slot{p, size, tag}
	return nil
}

// drop checks the block and frees it.
func (b *slot) drop(m memory) error {
	if !marked(b.p, b.size, b.tag) {
		return wrong("a block of %d bytes is not as it was marked: %#02x .. %#02x, want %#02x .. %#02x",
			b.size, *at(b.p, 0), *at(b.p, b.size-1), b.tag, ^b.tag)
	}
	m.free(b.p, b.size, 0)
	b.p = nil
	return nil
}

// larson is the server of Larson and Krishnan (1998): each goroutine replaces random blocks of its
// array, then hands the array to a new goroutine and ends, so that the goroutine that frees a block
// is often not the one that got it. The arrays live through all passes. An operation is a free and
// an alloc; ns/op is wall time over the operations of all goroutines.
func larson(e *env, goroutines int) error {
	arrays := make([][]slot, goroutines)
	rng := rand.New(rand.NewPCG(1998, 5))
	for i := range arrays {
		arrays[i] = make([]slot, e.scale.slots)
		for j := range arrays[i] {
			if err := arrays[i][j].fill(e.m, larsonSize(rng), tagOf(j)); err != nil {
				return err
			}
		}
	}
	const generations = larsonGenerations
	seed := uint64(0)
	replacements := e.scale.slots * e.scale.rounds
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		e.holdsMost()
		from := time.Now()
		for range generations {
			// A goroutine ends with its generation; the next one continues with the same array.
			g := newGang(e, s)
			for _, array := range arrays {
				seed++
				rng := rand.New(rand.NewPCG(seed, 8))
				g.start(func(w *member) error { return replace(w, array, rng, replacements) })
			}
			if err := g.wait(); err != nil {
				return 0, 0, err
			}
		}
		return generations * len(arrays) * replacements, time.Since(from), nil
	})
	if err != nil {
		return err
	}
	for _, array := range arrays {
		for i := range array {
			if err := array[i].drop(e.m); err != nil {
				return err
			}
		}
	}
	return nil
}

func larsonSize(rng *rand.Rand) int { return larsonLeast + rng.IntN(larsonMost-larsonLeast+1) }

// replace frees and gets n random blocks of an array.
func replace(w *member, array []slot, rng *rand.Rand, n int) error {
	w.s.begin()
	for i := range n {
		b := &array[rng.IntN(len(array))]
		if err := b.drop(w.m); err != nil {
			return err
		}
		if err := b.fill(w.m, larsonSize(rng), byte(i)); err != nil {
			return err
		}
		w.s.step()
	}
	return nil
}
