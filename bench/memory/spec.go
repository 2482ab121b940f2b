package main

import (
	"fmt"
	"slices"
	"time"

	"quarry/bench/child"
	"quarry/bench/trace"
)

// spec says what a child has to do.
type spec struct {
	Workload  string `json:"workload"`
	Allocator string `json:"allocator"`
	Trace     string `json:"trace,omitempty"`     // file, or builtIn; for traces
	Footprint bool   `json:"footprint,omitempty"` // measure utilisation, not time
	Long      bool   `json:"long,omitempty"`      // give the trace a second of passes
	Quick     bool   `json:"quick,omitempty"`
}

// childTime bounds how long one child may take.
const childTime = 2 * time.Minute

// start runs a spec in a process of its own.
func (sp spec) start() (sample, error) {
	s, err := child.Start[spec, sample](sp, childTime)
	if err != nil {
		err = fmt.Errorf("%s on %s: %w", sp.name(), sp.Allocator, err)
	}
	return s, err
}

// name is the workload, and for traces also the file.
func (sp spec) name() string {
	if sp.Trace == "" {
		return sp.Workload
	}
	return sp.Workload + " " + sp.Trace
}

// runAsAsked is run at the scale of the spec.
func (sp spec) runAsAsked() (sample, error) { return sp.run(scaleOf(sp.Quick)) }

func scaleOf(isQuick bool) scale {
	if isQuick {
		return quick
	}
	return whole
}

// run does what the spec says in this process.
func (sp spec) run(sc scale) (sample, error) {
	a := allocatorNamed(sp.Allocator)
	if a == nil {
		return sample{}, fmt.Errorf("no allocator %q", sp.Allocator)
	}
	if sp.Workload == tracesName {
		return sp.replay(a, sc)
	}
	w := workloadNamed(sp.Workload)
	if w == nil || !w.takes(a) {
		return sample{}, fmt.Errorf("no workload %q for %s", sp.Workload, sp.Allocator)
	}
	e, err := newEnv(a.opener(w.kind), sc)
	if err != nil {
		return sample{}, err
	}
	return e.finish(w.run(e))
}

// maxBlock is the size of the largest block that a replay can keep books of.
const maxBlock = 1<<31 - 1

func (sp spec) replay(a *allocator, sc scale) (sample, error) {
	t := trace.Demo()
	if sp.Trace != builtIn {
		var err error
		if t, err = trace.Read(sp.Trace); err != nil {
			return sample{}, err
		}
	}
	if s := t.Stats(); s.MaxRequest > maxBlock || s.MaxAlign > 1<<(alignClasses-1) {
		return sample{}, fmt.Errorf("%s: blocks of %d bytes aligned to %d, expected at most %d and %d",
			sp.Trace, s.MaxRequest, s.MaxAlign, maxBlock, 1<<(alignClasses-1))
	}
	if !slices.ContainsFunc(t.Ops, func(op trace.Op) bool { return op.Effect() != trace.Nothing }) {
		return sample{}, fmt.Errorf("%s: expected a call that does something", sp.Trace)
	}
	open := a.blocks
	if sp.Footprint {
		open = a.lean
	}
	e, err := newEnv(open, sc)
	if err != nil {
		return sample{}, err
	}
	if sp.Footprint {
		return e.finish(footprint(e, t))
	}
	budget := sc.time / 3
	if sp.Long {
		budget = sc.trace
	}
	return e.finish(replayTimed(e, t, budget))
}
