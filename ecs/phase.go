package ecs

import (
	"fmt"
	"sync"
)

// Phase is a time in which several goroutines read one world: its owner calls
// Share, hands the phase to them, and calls End when they are done. Meanwhile
// nobody may change the structure of the world, write components, make archetypes or
// register types, which panics; any goroutine may loop over queries by Rows and RowsOf, read
// by Get, Has, Alive, Enabled, and Get and Slice of buffers, by Get, At and Of of shared
// types and Get of managed ones, look up many of a type that was so
// looked up before Share (GetMany, Gather), and use Enable and Disable. The owner waits
// for the others before End, with a WaitGroup or the like.
type Phase struct {
	w    *World
	lock *scan // stands among the world's loops, so that structural changes panic
	mu   sync.Mutex
	idle []*scan // to be used again
	open int     // loops under way
}

// Share begins a phase. It panics inside a loop, in another phase and when the
// world is closed.
func (w *World) Share() *Phase {
	w.checkNew("World.Share")
	w.checkUnshared("World.Share")
	w.settle("World.Share")
	if w.loops.open > 0 {
		panic("ecs: World.Share: " + w.loop() + "; begin the phase outside of loops")
	}
	p := &Phase{w: w, lock: w.openScan(nil)}
	w.loops.phase, w.news.unshared = p, never
	w.guard(true)
	return p
}

// End ends the phase. It panics when a loop is still under way, and when it was
// ended before.
func (p *Phase) End() {
	p.check("Phase.End")
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.w.loops.phase != p:
		panic("ecs: Phase.End: the phase has ended")
	case p.open > 0 || p.w.loops.open > 1:
		panic(fmt.Sprintf("ecs: Phase.End: loops under way: %d; wait for their goroutines first", max(1, p.open)))
	}
	p.lock.end()
	p.w.loops.phase, p.w.news.unshared = nil, p.w.news.matched
	p.w.guard(false)
}

// guard makes functions that write a component ask whether they may, or not any more.
func (w *World) guard(on bool) {
	for _, t := range w.types.list {
		t.guarded = on
	}
}

func (p *Phase) check(op string) {
	if p == nil || p.w == nil {
		panic("ecs: " + op + ": the phase is nil or the zero value; phases come from World.Share")
	}
}

//go:noinline
func (p *Phase) refuse(op string) {
	panic("ecs: " + op + ": the world is shared: until Phase.End components are only read")
}
