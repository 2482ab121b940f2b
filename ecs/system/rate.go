package system

import (
	"fmt"
	"time"
)

// Rate decides how often a group updates its systems in a frame, and what time they see.
type Rate interface {
	// Next is asked before each round of the group in a frame: frame is the time around the group,
	// n the rounds of this frame so far. It returns the time of the next round, or false when there
	// is none in this frame.
	Next(frame Time, n int) (Time, bool)
}

// Fixed is a Rate of constant steps: as many rounds a frame as are due, each of the same
// Delta. The first is due when the first frame that asks for one begins, so that one has a
// round; from then on time that is simulated is never behind the frame's, nor a step or more
// ahead.
type Fixed struct {
	step    time.Duration
	most    int
	steps   int64         // so far
	begun   time.Duration // when the first was due
	dropped time.Duration // given up
	ahead   time.Duration
}

// NewFixed makes a rate of so many rounds a frame as steps have begun, most at most: time
// beyond is dropped, so that a program that takes longer for a step than it lasts becomes
// slow and does not stop. It panics when step or most is not positive.
func NewFixed(step time.Duration, most int) *Fixed {
	if step <= 0 || most <= 0 {
		panic(fmt.Sprintf("system: NewFixed(%v, %d): both must be positive", step, most))
	}
	return &Fixed{step: step, most: most}
}

// Next is Rate's.
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

// Ahead returns how far the last round is ahead of the frame, from 0 to less than a step:
// what is drawn lies at 1 - Ahead/Step of the way from the state before it to the one after.
func (f *Fixed) Ahead() time.Duration { return f.ahead }

// Dropped returns the time given up so far because more than the most steps were due.
func (f *Fixed) Dropped() time.Duration { return f.dropped }

// Variable is a Rate of one round a frame, and none until an interval has passed. Delta is
// what has passed since the last round; in the first, what the frame takes.
type Variable struct {
	interval, most time.Duration
	last           time.Duration
	begun          bool
}

// NewVariable makes a rate of a round in the first frame, and in each one by which interval
// has passed since the last round; Delta is most at most. It panics when interval or most is not
// positive, and when most is less than interval.
func NewVariable(interval, most time.Duration) *Variable {
	if interval <= 0 || most < interval {
		panic(fmt.Sprintf("system: NewVariable(%v, %v): the interval must be positive, and the most no less", interval, most))
	}
	return &Variable{interval: interval, most: most}
}

// Next is Rate's.
func (v *Variable) Next(frame Time, _ int) (Time, bool) {
	passed := frame.Elapsed - v.last
	if !v.begun {
		passed = frame.Delta
	}
	if v.begun && passed < v.interval { // in this frame already, or not long ago
		return Time{}, false
	}
	v.last, v.begun = frame.Elapsed, true
	return Time{Elapsed: frame.Elapsed, Delta: min(passed, v.most), Frame: frame.Frame}, true
}
