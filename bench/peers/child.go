package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// childFlag is the argument that makes the program a child; a spec follows.
const childFlag = "-child"

// childTime bounds how long one child may take.
const childTime = time.Minute

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
	if c.wrong != "" {
		return nil
	}
	f, err := spec{c.way.workload, c.way.entrant, c.n}.start()
	if err != nil {
		return err
	}
	c.wrong = f.Wrong
	c.rounds = append(c.rounds, float64(f.Peak))
	c.samples = append(c.samples, float64(f.Rest))
	return nil
}

func (s spec) start() (f footprint, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return f, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), childTime)
	defer cancel()
	c := exec.CommandContext(ctx, self, childFlag, string(text))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return f, fmt.Errorf("%s on %s: %w: %s", s.Entrant, s.Workload, err, firstLine(errs.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		return f, fmt.Errorf("%s on %s: the child printed no footprint: %w", s.Entrant, s.Workload, err)
	}
	return f, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// child is the program in a child.
func child(text string, stdout, stderr io.Writer) int {
	var s spec
	err := json.Unmarshal([]byte(text), &s)
	if err == nil {
		var f footprint
		if f, err = s.run(); err == nil {
			err = json.NewEncoder(stdout).Encode(f)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitError
	}
	return exitOK
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
