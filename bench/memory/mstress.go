package main

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"
	"unsafe"
)

// mstress is a stress test in the manner of the one of mimalloc (Leijen): each goroutine gets
// blocks of 8 bytes to 128 KiB, most of them small, keeps a part of them to its end, frees others
// at random, and exchanges some for blocks that any goroutine has left in a shared array. In each
// block are its size and its number. An operation is an allocation and a free; ns/op is wall time
// over the operations of all goroutines.
//
//	in 100 steps   50 blocks got, of which 1 has 100 times the size, and in 1,000 one 1,000 times
//	               30 blocks of the goroutine freed
//	               20 exchanged

const mstressShared = 1000 // places of the shared array

func mstressOf(name string, goroutines int) workload {
	return workload{
		name: name, kind: blocks, what: "alloc and free of 8 B to 128 KiB, a part exchanged between goroutines",
		run: func(e *env) error { return mstress(e, threads(goroutines)) },
		args: func(sc scale, _ bool) []any {
			return []any{"mstress", threads(goroutines), sc.rounds * sc.slots / 4, sc.time.Nanoseconds()}
		},
	}
}

func mstress(e *env, goroutines int) error {
	steps := e.scale.rounds * e.scale.slots / 4
	shared := make([]atomic.Pointer[byte], mstressShared)
	seed := uint64(0)
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		counts := make([]int, goroutines)
		g := newGang(e, s)
		from := time.Now()
		for i := range counts {
			seed++
			r := &stresser{rng: rand.New(rand.NewPCG(seed, 3)), shared: shared}
			g.start(func(w *member) error {
				err := r.run(w, steps)
				counts[i] = r.got
				return err
			})
		}
		if err := g.wait(); err != nil {
			return 0, 0, err
		}
		e.holdsMost()
		got := 0
		for _, n := range counts {
			got += n
		}
		return got, time.Since(from), nil
	})
	for i := range shared {
		if p := shared[i].Swap(nil); p != nil && err == nil {
			err = dropSized(e.m, unsafe.Pointer(p))
		}
	}
	return err
}

// stresser is the part of one goroutine.
type stresser struct {
	rng    *rand.Rand
	shared []atomic.Pointer[byte]
	live   []unsafe.Pointer
	got    int
}

func (r *stresser) run(w *member, steps int) error {
	w.s.begin()
	for range steps {
		switch step := r.rng.IntN(100); {
		case step < 50 || len(r.live) == 0:
			size := 8 * (1 + r.rng.IntN(16))
			switch big := r.rng.IntN(1000); {
			case big == 0:
				size *= 1000
			case big <= 10:
				size *= 100
			}
			p, err := w.m.alloc(size, 0)
			if err != nil {
				return err
			}
			binary.NativeEndian.PutUint64(sized(p), uint64(size))
			if size > 8 {
				*at(p, size-1) = byte(size)
			}
			r.live = append(r.live, p)
			r.got++
			w.s.step()
		case step < 80:
			i := r.rng.IntN(len(r.live))
			if err := dropSized(w.m, r.live[i]); err != nil {
				return err
			}
			r.live[i] = r.live[len(r.live)-1]
			r.live = r.live[:len(r.live)-1]
		default:
			i := r.rng.IntN(len(r.live))
			p := r.shared[r.rng.IntN(len(r.shared))].Swap((*byte)(r.live[i]))
			if r.live[i] = unsafe.Pointer(p); p == nil {
				r.live[i] = r.live[len(r.live)-1]
				r.live = r.live[:len(r.live)-1]
			}
		}
	}
	for _, p := range r.live {
		if err := dropSized(w.m, p); err != nil {
			return err
		}
	}
	return nil
}

// sized is the first word of a block, its size.
func sized(p unsafe.Pointer) []byte {
	// Safe because the blocks of this workload have 8 bytes at least.
	return unsafe.Slice((*byte)(p), 8)
}

// dropSized checks a block and frees it.
func dropSized(m memory, p unsafe.Pointer) error {
	size := int(binary.NativeEndian.Uint64(sized(p)))
	if size < 8 || size > 128_000 || size > 8 && *at(p, size-1) != byte(size) {
		return wrong("a block says that it has %d bytes", size)
	}
	m.free(p, size, 0)
	return nil
}
