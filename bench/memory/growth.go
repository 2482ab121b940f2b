package main

import (
	"time"
	"unsafe"
)

// A buffer grows by appends: it is written to its end and gets a quarter more room by realloc,
// until it has its size. An operation is the whole growth.
//
//	moves           how often the buffer was somewhere else after a realloc, the first time
//	peak_per_byte   most resident memory of the first time above that before it / bytes at the end

// growthFirst is the room that the buffer starts with, in bytes.
const growthFirst = 4 << 10

// grownFrom is the room after one more step, at most most.
func grownFrom(room, most int) int { return min(room+room/4, most) }

// growthArgs are the arguments of growth for the program of C.
func growthArgs(sc scale, _ bool) []any {
	return []any{"growth", growthFirst, sc.held.growth, sc.time.Nanoseconds()}
}

func growth(e *env) error {
	bytes := e.scale.held.growth
	base := base()
	before := peakRSS()
	pass := func(s *sampler) (int, time.Duration, error) {
		from := time.Now()
		s.begin()
		p, moves, err := grow(e.m, bytes)
		if err != nil {
			return 0, 0, err
		}
		s.step()
		took := time.Since(from)
		if e.checking {
			e.out.More["moves"] = float64(moves)
			if peak := peakRSS(); base >= 0 && peak > before {
				e.out.More["peak_per_byte"] = float64(peak-base) / float64(bytes)
			}
			e.out.CommittedPeak = e.m.committed()
			err = checkGrown(p, bytes)
		}
		e.m.free(p, bytes, 0)
		return 1, took, err
	}
	_, err := e.measure(e.scale.time, pass)
	e.out.More["ms"] = e.out.NsPerOp / 1e6
	return err
}

// grow makes a buffer and grows it; each piece that is appended has a tag of its own.
func grow(m memory, bytes int) (p unsafe.Pointer, moves int, err error) {
	room := min(growthFirst, bytes)
	if p, err = m.alloc(room, 0); err != nil {
		return nil, 0, err
	}
	fill(p, room, solid(0))
	for step := 1; room < bytes; step++ {
		next := grownFrom(room, bytes)
		q, err := m.realloc(p, room, next)
		if err != nil {
			return nil, 0, err
		}
		if q != p {
			moves++
		}
		// Safe because the block has next bytes.
		fill(unsafe.Add(q, room), next-room, solid(step))
		p, room = q, next
	}
	return p, moves, nil
}

// checkGrown reads every byte of the buffer.
func checkGrown(p unsafe.Pointer, bytes int) error {
	from, room := 0, min(growthFirst, bytes)
	for step := 0; from < bytes; step++ {
		// Safe because the block has bytes bytes.
		if n := firstOther(unsafe.Add(p, from), room-from, solid(step)); n >= 0 {
			return wrong("byte %d of %d is %#02x, want %#02x", from+n, bytes, *at(p, from+n), solid(step))
		}
		from, room = room, grownFrom(room, bytes)
	}
	return nil
}
