package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"quarry/bench/process"
	"quarry/bench/workload"
)

const clients = 2 // goroutines

// spec is the work of a child process: a cache is filled by the first draws of the stream, then
// measured, and measured again with requests that make garbage.
type spec struct {
	Contender string `json:"contender"`
	Bytes     int    `json:"bytes"` // of keys and values
	Keys      int    `json:"keys"`
	Fill      int    `json:"fill"`  // draws
	Timed     int    `json:"timed"` // draws, twice
}

// sample is what a child found.
type sample struct {
	Quiet   phase  `json:"quiet"`
	Garbage phase  `json:"garbage"`
	Held    int64  `json:"held"` // bytes of keys and values at the end, as hits have them
	Entries int64  `json:"entries"`
	Own     int64  `json:"own"`  // the same as the cache counts them; -1: it does not
	Heap    int64  `json:"heap"` // live on the Go heap at the end
	Wrong   string `json:"wrong,omitempty"`
}

// phase is a measurement. Times are in ns, memory in bytes above that before the cache was opened.
type phase struct {
	Ops     int   `json:"ops"`
	Hits    int   `json:"hits"`
	Refused int   `json:"refused"` // sets
	Wall    int64 `json:"wall"`
	CPU     int64 `json:"cpu"` // of the process; 0: not known
	GC      int64 `json:"gc"`  // of the collector, as the runtime estimates it; see table.go
	Cycles  int64 `json:"cycles"`
	Pause   int64 `json:"pause"` // the longest
	P50     int64 `json:"p50"`   // of a get
	P99     int64 `json:"p99"`
	P999    int64 `json:"p999"`
	Peak    int64 `json:"peak"` // resident, until its end
	End     int64 `json:"end"`  // resident
}

// measure runs a contender in this process.
func (sp spec) measure() (out sample, err error) {
	c := contenderNamed(sp.Contender)
	if c == nil {
		return out, fmt.Errorf("no contender %q", sp.Contender)
	}
	e := newEntries()
	x, err := beginExpiry(c, e)
	if err != nil {
		return out, err
	}
	in, err := newStream(sp.Keys, sp.Fill+2*sp.Timed)
	if err != nil {
		return out, errors.Join(err, x.end())
	}
	defer in.close()
	if err := x.end(); err != nil {
		out.Wrong = err.Error()
	}
	return out, out.time(c, e, in, sp)
}

// time opens the cache, fills it, measures it, and closes it.
func (m *sample) time(c *contender, e *entries, in *stream, sp spec) error {
	debug.FreeOSMemory()
	base := process.Resident()
	s, err := c.open(bound{sp.Bytes, e.mean(), sessionTime})
	if err != nil {
		return err
	}
	at := 0
	_, wrong := run(e, s, in.take(&at, sp.Fill), false)
	m.note(wrong)
	m.Quiet, wrong = run(e, s, in.take(&at, sp.Timed), false)
	m.note(wrong)
	m.Garbage, wrong = run(e, s, in.take(&at, sp.Timed), true)
	m.note(wrong)
	for _, p := range []*phase{&m.Quiet, &m.Garbage} {
		p.Peak, p.End = max(0, p.Peak-base), max(0, p.End-base)
	}
	m.Own = int64(s.bytes())
	if !c.null {
		m.note(m.holds(e, s, sp))
	}
	m.Heap = workload.LiveHeap()
	return s.close()
}

// note keeps the first thing that was wrong.
func (m *sample) note(err error) {
	if m.Wrong == "" && err != nil {
		m.Wrong = err.Error()
	}
}

// run lets each client get a part of the draws. The error is a wrong value.
func run(e *entries, s store, draws []uint32, garbage bool) (p phase, wrong error) {
	list := make([]*client, clients)
	for i := range list {
		list[i] = newClient(e, s, garbage)
	}
	runtime.GC()
	before, start := process.Read(), time.Now()
	var all sync.WaitGroup
	for i, c := range list {
		all.Go(func() { c.serve(draws[i*len(draws)/clients : (i+1)*len(draws)/clients]) })
	}
	all.Wait()
	wall, used := time.Since(start), process.Read().Since(before)
	p = phase{Ops: len(draws), Wall: int64(wall), CPU: int64(used.CPU), GC: int64(used.GC), Cycles: int64(used.Cycles),
		Pause: int64(used.Pause()), Peak: process.Peak(), End: process.Resident()}
	for i, c := range list {
		if i > 0 {
			list[0].times.Merge(c.times)
		}
		p.Hits += c.hits
		p.Refused += c.refused
		if wrong == nil {
			wrong = c.wrong
		}
	}
	p.P50, p.P99, p.P999 = list[0].times.ValueAtQuantile(50), list[0].times.ValueAtQuantile(99),
		list[0].times.ValueAtQuantile(99.9)
	return p, wrong
}

const (
	allOf     = 1 << 16 // keys that are all read
	askedMost = 1 << 20 // of the others, one in so many that they are about as many as this
	overMost  = 1.03    // of the bound may be held: shares are estimated, and some caches evict a little later
	heldLeast = 0.75    // of the bound must be held: else the cache was not full, or its bound means something else
)

// holds gets the keys and estimates how many entries the cache has. The error is a wrong value, or
// that the cache holds another amount than its bound.
func (m *sample) holds(e *entries, s store, sp spec) (wrong error) {
	step := max(1, sp.Keys/askedMost)
	var key []byte
	into := make([]byte, 0, valueMost)
	for n, each := 0, 1; n < sp.Keys; n += each {
		if n >= allOf {
			each = step
		}
		key = e.key(uint32(n), key[:0])
		value, ok := s.get(text(key), into[:0])
		if !ok {
			continue
		}
		if err := e.check(uint32(n), value); err != nil && wrong == nil {
			wrong = err
		}
		m.Held += int64(each * (len(key) + len(value)))
		m.Entries += int64(each)
	}
	share := float64(m.Held) / float64(sp.Bytes)
	switch {
	case wrong != nil:
		return wrong
	case max(share, float64(m.Own)/float64(sp.Bytes)) > overMost:
		return fmt.Errorf("%d bytes of keys and values are held (the cache says %d), and at most %d may be",
			m.Held, m.Own, sp.Bytes)
	case share < heldLeast:
		return fmt.Errorf("only %d bytes of keys and values are held of the %d that may be", m.Held, sp.Bytes)
	}
	return nil
}
