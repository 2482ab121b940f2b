package main

import (
	"time"
	"unsafe"

	"quarry/bench/trace"
)

// The replay for time, by the method of REFERENCE.csv. One goroutine makes every call of the trace.
// The first and the last byte of a block are written when it is allocated and checked when it is
// freed; the bytes of a calloc are zero. A pass is the whole trace. Blocks that the trace leaves
// live are checked and freed after the pass, outside the timed part. Calls that do nothing (free of
// NULL, the end of a thread, failed calls) are not counted.

// live is a block of a replay, by slot.
type live struct {
	p     unsafe.Pointer // nil: the slot is empty
	size  int32          // bytes
	align int32          // as requested
}

// call is one operation, in 16 bytes, so that a pass reads little besides the blocks.
type call struct {
	size   int32 // bytes
	slot   uint32
	align  int32
	effect trace.Effect
	zeroed bool // it is a calloc
}

// replay is a trace on one allocator.
type replay struct {
	calls  []call // those that do something
	blocks []live
	peakAt int // index of the call after which most bytes are live
	peak   int64
	m      memory
}

func newReplay(t *trace.Trace, m memory) *replay {
	r := &replay{blocks: make([]live, t.Slots), m: m}
	sizes := make([]int64, t.Slots)
	var now int64
	for i := range t.Ops {
		op := &t.Ops[i]
		if op.Effect() == trace.Nothing {
			continue
		}
		now += op.Size - sizes[op.Slot]
		sizes[op.Slot] = op.Size
		if now > r.peak {
			r.peak, r.peakAt = now, len(r.calls)
		}
		r.calls = append(r.calls, call{
			int32(op.Size), op.Slot, int32(op.Align()), op.Effect(), op.Kind() == trace.Calloc,
		})
	}
	return r
}

// run replays once. If atPeak is not nil, it is called at the peak of live bytes. With whole, every
// byte is written, not only the first and the last.
func (r *replay) run(s *sampler, whole bool, atPeak func()) error {
	s.begin()
	if atPeak == nil {
		return r.do(r.calls, s, whole)
	}
	if err := r.do(r.calls[:r.peakAt+1], s, whole); err != nil {
		return err
	}
	atPeak()
	return r.do(r.calls[r.peakAt+1:], s, whole)
}

// do makes the calls. It is one loop with the slow cases elsewhere, because its cost adds to every
// allocator's.
func (r *replay) do(calls []call, s *sampler, whole bool) error {
	m, blocks := r.m, r.blocks
	for i := range calls {
		c := &calls[i]
		b, tag := &blocks[c.slot], tagOf(int(c.slot))
		if c.effect != trace.Get && !marked(b.p, int(b.size), tag) {
			return damaged(b, tag)
		}
		if c.effect == trace.Drop {
			m.free(b.p, int(b.size), int(b.align))
			b.p = nil
			s.step()
			continue
		}
		var p unsafe.Pointer
		var err error
		if c.effect == trace.Get {
			p, err = m.alloc(int(c.size), int(c.align))
			b.align = c.align
		} else {
			p, err = r.resize(b, int(c.size), tag)
		}
		if err != nil {
			return err
		}
		b.p, b.size = p, c.size
		if whole {
			fill(p, int(c.size), tag)
		}
		if c.zeroed && !whole && !m.zeroed() {
			fill(p, int(c.size), 0)
		}
		mark(p, int(c.size), tag)
		s.step()
	}
	return nil
}

// fill writes every byte of a block.
func fill(p unsafe.Pointer, size int, tag byte) {
	// Safe because the block has at least size bytes.
	list := unsafe.Slice((*byte)(p), size)
	if tag == 0 {
		clear(list)
		return
	}
	for i := range list {
		list[i] = tag
	}
}

// resize is realloc; a block with an alignment of its own is allocated anew, as realloc in C may
// do. The first byte must be unchanged.
func (r *replay) resize(b *live, size int, tag byte) (unsafe.Pointer, error) {
	kept := min(int(b.size), size)
	var p unsafe.Pointer
	var err error
	if b.align == 0 {
		p, err = r.m.realloc(b.p, int(b.size), size)
	} else if p, err = r.m.alloc(size, 0); err == nil {
		move(p, b.p, kept)
		r.m.free(b.p, int(b.size), int(b.align))
		b.align = 0
	}
	if err == nil && kept > 0 && *at(p, 0) != tag {
		err = wrong("byte 0 of %d is %#02x after realloc, want %#02x", size, *at(p, 0), tag)
	}
	return p, err
}

func damaged(b *live, tag byte) error {
	return wrong("a block of %d bytes is not as it was marked: %#02x .. %#02x, want %#02x .. %#02x",
		b.size, *at(b.p, 0), *at(b.p, int(b.size)-1), tag, ^tag)
}

// drain frees the blocks that the trace left live.
func (r *replay) drain() error {
	for i := range r.blocks {
		if b := &r.blocks[i]; b.p != nil {
			if tag := tagOf(i); !marked(b.p, int(b.size), tag) {
				return damaged(b, tag)
			}
			r.m.free(b.p, int(b.size), int(b.align))
			b.p = nil
		}
	}
	return nil
}

// replayTimed measures a trace; ns/op is the best pass's, first_ns that of the first pass of the
// process, which has the first touch of each page.
func replayTimed(e *env, r *replay, budget time.Duration) error {
	best, err := e.measure(budget, func(s *sampler) (int, time.Duration, error) {
		var atPeak func()
		if e.checking {
			atPeak = e.holdsMost
		}
		from := time.Now()
		if err := r.run(s, false, atPeak); err != nil {
			return 0, 0, err
		}
		took := time.Since(from)
		if e.checking {
			e.out.More["first_ns"] = float64(took.Nanoseconds()) / float64(len(r.calls))
		}
		return len(r.calls), took, r.drain()
	})
	e.out.NsPerOp = best
	return err
}
