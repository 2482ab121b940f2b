package main

import (
	"errors"
	"fmt"
)

// errWrong is wrapped by every error about a wrong result.
var errWrong = errors.New("wrong result")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errWrong, fmt.Sprintf(format, args...))
}

// trial is an entrant on a workload, built and ready. Calls through this interface are per pass or
// rarer, never per entity.
type trial interface {
	// check compares the state after that many passes in all with the expected one. It is not
	// timed.
	check(passes int) error
	// close ends the trial.
	close() error
}

// repeated is a trial whose passes can follow each other: the loop is inside, so that a pass of a
// few ns can be timed.
type repeated interface {
	trial
	pass(times int)
}

// restored is a trial with a single timed pass, after which restore, which is not timed, brings the
// previous state back. The last pass is checked before it is undone.
type restored interface {
	trial
	once()
	restore() error
}

// stepwise is a trial that times each of its n steps: the ns of step i go to into[i]. Each trial
// runs once.
type stepwise interface {
	trial
	steps(into []uint32)
}

// partial is a trial whose passes handle fewer entities than n.
type partial interface {
	trial
	handled() int
}

// holding is a trial that does nothing but exist: the measurement is of the process that built it,
// its memory or its collector.
type holding interface {
	trial
	entities() int
}

// way is one entrant's way of doing one workload.
type way struct {
	workload, entrant string
	build             func(n int) (trial, error)
}

// endless is a trial that has nothing to close: the collector frees it.
type endless struct{}

func (endless) close() error { return nil }
