package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"quarry/bench/child"
)

// childTime bounds how long one child may take.
const childTime = 2 * time.Minute

// spec is the work of a child process: what it builds and measures.
type spec struct {
	Workload string        `json:"workload"`
	Entrant  string        `json:"entrant"`
	N        int           `json:"n"`
	Timed    time.Duration `json:"timed"` // the budget
	Wall     time.Duration `json:"wall"`
}

// answer is what a child found: one of three things.
type answer struct {
	Wrong     string      `json:"wrong"` // in words; empty: the check held
	Footprint *footprint  `json:"footprint,omitempty"`
	Garbage   *collection `json:"garbage,omitempty"`
	Timing    *timing     `json:"timing,omitempty"`
}

// timing is a round of a contender.
type timing struct {
	Round   float64   `json:"round"`
	Samples []float64 `json:"samples"`
	Times   int       `json:"times"`
	Per     int       `json:"per"`
	Allocs  float64   `json:"allocs"`
	Bytes   float64   `json:"bytes"`
	Held    int64     `json:"held"`
}

// roundInChild is a round in a process of its own.
func (c *contender) roundInChild(b budget) error {
	if c.idle() {
		return nil
	}
	s := spec{c.way.workload, c.way.entrant, c.n, b.timed, b.wall}
	a, err := child.Start[spec, answer](s, childTime)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", s.Entrant, s.Workload, err)
	}
	c.wrong = a.Wrong
	switch {
	case a.Wrong != "":
	case a.Footprint != nil:
		c.rounds = append(c.rounds, float64(a.Footprint.Peak))
		c.samples = append(c.samples, float64(a.Footprint.Rest))
	case a.Garbage != nil:
		c.rounds = append(c.rounds, cpuTime(a.Garbage))
		c.garbage = append(c.garbage, *a.Garbage)
	case a.Timing != nil:
		c.take(a.Timing)
	}
	return nil
}

// take adds a round measured by a child.
func (c *contender) take(t *timing) {
	if len(c.rounds) == 0 || t.Allocs < c.allocs {
		c.allocs, c.bytes = t.Allocs, t.Bytes
	}
	c.rounds = append(c.rounds, t.Round)
	c.samples = append(c.samples, t.Samples...)
	c.times, c.per, c.held = t.Times, t.Per, t.Held
}

// run measures in this process. It also accepts workloads that this command times in turns:
// bench/native requests them.
func (s spec) run() (a answer, err error) {
	way, err := wayNamed(s.Workload, s.Entrant)
	if err != nil {
		return a, err
	}
	w := workloadNamed(s.Workload)
	if !w.child && !w.garbage {
		return s.time(way)
	}
	var t trial
	if w.garbage {
		t, a.Garbage, err = collect(way, s.N)
	} else {
		t, a.Footprint, err = weighProcess(way, s.N)
	}
	if err != nil {
		return a, err
	}
	err = t.check(1)
	runtime.KeepAlive(t)
	if errors.Is(err, errWrong) {
		a.Wrong, err = err.Error(), nil
	}
	return a, errors.Join(err, t.close())
}

// time measures a round as in any workload.
func (s spec) time(w *way) (a answer, err error) {
	c := &contender{way: w, n: s.N}
	err = errors.Join(c.round(budget{s.Timed, s.Wall}), c.end())
	if err != nil || c.wrong != "" {
		return answer{Wrong: c.wrong}, err
	}
	return answer{Timing: &timing{
		Round: c.rounds[0], Samples: c.samples, Times: c.times, Per: c.per,
		Allocs: c.allocs, Bytes: c.bytes, Held: c.held,
	}}, nil
}
