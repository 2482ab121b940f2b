package main

import (
	"math/rand/v2"
	"time"
	"unsafe"

	"quarry/alloc"
)

// chunkBytes is the size that chunk workloads request.
const chunkBytes = alloc.ChunkSize

func chunkPair(e *env) error {
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		return pairs(e, e.m, s, chunkBytes, e.scale.pairs)
	})
	return err
}

// pairs gets and frees one block n times. It writes the last byte of each block: the first byte
// would lie at the same offset in a page as some allocators' books, and their loads would wait for
// it. In the checking pass it writes and reads every 64th block as a whole.
func pairs(e *env, m memory, s *sampler, size, n int) (int, time.Duration, error) {
	from := time.Now()
	s.begin()
	for i := range n {
		p, err := m.alloc(size, 0)
		if err != nil {
			return 0, 0, err
		}
		*at(p, size-1) = byte(i)
		if e.checking && i%64 == 0 {
			if err := checkAlone(e, p, size, tagOf(i)); err != nil {
				return 0, 0, err
			}
		}
		m.free(p, size, 0)
		s.step()
	}
	return n, time.Since(from), nil
}

// checkAlone writes and reads every byte of a block.
func checkAlone(e *env, p unsafe.Pointer, size int, tag byte) error {
	e.holdsMost()
	if uintptr(p)&15 != 0 {
		return wrong("a block of %d bytes is at %#x, which is not a multiple of 16", size, uintptr(p))
	}
	for i := range size {
		*at(p, i) = tag
	}
	for i := range size {
		if got := *at(p, i); got != tag {
			return wrong("byte %d of %d is %#02x, want %#02x", i, size, got, tag)
		}
	}
	return nil
}

func chunkBatch(e *env) error {
	held := make([]unsafe.Pointer, e.scale.batch)
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		from := time.Now()
		s.begin()
		for i := range held {
			p, err := e.m.alloc(chunkBytes, 0)
			if err != nil {
				return 0, 0, err
			}
			touch(p, chunkBytes, tagOf(i))
			held[i] = p
			s.step()
		}
		if err := checkTouched(e, held); err != nil {
			return 0, 0, err
		}
		freeAll(e.m, held, s)
		return len(held), time.Since(from), nil
	})
	return err
}

// checkTouched checks in the checking pass that the touched bytes of all chunks are as written.
func checkTouched(e *env, held []unsafe.Pointer) error {
	if !e.checking {
		return nil
	}
	e.holdsMost()
	for i, p := range held {
		if !touched(p, chunkBytes, tagOf(i)) {
			return wrong("chunk %d of %d is not as it was touched", i, len(held))
		}
	}
	return nil
}

// freeAll frees chunks in the order of allocation.
func freeAll(m memory, held []unsafe.Pointer, s *sampler) {
	for i, p := range held {
		held[i] = nil
		m.free(p, chunkBytes, 0)
		s.step()
	}
}

// chunkFirst takes a fresh allocator for each pass. It gets all chunks and then touches them all;
// the figure bare_ns and the percentiles leave the touching out.
func chunkFirst(e *env) error {
	n := e.scale.first
	held := make([]unsafe.Pointer, n)
	var bare time.Duration
	passes := 0
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		if err := e.reopen(chunkBytes, n); err != nil {
			return 0, 0, err
		}
		from := time.Now()
		s.begin()
		for i := range held {
			p, err := e.m.alloc(chunkBytes, 0)
			if err != nil {
				return 0, 0, err
			}
			held[i] = p
			s.step()
		}
		got := time.Since(from)
		for i, p := range held {
			touch(p, chunkBytes, tagOf(i))
		}
		took := time.Since(from)
		if s == nil && !e.checking {
			bare, passes = bare+got, passes+1
			e.stepNs = float64(bare.Nanoseconds()) / float64(passes*n)
		}
		err := checkTouched(e, held)
		freeAll(e.m, held, nil)
		return n, took, err
	})
	e.out.More["bare_ns"] = e.stepNs
	return err
}

// chunkChurn holds 100,000 chunks; it times shuffling them, freeing the first half and getting it
// again, twice. Chunks are touched before and after a pass, outside the timed part.
func chunkChurn(e *env) error {
	const rounds = 2
	if err := e.reopen(chunkBytes, e.scale.first); err != nil {
		return err
	}
	held := make([]unsafe.Pointer, e.scale.first)
	for i := range held {
		p, err := e.m.alloc(chunkBytes, 0)
		if err != nil {
			return err
		}
		held[i] = p
	}
	rng := rand.New(rand.NewPCG(64, 16))
	half := held[:len(held)/2]
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		from := time.Now()
		for range rounds {
			rng.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
			s.begin()
			freeAll(e.m, half, s)
			for i := range half {
				p, err := e.m.alloc(chunkBytes, 0)
				if err != nil {
					return 0, 0, err
				}
				half[i] = p
				s.step()
			}
		}
		took := time.Since(from)
		if e.checking {
			for i, p := range held {
				touch(p, chunkBytes, tagOf(i))
			}
		}
		return rounds * len(half), took, checkTouched(e, held)
	})
	if err == nil {
		freeAll(e.m, held, nil)
	}
	return err
}

// chunkSearch takes every chunk of the universe except the last and measures the pair on that one.
// The figure search_ns is how much more this costs than a pair on an empty universe: the search.
func chunkSearch(e *env) error {
	u := e.m.(*universeMemory).u
	pass := func(s *sampler) (int, time.Duration, error) { return pairs(e, e.m, s, chunkBytes, e.scale.pairs) }
	if _, err := e.timed(e.scale.time/4, pass); err != nil {
		return err
	}
	empty := e.out.NsPerOp
	e.out.Ops = 0
	runs := min(e.scale.full, u.Size()/alloc.MegachunkSize)
	first := make([]alloc.ChunkIndex, runs)
	for i := range first {
		c, err := u.AllocExact(alloc.ChunksPerMegachunk)
		if err != nil {
			return err
		}
		first[i] = c
	}
	last := first[runs-1] + alloc.ChunksPerMegachunk - 1
	u.Free(last, 1)
	_, err := e.measure(e.scale.time, pass)
	for i, c := range first {
		n := alloc.ChunksPerMegachunk
		if i == runs-1 {
			n--
		}
		u.Free(c, n)
	}
	e.out.More["search_ns"] = e.out.NsPerOp - empty
	e.out.More["megachunks"] = float64(runs)
	return err
}
