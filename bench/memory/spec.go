package main

import (
	"errors"
	"fmt"
	"time"

	"quarry/bench/child"
)

// spec is the work of a child process.
type spec struct {
	Workload  string `json:"workload"`
	Allocator string `json:"allocator"`
	Trace     string `json:"trace,omitempty"` // the name of the trace; for traces
	Calls     string `json:"calls,omitempty"` // the file with its calls; see calls.go
	// The second method: of traces utilisation, of fragment what is given back unasked.
	Second bool `json:"second,omitempty"`
	Lean   bool `json:"lean,omitempty"` // the allocator set up for a small footprint
	Long   bool `json:"long,omitempty"` // give the trace a second of passes
	Quick  bool `json:"quick,omitempty"`
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

// run does the work of the spec in this process.
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
	open := a.opener(w.kind)
	if w.lean && a.lean != nil {
		open = a.lean
	}
	e, err := newEnv(open, sc)
	if err != nil {
		return sample{}, err
	}
	e.second = sp.Second
	return e.finish(w.run(e))
}

func (sp spec) replay(a *allocator, sc scale) (sample, error) {
	open := a.blocks
	if sp.Lean {
		open = a.lean
	}
	e, err := newEnv(open, sc)
	if err != nil {
		return sample{}, err
	}
	r, err := readReplay(sp.Calls, e.m)
	if err != nil {
		return sample{}, errors.Join(err, e.m.close())
	}
	if sp.Second {
		name := utilisation
		if sp.Lean {
			name = leanUtilisation
		}
		return e.finish(footprint(e, r, name))
	}
	return e.finish(replayTimed(e, r, sp.budget(sc)))
}

// budget is the time for the passes of a trace.
func (sp spec) budget(sc scale) time.Duration {
	if sp.Long {
		return sc.trace
	}
	return sc.time / 3
}
