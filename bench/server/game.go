package main

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"quarry/bench/process"
)

// Work of a frame.
const (
	removed, hits, stunned = 1_000, 4_000, 500

	stunFrames = 16
	stateEach  = 12 // frames
)

// side is a world with handles of type E. All handles that it is given are of living units, but for
// those of recover.
type side[E any] interface {
	spawn(units []unit, list []E) ([]E, error) // appends their handles
	remove(e E)
	hit(e E, points int32) (left int32)
	stun(e E, until int64)
	recover(e E, frame int64) // if the unit lives and its stun ends in this frame
	move()
	state() state
	close() error
}

// state is a moment's units. It is read on another goroutine and ended on that of the world.
type state interface {
	read() sum
	end()
}

// spec is the work of a child process.
type spec struct {
	Side   string `json:"side"`
	Units  int    `json:"units"`
	Frames int    `json:"frames"`
}

// sample is what a child found. Times are in ns, memory in bytes above that before the world.
type sample struct {
	Build    int64 `json:"build"`    // the first units
	Resident int64 `json:"resident"` // before the first state
	End      int64 `json:"end"`      // resident at the end
	Peak     int64 `json:"peak"`
	Mean     int64 `json:"mean"` // of a frame
	P50      int64 `json:"p50"`
	P99      int64 `json:"p99"`
	State    int64 `json:"state"` // the median of taking one
	CPU      int64 `json:"cpu"`   // of the process, in all frames
	GC       int64 `json:"gc"`    // of it, the collector's
	Last     sum   `json:"last"`
	States   sum   `json:"states"`
}

func (sp spec) measure() (sample, error) {
	switch sp.Side {
	case quarrySide:
		return play(newQuarry, sp)
	case arkSide:
		return play(newArk, sp)
	case plainSide:
		return play(newPlain, sp)
	}
	return sample{}, fmt.Errorf("no side %q", sp.Side)
}

// game is a world that is played.
type game[E any] struct {
	side[E]
	r      *rand.Rand
	live   []E
	ring   [stunFrames][]E // who was stunned in which frame
	next   number
	lost   int // units, in this frame
	times  []int64
	taking []int64
	out    sample
	reader chan sum // of the state that is read; nil: there is none
	read   state
}

func play[E any, S side[E]](open func() (S, error), sp spec) (out sample, err error) {
	debug.FreeOSMemory()
	base := process.Resident()
	s, err := open()
	if err != nil {
		return out, err
	}
	g := &game[E]{side: s, r: rand.New(rand.NewPCG(1, 2))}
	start := time.Now()
	if err := g.grow(sp.Units); err != nil {
		return out, err
	}
	g.out.Build = time.Since(start).Nanoseconds()
	before := process.Read()
	for frame := range sp.Frames {
		start := time.Now()
		if err := g.frame(int64(frame)); err != nil {
			return out, err
		}
		if frame%stateEach == stateEach-1 {
			if g.out.Resident == 0 {
				g.out.Resident = process.Resident() - base
				start = time.Now()
			}
			g.take()
		}
		g.times = append(g.times, time.Since(start).Nanoseconds())
	}
	g.wait()
	use := process.Read().Since(before)
	g.out.CPU, g.out.GC = use.CPU.Nanoseconds(), use.GC.Nanoseconds()
	g.out.End, g.out.Peak = process.Resident()-base, process.Peak()-base
	last := g.state()
	g.out.Last = last.read()
	last.end()
	g.figures()
	return g.out, s.close()
}

// grow spawns n units.
func (g *game[E]) grow(n int) (err error) {
	const most = 1 << 16
	units := make([]unit, 0, min(n, most))
	for n > 0 && err == nil {
		units = units[:0]
		for range min(n, most) {
			units = append(units, newUnit(g.next))
			g.next++
		}
		n -= len(units)
		g.live, err = g.spawn(units, g.live)
	}
	return err
}

func (g *game[E]) frame(frame int64) error {
	if err := g.grow(g.lost); err != nil { // those of the frame before
		return err
	}
	g.lost = 0
	for range removed {
		g.drop(g.r.IntN(len(g.live)))
	}
	for range hits {
		i := g.r.IntN(len(g.live))
		if g.hit(g.live[i], int32(g.r.IntN(16))) <= 0 {
			g.drop(i)
		}
	}
	ends := &g.ring[frame%stunFrames]
	for _, e := range *ends {
		g.recover(e, frame)
	}
	*ends = (*ends)[:0]
	for range stunned {
		e := g.live[g.r.IntN(len(g.live))]
		g.stun(e, frame+stunFrames)
		*ends = append(*ends, e)
	}
	g.move()
	if len(g.reader) > 0 {
		g.wait()
	}
	return nil
}

// drop removes a unit of the list.
func (g *game[E]) drop(i int) {
	g.lost++
	g.remove(g.live[i])
	last := len(g.live) - 1
	g.live[i] = g.live[last]
	g.live = g.live[:last]
}

// take hands the state of now to a reader, unless one still reads.
func (g *game[E]) take() {
	g.wait()
	start := time.Now()
	s := g.state()
	g.taking = append(g.taking, time.Since(start).Nanoseconds())
	done := make(chan sum, 1)
	g.read, g.reader = s, done
	go func() { done <- s.read() }()
}

// wait ends the state that is read, when its reader is done.
func (g *game[E]) wait() {
	if g.reader == nil {
		return
	}
	s := <-g.reader
	g.out.States.Units += s.Units
	g.out.States.Mix += s.Mix
	g.read.end()
	g.read, g.reader = nil, nil
}

func (g *game[E]) figures() {
	total := int64(0)
	for _, t := range g.times {
		total += t
	}
	g.out.Mean = total / int64(len(g.times))
	slices.Sort(g.times)
	g.out.P50, g.out.P99 = g.times[len(g.times)/2], g.times[len(g.times)*99/100]
	if len(g.taking) > 0 {
		slices.Sort(g.taking)
		g.out.State = g.taking[len(g.taking)/2]
	}
}
