package main

import (
	"time"
	"unsafe"
)

// Large blocks. Each row has one size:
//
//	rss_per_byte   growth of resident memory / bytes asked for, all live blocks written as a whole
//	ns/op          a block got, one byte of it written, and freed, over and over
//
// huge/count counts how many blocks of 1 MiB + 1, of which one page is written, can live at once.
// It ends at a refusal or at the given number; it stops early when memory that others may need
// would be used, and when it has taken countTime. Heaps have small pages for it: one byte of a
// large page is 2 MiB of memory, so that memory would be counted, not addresses and mappings.

// rssPerByte is the name of the figure.
const rssPerByte = "rss_per_byte"

// A size beyond 1 MiB by one byte is the worst for allocators that have a class up to 1 MiB.
const overMiB = 1<<20 + 1

// countTime bounds the gets of huge/count.
const countTime = 30 * time.Second

// hugeOf is the row of blocks of a size. The sizes below 256 KiB are here for their pairs: a heap
// may have no fast path for them.
func hugeOf(name string, size int, long bool) workload {
	return workload{
		name: "huge/" + name, kind: held, long: long,
		what: "alloc and free of " + name + ", one byte written, over and over",
		run:  func(e *env) error { return huge(e, size) },
		args: func(sc scale, _ bool) []any {
			return []any{"huge", size, blocksOf(size, sc.held.large), pairsOf(size, sc.pairs),
				(sc.time / 4).Nanoseconds()}
		},
	}
}

// countArgs are the arguments of huge/count for the program of C.
func countArgs(sc scale, _ bool) []any {
	return []any{"count", overMiB, sc.held.many, sc.held.resident, countTime.Nanoseconds()}
}

func huge(e *env, size int) error {
	if err := holdAll(e, size); err != nil {
		return err
	}
	_, err := e.measure(e.scale.time/4, func(s *sampler) (int, time.Duration, error) {
		return pairs(e, e.m, s, size, pairsOf(size, e.scale.pairs))
	})
	return err
}

// pairsOf is the number of pairs in a pass: blocks of 256 MB in all, at least four, since some
// allocators clear each of them, and at most most.
func pairsOf(size, most int) int { return min(max(4, 256<<20/size), most) }

// blocksOf is the number of live blocks of a size, at least one.
func blocksOf(size, total int) int { return max(1, total/size) }

// holdAll gets blocks and writes all of their bytes, notes what is resident, checks and frees them.
func holdAll(e *env, size int) error {
	list := make([]unsafe.Pointer, blocksOf(size, e.scale.held.large))
	base := base()
	for i := range list {
		p, err := e.m.alloc(size, 0)
		if err != nil {
			return err
		}
		fill(p, size, solid(i))
		list[i] = p
	}
	e.noteGrown(rssPerByte, base, float64(len(list))*float64(size))
	for i, p := range list {
		if n := firstOther(p, size, solid(i)); n >= 0 {
			return wrong("block %d: byte %d of %d is %#02x, want %#02x", i, n, size, *at(p, n), solid(i))
		}
	}
	e.out.CommittedPeak = e.m.committed()
	for _, p := range list {
		e.m.free(p, size, 0)
	}
	return nil
}

// firstOther is the index of the first byte that is not tag, or -1.
func firstOther(p unsafe.Pointer, size int, tag byte) int {
	// Safe because the block has at least size bytes.
	for i, b := range unsafe.Slice((*byte)(p), size) {
		if b != tag {
			return i
		}
	}
	return -1
}

// hugeCount counts blocks that live at once.
func hugeCount(e *env) error {
	list := make([]unsafe.Pointer, 0, e.scale.held.many)
	base := base()
	from := time.Now()
	refused := false
	for len(list) < cap(list) && !refused && time.Since(from) < countTime {
		if len(list)%256 == 0 && residentBytes()-base > e.scale.held.resident {
			break
		}
		p, err := e.m.alloc(overMiB, 0)
		if refused = err != nil; refused {
			break
		}
		*at(p, 0) = tagOf(len(list))
		list = append(list, p)
	}
	e.noteTime(max(1, len(list)), time.Since(from))
	e.out.More["live_blocks"] = float64(len(list))
	if refused {
		e.out.More["refused"] = 1
	} else if len(list) < cap(list) {
		e.out.More["stopped"] = 1
	}
	e.out.CommittedPeak = e.m.committed()
	for i, p := range list {
		if got := *at(p, 0); got != tagOf(i) {
			return wrong("block %d of %d is %#02x, want %#02x", i, len(list), got, tagOf(i))
		}
	}
	for _, p := range list {
		e.m.free(p, overMiB, 0)
	}
	return nil
}
