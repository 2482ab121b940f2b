package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"quarry/bench/trace"
)

// childFlag, as the first argument, makes the command the child that runs one
// spec and prints one sample.
const childFlag = "-child"

// spec is what a child has to do.
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
	var s sample
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	text, err := json.Marshal(sp)
	if err != nil {
		return s, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), childTime)
	defer cancel()
	c := exec.CommandContext(ctx, self, childFlag, string(text))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return s, fmt.Errorf("%s on %s: %w: %s", sp.name(), sp.Allocator, err, firstLines(errs.String(), 5))
	}
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		return s, fmt.Errorf("%s on %s: the child printed no sample: %w", sp.name(), sp.Allocator, err)
	}
	return s, nil
}

// name is the workload, and for traces the file.
func (sp spec) name() string {
	if sp.Trace == "" {
		return sp.Workload
	}
	return sp.Workload + " " + sp.Trace
}

func firstLines(text string, n int) string {
	lines := strings.SplitN(strings.TrimSpace(text), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "; ")
}

// child is the command in a child.
func child(text string, stdout, stderr io.Writer) int {
	var sp spec
	err := json.Unmarshal([]byte(text), &sp)
	if err == nil {
		var s sample
		if s, err = sp.run(scaleOf(sp.Quick)); err == nil {
			err = json.NewEncoder(stdout).Encode(s)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "%v\n", err)
		return exitError
	}
	return exitOK
}

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

// maxBlock is the size of the largest block that a replay keeps books of.
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
	if !slices.ContainsFunc(t.Ops, func(op trace.Op) bool { return op.Effect != trace.Nothing }) {
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
