package ecstest

import (
	"errors"
	"fmt"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/long"
)

// Refusals makes calls on worlds whose memory is refused. It goes on after a refusal,
// which must have changed nothing.
type Refusals struct {
	Failures *alloc.Failures
	Asked    map[string]int // requests by name of the call
	Worlds   []*ecs.World
	Values   func() string // what the worlds have that their hashes do not count; nil: nothing
	First    error         // an error that is not a refusal replaces one that is
}

// Try makes a call. A *LimitError that it panics with is its error.
func (r *Refusals) Try(name string, call func() error) {
	before, requests := r.State(true), r.Failures.Asked()
	err := ErrorOf(call)
	r.Asked[name] += r.Failures.Asked() - requests
	if after := r.State(true); err != nil && after != before {
		err = fmt.Errorf("%s changed the worlds from %s to %s: %v", name, before, after, err)
	}
	r.Note(name, err)
}

// TryValues is Try of a call that may leave archetypes, larger chunks or blocks behind.
func (r *Refusals) TryValues(name string, call func() error) {
	before, requests := r.State(false), r.Failures.Asked()
	err := ErrorOf(call)
	r.Asked[name] += r.Failures.Asked() - requests
	if err != nil && r.State(false) != before {
		err = fmt.Errorf("%s changed the worlds: %v", name, err)
	}
	r.Note(name, err)
}

// Note keeps an error, or what is wrong with a world after the call.
func (r *Refusals) Note(name string, err error) {
	for _, w := range r.Worlds {
		if wrong := w.Verify(); wrong != nil {
			err = fmt.Errorf("after %s: %w", name, wrong)
		}
	}
	if r.First == nil || err != nil && !errors.Is(err, alloc.ErrInjected) && errors.Is(r.First, alloc.ErrInjected) {
		r.First = err
	}
}

// ErrorOf makes a call and returns its error, or the *LimitError of its panic.
func ErrorOf(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			limit, ok := v.(*ecs.LimitError)
			if !ok {
				panic(v)
			}
			err = limit
		}
	}()
	return call()
}

// State is what a refusal must leave as it is: hashes and values, and with counts
// those of Stats. Reserves may be given back, and taken.
func (r *Refusals) State(counts bool) (text string) {
	for _, w := range r.Worlds {
		text += fmt.Sprintf("%x ", w.Hash())
		if counts {
			stats := w.Stats()
			stats.Reserve, stats.Small, stats.Shared = 0, 0, 0
			text += fmt.Sprint(stats, " ")
		}
	}
	if r.Values != nil {
		text += r.Values()
	}
	return text
}

// CheckFailures is alloc.CheckEveryFailure. Its short form refuses one request in seven, alone and
// with all after it: what a call of many requests leaves behind is still seen in several places,
// though not in each.
func CheckFailures(f func(*alloc.Failures) error) error {
	if long.On() {
		return alloc.CheckEveryFailure(f)
	}
	runs := 0 // the first refuses nothing, and then there are two for each request
	return alloc.CheckEveryFailure(func(s *alloc.Failures) error {
		if runs++; runs > 1 && runs/2%7 != 1 {
			return nil
		}
		return f(s)
	})
}
