package main

import (
	"errors"
	"math/rand/v2"
	"time"
	"unsafe"

	"quarry/alloc"
)

// References beside pointers: alloc.Blocks on a Local, and the Local's own pointers. Both hold as
// many blocks of refBytes and do the same in turns, in one process:
//
//	ns/op    of Blocks
//	bare     ns/op of the pointers
//	ratio    of the least pass of each
//
// Look-ups and frees go through the blocks in one order that is drawn once.

const (
	refBytes = 64  // of a block
	refMany  = 256 // references that a call looks up or frees
)

// refs are the blocks of both sides, in the same random order.
type refs struct {
	l      *alloc.Local
	blocks *alloc.Blocks
	refs   []alloc.BlockRef
	plain  []unsafe.Pointer
	order  []int32
}

// newRefs returns two sides on the Local of the memory, without blocks.
func newRefs(e *env, n int) (*refs, error) {
	m, ok := e.m.(*localMemory)
	if !ok {
		return nil, errors.New("references are measured on a Local")
	}
	r := &refs{l: m.l, blocks: alloc.NewBlocks(m.l)}
	r.refs, r.plain, r.order = make([]alloc.BlockRef, n), make([]unsafe.Pointer, n), make([]int32, n)
	for i, at := range rand.New(rand.NewPCG(53, 6)).Perm(n) {
		r.order[i] = int32(at)
	}
	return r, nil
}

// fill gets all blocks, one side after the other, and writes a byte of each.
func (r *refs) fill() (err error) {
	for _, i := range r.order {
		if r.plain[i], err = r.l.Alloc(refBytes, 0); err != nil {
			return err
		}
		*at(r.plain[i], 0) = tagOf(int(i))
	}
	for _, i := range r.order {
		if r.refs[i], err = r.blocks.Alloc(refBytes, 0); err != nil {
			return err
		}
		r.blocks.Bytes(r.refs[i])[0] = tagOf(int(i))
	}
	return nil
}

// drain frees the blocks of both sides.
func (r *refs) drain() {
	for i := range r.plain {
		r.l.Free(r.plain[i])
		r.blocks.Free(r.refs[i])
	}
}

// both measures passes of two sides in turns; each returns what it took for n operations, and the
// sum of the bytes it saw, which must be the same.
func (e *env) both(n int, plain, blocks func(s *sampler) (time.Duration, int)) error {
	var bare, ours time.Duration
	_, err := e.measure(e.scale.time, func(s *sampler) (int, time.Duration, error) {
		one, sum := plain(nil)
		two, other := blocks(s)
		if sum != other {
			return 0, 0, wrong("bytes by reference add up to %d, by pointer to %d", other, sum)
		}
		if s == nil && !e.checking {
			bare, ours = least(bare, one), least(ours, two)
		}
		return n, two, nil
	})
	e.out.More["bare_ns"] = float64(bare.Nanoseconds()) / float64(n)
	e.out.More["ratio"] = float64(ours) / float64(max(bare, 1))
	return err
}

// least is the lesser of two times, of which the first may not have been taken yet: 0.
func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// refsPair gets and frees one block over and over.
func refsPair(e *env) error {
	r, err := newRefs(e, 1)
	if err != nil {
		return err
	}
	n := e.scale.pairs
	err = e.both(n, func(*sampler) (time.Duration, int) {
		from := time.Now()
		for range n {
			p, err := r.l.Alloc(refBytes, 0)
			if err == nil {
				r.l.Free(p)
			}
		}
		return time.Since(from), 0
	}, func(s *sampler) (time.Duration, int) {
		from := time.Now()
		s.begin()
		for range n {
			if b, err := r.blocks.Alloc(refBytes, 0); err == nil {
				r.blocks.Free(b)
			}
			s.step()
		}
		return time.Since(from), 0
	})
	e.out.CommittedPeak = e.m.committed()
	return errors.Join(err, r.blocks.Close())
}

// refsLookUp reads a byte of each block; many by calls of BytesMany.
func refsLookUp(e *env, many bool) error {
	r, err := newRefs(e, 10*e.scale.first)
	if err == nil {
		err = r.fill()
	}
	if err != nil {
		return err
	}
	e.out.CommittedPeak = e.m.committed()
	err = e.both(len(r.refs), func(*sampler) (time.Duration, int) {
		sum, from := 0, time.Now()
		for _, p := range r.plain {
			sum += int(*at(p, 0))
		}
		return time.Since(from), sum
	}, func(s *sampler) (time.Duration, int) {
		var bytes [refMany][]byte
		sum, from := 0, time.Now()
		s.begin()
		for list := r.refs; len(list) > 0; {
			n := min(len(list), refMany)
			if many {
				r.blocks.BytesMany(list[:n], bytes[:n])
			}
			for i, ref := range list[:n] {
				if many {
					sum += int(bytes[i][0])
				} else {
					sum += int(r.blocks.Bytes(ref)[0])
				}
				s.step()
			}
			list = list[n:]
		}
		return time.Since(from), sum
	})
	r.drain()
	return errors.Join(err, r.blocks.Close())
}

// refsFree frees all blocks in random order; many by calls of FreeMany. Getting them is not timed.
func refsFree(e *env, many bool) error {
	r, err := newRefs(e, 10*e.scale.first)
	if err != nil {
		return err
	}
	var failed error
	err = e.both(len(r.refs), func(*sampler) (time.Duration, int) {
		if failed = errors.Join(failed, r.fill()); failed != nil {
			return 0, 0
		}
		e.holdsMost()
		from := time.Now()
		for _, p := range r.plain {
			r.l.Free(p)
		}
		return time.Since(from), 0
	}, func(s *sampler) (time.Duration, int) {
		if failed != nil {
			return 0, 0
		}
		from := time.Now()
		s.begin()
		for list := r.refs; len(list) > 0; {
			n := min(len(list), refMany)
			if many {
				r.blocks.FreeMany(list[:n])
			}
			for _, ref := range list[:n] {
				if !many {
					r.blocks.Free(ref)
				}
				s.step()
			}
			list = list[n:]
		}
		return time.Since(from), 0
	})
	return errors.Join(err, failed, r.blocks.Close())
}
