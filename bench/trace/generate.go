package trace

import "math/rand/v2"

// The built-in trace.
//
// A program of six threads in ten phases of 20,000 calls. Each phase tends to a number of live
// blocks, so that the heap grows, shrinks and grows again; most blocks die young, some stay to the
// end. One thread ends on the way and leaves its blocks to the first thread. Every call and every
// case of the AOSP form occurs: size 0, free of NULL, realloc of NULL and to nothing, failed calls,
// memalign from 32 B to 64 KiB, frees by another thread.
//
// The trace is the same on every machine: the only randomness is the PCG of math/rand/v2 with a
// fixed seed, whose output the Go 1 promise covers, and there is no map and no float.

// demoCalls is the number of heap calls of the built-in trace; the end of a thread is one more
// line.
const demoCalls = 200_000

// demoPhases are the numbers of live blocks that the phases tend to.
var demoPhases = [...]int{2000, 6000, 9000, 5000, 12000, 8000, 11000, 4000, 7000, 3000}

// demoThreads are the thread numbers with their shares of the calls, in sixteenths.
var demoThreads = []struct {
	tid   uint64
	share uint64
}{{4100, 8}, {4101, 3}, {4103, 2}, {4107, 1}, {4111, 1}, {4112, 1}}

// demoAnswer is the known answer of the built-in trace, and demoTotal the sum of all its sizes.
// They do not come from this package but from testdata/books.awk, which keeps its own books of the
// printed lines in an awk array (run in this folder):
//
//	go test -run TestDemoPrints quarry/bench/trace -args -print demo.txt
//	awk -f testdata/books.awk demo.txt
var demoAnswer = Answer{
	PeakLiveBytes: 18_449_848, PeakLiveBlocks: 10_777,
	EndLiveBytes: 11_217_195, EndLiveBlocks: 5_773,
}

const demoTotal = 188_223_780

// owned is a live block as the generator sees it.
type owned struct {
	slot uint32
	size int64
}

// generator makes the built-in trace.
type generator struct {
	t     *Trace
	rng   *rand.Rand
	slots slots
	live  [][]owned // by thread, in the order of allocation until one is freed
	count int       // live blocks
	ended int       // the thread that has ended, or -1
}

// Demo returns the built-in trace: 200,000 calls, 3.2 MB, made in about 10 ms.
func Demo() *Trace {
	g := generator{
		t:     &Trace{Name: "built-in", Form: AOSP, Ops: make([]Op, 0, demoCalls+1)},
		rng:   rand.New(rand.NewPCG(2026, 64)),
		live:  make([][]owned, len(demoThreads)),
		ended: -1,
	}
	// Threads are numbered in the order of their first line, as in the readers: the first calls are
	// one malloc by each thread.
	for i, thread := range demoThreads {
		g.t.Threads = append(g.t.Threads, thread.tid)
		g.alloc(Malloc, i, g.size(), 0)
	}
	for len(g.t.Ops) < demoCalls*6/10 {
		g.call(g.thread())
	}
	g.end(len(demoThreads) - 1)
	for len(g.t.Ops) < demoCalls+1 {
		g.call(g.thread())
	}
	g.t.Slots = int(g.slots.n)
	return g.t
}

// thread draws the thread of the next call.
func (g *generator) thread() int {
	at := g.rng.Uint64N(16)
	for i, thread := range demoThreads {
		if at < thread.share && i != g.ended {
			return i
		}
		at -= min(at, thread.share)
	}
	return 0
}

// size draws a size in bytes: three in five blocks have up to 128, one in four thousand has 256 KiB
// to 1.5 MiB.
func (g *generator) size() int64 {
	from, to := int64(1), int64(128)
	switch p := g.rng.IntN(4000); {
	case p < 1:
		from, to = 256<<10, 1536<<10
	case p < 12:
		from, to = 64<<10, 256<<10
	case p < 60:
		from, to = 8<<10, 64<<10
	case p < 360:
		from, to = 1<<10, 8<<10
	case p < 1400:
		from, to = 128, 1<<10
	case p < 1420:
		return 0
	}
	n := from + g.rng.Int64N(to-from+1)
	// Real programs request the sizes of structs: half of the sizes are rounded.
	if g.rng.IntN(2) == 0 {
		n = (n + 7) &^ 7
	}
	return n
}

// call draws one call of a thread.
func (g *generator) call(thread int) {
	switch p := g.rng.IntN(1000); {
	case p < 10:
		g.add(Op{Slot: NoSlot, call: calls(Free, Nothing)}, thread)
	case p < 18:
		g.memalign(thread)
	case p < 70:
		g.realloc(thread)
	case p < 71:
		g.fail(thread)
	default:
		phase := min(len(g.t.Ops)*len(demoPhases)/demoCalls, len(demoPhases)-1)
		allocs := 45
		if g.count < demoPhases[phase] {
			allocs = 57
		}
		if len(g.live[thread]) == 0 || g.rng.IntN(100) < allocs {
			kind := Malloc
			if g.rng.IntN(7) == 0 {
				kind = Calloc
			}
			g.alloc(kind, thread, g.size(), 0)
			return
		}
		g.free(thread)
	}
}

// add appends an operation.
func (g *generator) add(op Op, thread int) {
	op.Thread = uint16(thread)
	g.t.Ops = append(g.t.Ops, op)
}

func (g *generator) alloc(kind Kind, thread int, size int64, align uint64) {
	slot := g.slots.take()
	g.live[thread] = append(g.live[thread], owned{slot, size})
	g.count++
	op := Op{Size: size, Slot: slot, call: calls(kind, Get)}
	op.setAlign(align)
	g.add(op, thread)
}

// memalign mostly requests cache lines and vectors; one time in eight for pages, with a size of
// whole pages, one time in sixty-four for 64 KiB.
func (g *generator) memalign(thread int) {
	switch p := g.rng.IntN(64); {
	case p == 0:
		g.alloc(Memalign, thread, (1+g.rng.Int64N(4))<<16, 1<<16)
	case p < 9:
		g.alloc(Memalign, thread, (1+g.rng.Int64N(8))<<12, 1<<12)
	default:
		g.alloc(Memalign, thread, g.size(), 32<<g.rng.IntN(4))
	}
}

// pick draws a live block of a thread: mostly one of the last sixteen.
func (g *generator) pick(thread int) int {
	n := len(g.live[thread])
	if g.rng.IntN(10) < 7 {
		return n - 1 - g.rng.IntN(min(n, 16))
	}
	return g.rng.IntN(n)
}

// lose removes block i from a thread's list.
func (g *generator) lose(thread, i int) owned {
	list := g.live[thread]
	b := list[i]
	list[i] = list[len(list)-1]
	g.live[thread] = list[:len(list)-1]
	g.slots.give(b.slot)
	g.count--
	return b
}

// free frees a block of the thread, or one time in 32 a block of another thread.
func (g *generator) free(thread int) {
	owner := thread
	if other := g.rng.IntN(len(g.live)); g.rng.IntN(32) == 0 && len(g.live[other]) > 0 {
		owner = other
	}
	b := g.lose(owner, g.pick(owner))
	g.add(Op{Slot: b.slot, call: calls(Free, Drop)}, thread)
}

// realloc grows a block to up to twice its size, or shrinks it; some calls are of NULL and some to
// nothing.
func (g *generator) realloc(thread int) {
	p := g.rng.IntN(100)
	if p < 10 || len(g.live[thread]) == 0 {
		g.alloc(Realloc, thread, g.size(), 0)
		return
	}
	i := g.pick(thread)
	if p < 13 {
		b := g.lose(thread, i)
		g.add(Op{Slot: b.slot, call: calls(Realloc, Drop)}, thread)
		return
	}
	b := &g.live[thread][i]
	switch {
	case p < 15:
		b.size = 0
	case p < 30:
		b.size = g.rng.Int64N(b.size + 1)
	default:
		b.size = min(b.size+1+g.rng.Int64N(b.size+8), 1536<<10)
	}
	g.add(Op{Size: b.size, Slot: b.slot, call: calls(Realloc, Resize)}, thread)
}

// fail adds a call that returned 0x0: the old block of a realloc stays live.
func (g *generator) fail(thread int) {
	op := Op{Size: 1 << 40, Slot: NoSlot}
	switch g.rng.IntN(4) {
	case 0:
		op.call = calls(Malloc, Nothing)
	case 1:
		op.call = calls(Calloc, Nothing)
	case 2:
		op.call = calls(Memalign, Nothing)
		op.setAlign(4096)
	case 3:
		op.call = calls(Realloc, Nothing)
		if len(g.live[thread]) > 0 {
			op.Slot = g.live[thread][g.pick(thread)].slot
		}
	}
	g.add(op, thread)
}

// end ends a thread and leaves its blocks to the first one.
func (g *generator) end(thread int) {
	g.add(Op{Slot: NoSlot, call: calls(ThreadDone, Nothing)}, thread)
	g.live[0] = append(g.live[0], g.live[thread]...)
	g.live[thread] = nil
	g.ended = thread
}
