package fuzz

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"quarry/alloc"
	"quarry/mmap"
)

// Concurrent histories of a universe, checked for linearizability.
//
// Goroutines allocate and free runs in a universe of a few megachunks; each call is recorded with
// its time and its result. Each megachunk is a separate object, and a history is right if the calls
// on each megachunk can be put in one order, within their times, in which a plain mask gives every
// result:
//
//	take    a run was handed out: all its chunks were free, and are in use
//	give    a run was freed: all its chunks were in use, and are free
//	deny    a free panicked: not all its chunks were in use
//	refuse  a call found no run of n: this megachunk had none
//
// A call that finds no run looks at the megachunks one after the other, so its refusal is one event
// for each megachunk, each at its own instant.

// event is a call, or the state of one megachunk by a refusal.
type event struct {
	kind      eventKind
	megachunk int
	at, n     int // chunks inside the megachunk
}

type eventKind uint8

const (
	take eventKind = iota
	give
	deny
	refuse
)

// maskModel is one megachunk: the state is its mask.
var maskModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		for _, op := range history {
			m := op.Input.(event).megachunk
			for len(parts) <= m {
				parts = append(parts, nil)
			}
			parts[m] = append(parts[m], op)
		}
		return parts
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, _ any) (bool, any) {
		used, e := state.(uint64), input.(event)
		if e.kind == refuse {
			return longestFree(used) < e.n, used
		}
		mask := (uint64(1)<<e.n - 1) << e.at
		switch e.kind {
		case take:
			return used&mask == 0, used | mask
		case give:
			return used&mask == mask, used &^ mask
		}
		return used&mask != mask, used // deny
	},
	DescribeOperation: func(input, _ any) string {
		e := input.(event)
		return fmt.Sprintf("%s [%d, %d+%d) of megachunk %d",
			[...]string{"take", "give", "deny", "refuse"}[e.kind], e.at, e.at, e.n, e.megachunk)
	},
}

// longestFree returns the length of the longest run of zeros, bit by bit, as package bitmask does
// not.
func longestFree(used uint64) (longest int) {
	free := 0
	for bit := range alloc.ChunksPerMegachunk {
		if free++; used>>bit&1 == 1 {
			free = 0
		}
		longest = max(longest, free)
	}
	return longest
}

// script is how a history is made.
type script struct {
	name    string
	longest int  // runs are of 1 to longest chunks
	trims   int  // of 16 calls
	frees   int  // of 16 calls; the others allocate
	zeroed  bool // some allocations request zeroed memory
	twice   bool // some frees repeat an earlier free, perhaps of chunks that are another's by now
}

// scripts never combine zeroed and twice: a zeroed allocation writes to memory that a second free
// on another goroutine could take away.
var scripts = []script{
	{name: "runs, zeroed", longest: 64, trims: 2, frees: 6, zeroed: true},
	{name: "runs, freed twice", longest: 64, trims: 2, frees: 6, twice: true},
	{name: "singles, trimmed", longest: 1, trims: 6, frees: 5, zeroed: true},
	{name: "trimmed without end", longest: 1, trims: 11, frees: 2},
	{name: "nearly full", longest: 2, trims: 0, frees: 7, twice: true},
}

// history is one run.
type history struct {
	script
	u     *alloc.Universe
	start time.Time
	mu    sync.Mutex
	held  []run // freed by the goroutine that draws it
	freed []run // some of what was freed
	log   [][]porcupine.Operation
}

// RunHistory makes calls from several goroutines on a universe of the given number of granules; the
// seed decides the calls. It returns an error if no order of the calls explains their results, or
// if Verify finds a fault at the end.
func RunHistory(seed uint64, goroutines, granules, calls int) error {
	u, err := alloc.NewUniverse(alloc.Size(granules<<21), alloc.Retain(0), alloc.PurgeAfter(0))
	if err != nil {
		return fmt.Errorf("fuzz: RunHistory: %w", err)
	}
	h := &history{
		script: scripts[seed%uint64(len(scripts))], u: u, start: time.Now(),
		log: make([][]porcupine.Operation, goroutines),
	}
	if h.longest == 2 { // all but a few chunks; these calls are part of the history too
		for n := granules*2*alloc.ChunksPerMegachunk - 2*goroutines; n > 0; n -= min(n, 7) {
			h.take(0, min(n, 7), true, false)
		}
	}
	var all sync.WaitGroup
	faults := make([]error, goroutines)
	for g := range goroutines {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(g)))
			faults[g] = mmap.Guarded(func() { // memory may be missing under a chunk
				for range calls {
					h.call(g, rng)
				}
			})
		})
	}
	all.Wait()
	if err := errors.Join(append(faults, u.Verify())...); err != nil {
		return fmt.Errorf("fuzz: RunHistory: seed %d: %w", seed, err)
	}
	var events []porcupine.Operation
	for _, log := range h.log {
		events = append(events, log...)
	}
	for m := range granules * 2 { // the chunks in use at the end are what the calls left
		events = append(events, h.final(m)...)
	}
	if result := porcupine.CheckOperationsTimeout(maskModel, events, time.Minute); result != porcupine.Ok {
		return fmt.Errorf("fuzz: RunHistory: seed %d: %w", seed, errNotLinearizable)
	}
	for first, n := range u.Runs() {
		u.Free(first, n)
	}
	if err := errors.Join(u.Verify(), u.Close()); err != nil {
		return fmt.Errorf("fuzz: RunHistory: seed %d: %w", seed, err)
	}
	return nil
}

var errNotLinearizable = errors.New("no order of the calls explains their results")

// final describes a megachunk after the history: each run in use can be given, each free run taken,
// one after the other.
func (h *history) final(m int) (events []porcupine.Operation) {
	for c := range alloc.ChunksPerMegachunk {
		kind := take
		if h.u.InUse(alloc.ChunkIndex(m*alloc.ChunksPerMegachunk + c)) {
			kind = give
		}
		now := h.now()
		events = append(events, porcupine.Operation{
			ClientId: 0, Input: event{kind, m, c, 1}, Call: now, Return: h.now(),
		})
		for h.now() == now { // so that the next one is later
		}
	}
	return events
}

func (h *history) now() int64 { return int64(time.Since(h.start)) }

// call makes one call of goroutine g.
func (h *history) call(g int, rng *rand.Rand) {
	switch k := rng.IntN(16); {
	case k < h.trims/2:
		_, _ = h.u.Maintain(time.Now())
	case k < h.trims:
		_, _ = h.u.Trim(rng.IntN(2) << 21)
	case k < h.trims+h.frees:
		// Race builds would report that two frees poison the same chunk.
		if rng.IntN(6) == 0 && h.twice && mmap.Real {
			if r, ok := h.draw(&h.freed, rng); ok {
				h.free(g, r)
			}
			return
		}
		if r, ok := h.draw(&h.held, rng); ok {
			if k := rng.IntN(r.n); k > 0 && rng.IntN(3) == 0 { // the two parts separately
				h.free(g, run{r.first, k})
				r = run{r.first + alloc.ChunkIndex(k), r.n - k}
			}
			h.free(g, r)
		}
	default:
		h.take(g, 1+rng.IntN(1+rng.IntN(h.longest)), rng.IntN(3) == 0, h.zeroed && rng.IntN(4) == 0)
	}
}

// draw takes a random run from a list.
func (h *history) draw(list *[]run, rng *rand.Rand) (r run, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(*list) == 0 {
		return run{}, false
	}
	i, last := rng.IntN(len(*list)), len(*list)-1
	r = (*list)[i]
	(*list)[i] = (*list)[last]
	*list = (*list)[:last]
	return r, true
}

func (h *history) put(list *[]run, r run) {
	h.mu.Lock()
	*list = append(*list, r)
	h.mu.Unlock()
}

// take allocates a run of n chunks.
func (h *history) take(g, n int, exact, zeroed bool) {
	call := h.now()
	var first alloc.ChunkIndex
	var err error
	got := n
	switch {
	case exact:
		first, err = h.u.AllocExact(n)
	case zeroed:
		first, got, err = h.u.AllocZeroed(n)
	default:
		first, got, err = h.u.Alloc(n)
	}
	end := h.now()
	note := func(e event) {
		h.log[g] = append(h.log[g], porcupine.Operation{ClientId: g, Input: e, Call: call, Return: end})
	}
	refused := n // the smallest size that was refused
	if err != nil && !exact {
		refused = 1
	} else if err == nil {
		for refused/2 > got {
			refused /= 2
		}
	}
	if err != nil || got < n {
		for m := range h.u.Size() / alloc.MegachunkSize {
			note(event{kind: refuse, megachunk: m, n: refused})
		}
	}
	if err == nil {
		note(event{take, int(first) / alloc.ChunksPerMegachunk, int(first) % alloc.ChunksPerMegachunk, got})
		h.put(&h.held, run{first, got})
	}
}

// free frees a run, which may have been freed before.
func (h *history) free(g int, r run) {
	e := event{give, int(r.first) / alloc.ChunksPerMegachunk, int(r.first) % alloc.ChunksPerMegachunk, r.n}
	call := h.now()
	if guarded(func() error { h.u.Free(r.first, r.n); return nil }) != nil {
		e.kind = deny
	}
	h.log[g] = append(h.log[g], porcupine.Operation{ClientId: g, Input: e, Call: call, Return: h.now()})
	if e.kind == give {
		h.put(&h.freed, r)
	}
}
