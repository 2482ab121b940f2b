package units

import (
	"math/rand/v2"
	"slices"
)

// Work of a frame.
const (
	removed, hits = 500, 4_000 // each eighth hit is deadly

	stunFrames = 8
	batch      = 1_000
)

// MinUnits is how many units a world has at least, so that each frame finds units to remove and
// hit.
const MinUnits = 4 * (removed + hits)

// StateEach is how many frames there are for each state that is read.
const StateEach = 12

// events is what a frame does: it is drawn before the frame's time begins, and alike for all sides.
type events struct {
	Frame   int64
	Hits    []hit    // of living units; some are hit twice
	Removed []uint32 // clients with living units that are not hit
	Spawns  []unit   // of clients that have none; their leaders live when the frame begins
}

// script draws events. A client has one unit, or none until the next frame.
type script struct {
	r      *rand.Rand
	number uint32 // of the next unit
	lives  []bool // by client
	free   []uint32
	events events
}

func newScript(units int) *script {
	return &script{r: rand.New(rand.NewPCG(1, 2)), lives: make([]bool, units)}
}

// first returns up to batch of the units that the world begins with; none when all are there.
func (s *script) first() []unit {
	s.events.Spawns = s.events.Spawns[:0]
	from := s.number
	for ; s.number < uint32(len(s.lives)) && s.number < from+batch; s.number++ {
		leader := uint32(noClient)
		if from > 0 {
			leader = s.r.Uint32N(from)
		}
		s.events.Spawns = append(s.events.Spawns, newUnit(s.number, s.number, leader))
		s.lives[s.number] = true
	}
	return s.events.Spawns
}

// living draws a client with a unit.
func (s *script) living() uint32 {
	for {
		if c := s.r.Uint32N(uint32(len(s.lives))); s.lives[c] {
			return c
		}
	}
}

// draw returns the events of a frame, until the next draw.
func (s *script) draw(frame int64) *events {
	e := &s.events
	e.Frame, e.Hits, e.Removed, e.Spawns = frame, e.Hits[:0], e.Removed[:0], e.Spawns[:0]
	for _, c := range s.free {
		e.Spawns = append(e.Spawns, newUnit(s.number, c, s.living()))
		s.number++
	}
	for range removed {
		c := s.living()
		s.lives[c] = false
		e.Removed = append(e.Removed, c)
	}
	for i := range hits {
		h := hit{Client: s.living(), Item: s.r.Uint32N(pack), Points: 4 + s.r.Int32N(12)}
		if i%8 == 0 {
			h.Points = 1_000
		}
		e.Hits = append(e.Hits, h)
	}
	return e
}

// redraw returns a batch of units that are removed, and those that their clients get instead.
func (s *script) redraw() *events {
	e := &s.events
	e.Removed, e.Spawns = e.Removed[:0], e.Spawns[:0]
	for range batch {
		c := s.living()
		s.lives[c] = false
		e.Removed = append(e.Removed, c)
	}
	for _, c := range e.Removed {
		e.Spawns = append(e.Spawns, newUnit(s.number, c, s.living()))
		s.number++
	}
	return e
}

// played takes note of a frame and of the clients whose units died in it, in any order.
func (s *script) played(dead []uint32) {
	for _, u := range s.events.Spawns {
		s.lives[u.Slot.Client] = true
	}
	for _, c := range dead {
		s.lives[c] = false
	}
	s.free = append(s.free[:0], dead...)
	slices.Sort(s.free)
}
