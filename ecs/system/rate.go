package system

import (
	"fmt"
	"time"
)

// Rate decides how often a group updates its systems in a frame, and the time of each round.
type Rate interface {
	// Next is called before each round of the group in a frame. frame is the time of the enclosing
	// group, n the number of rounds done in this frame. Next returns the time of the next round, or
	// false if this frame has no more rounds.
	Next(frame Time, n int) (Time, bool)
}

// Fixed is a Rate with a constant step: each frame has as many rounds as are due, all with the same
// Delta. The first round is due at the start of the first frame that asks for one, so that frame
// always has a round. From then on the simulated time is never behind the frame's time, and less
// than one step ahead of it.
type Fixed struct {
	step    time.Duration
	most    int
	steps   int64         // rounds so far
	begun   time.Duration // when the first round was due
	dropped time.Duration // time given up
	ahead   time.Duration
	owned
}

// owned is the part of a rate that counts the rounds of one group.
type owned struct{ of *Group } // the group that has it by SetRate

// ownedBy returns the part of a rate with its owner, and whether it counts rounds: nil then for a
// rate that nobody made.
func ownedBy(r Rate) (o *owned, counts bool) {
	switch r := r.(type) {
	case *Fixed:
		if r != nil && r.step > 0 {
			o = &r.owned
		}
		return o, true
	case *Variable:
		if r != nil && r.interval > 0 {
			o = &r.owned
		}
		return o, true
	}
	return nil, false
}

// NewFixed returns a rate that runs one round for each step begun, at most most in a frame. Time
// beyond that is dropped: a program that needs longer to compute a step than the step lasts slows
// down and does not stall. NewFixed panics if step or most is not positive.
func NewFixed(step time.Duration, most int) *Fixed {
	if step <= 0 || most <= 0 {
		panic(fmt.Sprintf("system: NewFixed(%v, %d): both must be positive", step, most))
	}
	return &Fixed{step: step, most: most}
}

// Next implements Rate.
func (f *Fixed) Next(frame Time, n int) (Time, bool) {
	if f.steps == 0 {
		f.begun = frame.Elapsed - frame.Delta
	}
	done := f.begun + time.Duration(f.steps)*f.step
	behind := frame.Elapsed - f.dropped - done
	if f.steps > 0 && behind <= 0 {
		f.ahead = -behind
		return Time{}, false
	}
	if n >= f.most {
		f.dropped += behind
		f.ahead = 0
		return Time{}, false
	}
	f.steps++
	return Time{Elapsed: done + f.step, Delta: f.step, Frame: frame.Frame}, true
}

// Step returns the Delta of each round.
func (f *Fixed) Step() time.Duration { return f.step }

// Ahead returns how far the last round is ahead of the frame, from 0 to less than a step. To draw
// the frame, interpolate at 1 - Ahead/Step between the states before and after that round.
func (f *Fixed) Ahead() time.Duration { return f.ahead }

// Dropped returns the total time dropped so far because more steps were due than a frame may run.
func (f *Fixed) Dropped() time.Duration { return f.dropped }

// Variable is a Rate with at most one round a frame, and at least an interval between rounds. Delta
// is the time since the last round; in the first round it is the frame's Delta.
type Variable struct {
	interval, most time.Duration
	last           time.Duration
	begun          bool
	owned
}

// NewVariable returns a rate with a round in the first frame, and in each frame that is at least
// interval after the last round. Delta is at most most. NewVariable panics if interval is not
// positive or most is less than interval.
func NewVariable(interval, most time.Duration) *Variable {
	if interval <= 0 || most < interval {
		panic(fmt.Sprintf("system: NewVariable(%v, %v): the interval must be positive, and the most no less",
			interval, most))
	}
	return &Variable{interval: interval, most: most}
}

// Next implements Rate.
func (v *Variable) Next(frame Time, _ int) (Time, bool) {
	passed := frame.Elapsed - v.last
	if !v.begun {
		passed = frame.Delta
	}
	if v.begun && passed < v.interval { // too soon after the last round
		return Time{}, false
	}
	v.last, v.begun = frame.Elapsed, true
	return Time{Elapsed: frame.Elapsed, Delta: min(passed, v.most), Frame: frame.Frame}, true
}
