package main

import (
	"encoding/binary"
	"errors"
	"time"
	"unsafe"
)

const (
	xmallocSize  = 64  // bytes of a block
	xmallocQueue = 100 // most batches that wait
)

// xmallocOf is the row of so many goroutines, half of which produce.
func xmallocOf(name string, goroutines int) workload {
	pairs := func() int { return max(1, threads(goroutines)/2) }
	return workload{
		name: name, kind: blocks, what: "pair of 64 bytes; producers get, consumers free, batches of 4,096",
		run: func(e *env) error { return xmalloc(e, pairs()) },
		args: func(sc scale, _ bool) []any {
			return []any{"xmalloc", pairs(), sc.loads, sc.load, sc.time.Nanoseconds()}
		},
	}
}

// parcel is a batch of blocks on its way from the producer to the consumer that frees them.
type parcel struct {
	blocks []unsafe.Pointer
	first  uint64 // the number in the first block; each next block holds one more
}

// xmalloc is the test of Lever and Boreham (2000) as it is run today: producers allocate blocks in
// batches and never free any, consumers free them and never allocate; at most 100 batches wait.
// Each block holds its own number. An operation is an allocation and a free of a block; ns/op is
// wall time over all of them.
func xmalloc(e *env, pairs int) error {
	total := pairs * e.scale.loads * e.scale.load
	empty := make(chan []unsafe.Pointer, xmallocQueue+4*pairs)
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		full := make(chan parcel, xmallocQueue)
		sums := make([]tally, pairs)
		produce, consume := newGang(e, s), newGang(e, s)
		from := time.Now()
		for i := range pairs {
			number := uint64(i * e.scale.loads * e.scale.load)
			produce.start(func(w *member) error {
				return makeLoads(w, e.scale, full, empty, number)
			})
			consume.start(func(w *member) error { return sums[i].freeLoads(w, full, empty) })
		}
		err := produce.wait()
		close(full)
		e.holdsMost()
		if err := errors.Join(err, consume.wait()); err != nil {
			return 0, 0, err
		}
		return total, time.Since(from), checkTally(sums, total)
	})
	return err
}

// makeLoads allocates a producer's blocks and writes their numbers. It sends every parcel, even
// after a failure, so that no consumer waits forever.
func makeLoads(w *member, sc scale, full chan<- parcel, empty <-chan []unsafe.Pointer, number uint64) error {
	for range sc.loads {
		var list []unsafe.Pointer
		select {
		case list = <-empty:
		default:
			list = make([]unsafe.Pointer, 0, sc.load)
		}
		first := number
		w.s.begin()
		for range sc.load {
			p, err := w.m.alloc(xmallocSize, 0)
			if err != nil {
				full <- parcel{list, first}
				return err
			}
			binary.NativeEndian.PutUint64(word(p), number)
			*at(p, xmallocSize-1) = byte(number)
			list = append(list, p)
			number++
			w.s.step()
		}
		full <- parcel{list, first}
	}
	return nil
}

// word is the first eight bytes of a block.
func word(p unsafe.Pointer) []byte {
	// Safe because the blocks of this workload have 64 bytes.
	return unsafe.Slice((*byte)(p), 8)
}

// tally counts what a consumer has freed.
type tally struct {
	blocks int
	sum    uint64 // of their numbers
}

// freeLoads checks and frees blocks until no more come. After a wrong byte it still takes parcels,
// so that no producer waits, but frees nothing.
func (t *tally) freeLoads(w *member, full <-chan parcel, empty chan<- []unsafe.Pointer) error {
	var err error
	for load := range full {
		w.s.begin()
		for i, p := range load.blocks {
			want := load.first + uint64(i)
			got := binary.NativeEndian.Uint64(word(p))
			if got != want || *at(p, xmallocSize-1) != byte(want) {
				err = wrong("block %d holds %d and ends with %#02x", want, got, *at(p, xmallocSize-1))
				break
			}
			t.blocks++
			t.sum += got
			w.m.free(p, xmallocSize, 0)
			w.s.step()
		}
		clear(load.blocks)
		select {
		case empty <- load.blocks[:0]:
		default:
		}
	}
	return err
}

// checkTally checks that each of the numbers 0..n-1 came once.
func checkTally(list []tally, n int) error {
	var all tally
	for _, t := range list {
		all.blocks += t.blocks
		all.sum += t.sum
	}
	if want := uint64(n) * uint64(n-1) / 2; all.blocks != n || all.sum != want {
		return wrong("consumers freed %d blocks with the sum %d, producers sent %d with %d",
			all.blocks, all.sum, n, want)
	}
	return nil
}
