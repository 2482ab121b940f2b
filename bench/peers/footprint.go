package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"quarry/bench/child"
)

// childTime bounds how long one child may take.
const childTime = 2 * time.Minute

// spec is what a child has to build.
type spec struct {
	Workload string `json:"workload"`
	Entrant  string `json:"entrant"`
	N        int    `json:"n"`
}

// footprint is what a child found, in bytes.
type footprint struct {
	Peak  int64  `json:"peak"`  // greatest resident memory over that before building
	Rest  int64  `json:"rest"`  // resident after a collection, over the same
	Wrong string `json:"wrong"` // in words; empty: the check held
}

// roundInChild measures the memory of a process that builds the trial.
func (c *contender) roundInChild() error {
	if c.idle() {
		return nil
	}
	s := spec{c.way.workload, c.way.entrant, c.n}
	f, err := child.Start[spec, footprint](s, childTime)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", s.Entrant, s.Workload, err)
	}
	c.wrong = f.Wrong
	c.rounds = append(c.rounds, float64(f.Peak))
	c.samples = append(c.samples, float64(f.Rest))
	return nil
}

// run builds the trial in this process. The collector works as it does by
// default: what it leaves lying is part of the peak.
func (s spec) run() (f footprint, err error) {
	w, err := wayNamed(s.Workload, s.Entrant)
	if err != nil {
		return f, err
	}
	debug.FreeOSMemory()
	before := residentBytes()
	t, err := w.build(s.N)
	if err != nil {
		return f, err
	}
	f.Peak = peakBytes() - before
	debug.FreeOSMemory()
	f.Rest = residentBytes() - before
	err = t.check(1)
	runtime.KeepAlive(t)
	if err == nil {
		err = t.close()
	}
	if errors.Is(err, errWrong) {
		f.Wrong, err = err.Error(), nil
	}
	return f, err
}
