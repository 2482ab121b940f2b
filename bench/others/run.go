package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// verdict is the result of a test by go test.
type verdict string

const (
	passed  verdict = "pass"
	skipped verdict = "skip"
	failed  verdict = "fail"
)

// result is a run of one package's tests.
type result struct {
	verdicts map[string]verdict // by test, subtests too
	verdict  verdict            // of the package: it also fails where it is not built, or a process dies
	time     time.Duration
	output   map[string][]string // lines by test; "" has those of the package
}

// count returns how many tests have a verdict; top: without subtests.
func (r *result) count(v verdict, top bool) int {
	n := 0
	for name, got := range r.verdicts {
		if got == v && !(top && strings.Contains(name, "/")) {
			n++
		}
	}
	return n
}

// event is a line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of what is built
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// runs has a result for each package.
type runs map[string]*result

func (all runs) of(name string) *result {
	r := all[name]
	if r == nil {
		r = &result{verdicts: map[string]verdict{}, output: map[string][]string{}}
		all[name] = r
	}
	return r
}

// read takes the events of one go test.
func (all runs) read(from io.Reader) error {
	builds := map[string][]string{}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("go test -json: %w: %q", err, line)
		}
		if e.Package == "" {
			if e.Action == "build-output" {
				builds[e.ImportPath] = append(builds[e.ImportPath], e.Output)
			}
			continue
		}
		r := all.of(e.Package)
		switch v := verdict(e.Action); {
		case e.Action == "output":
			r.output[e.Test] = append(r.output[e.Test], e.Output)
		case v != passed && v != skipped && v != failed:
		case e.Test != "":
			r.verdicts[e.Test] = v
			if v != failed {
				delete(r.output, e.Test) // nobody requests it
			}
		default:
			r.verdict = v
			r.time += time.Duration(e.Elapsed * float64(time.Second))
			r.output[""] = append(r.output[""], builds[e.FailedBuild]...)
		}
	}
}

// test runs the tests of one group in a copy, with additional environment variables, and adds their
// results.
func (all runs) test(ctx context.Context, dir string, g group, o *options, environment ...string) error {
	c := exec.CommandContext(ctx, "go", o.arguments(g)...)
	c.Dir, c.Env, c.Stderr = dir, slices.Concat(os.Environ(), alone, o.env(), environment), o.stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	read := all.read(out)
	_, _ = io.Copy(io.Discard, out)
	err = c.Wait()
	if _, isExit := err.(*exec.ExitError); isExit && ctx.Err() == nil {
		err = nil // a test failed, which the results show
	}
	if read != nil {
		return read
	}
	all.forget(g.varied)
	return err
}

// forget drops the subtests of some tests. When one of them failed, so did the test.
func (all runs) forget(tests []string) {
	for _, r := range all {
		maps.DeleteFunc(r.verdicts, func(name string, _ verdict) bool {
			test, _, isSub := strings.Cut(name, "/")
			return isSub && slices.Contains(tests, test)
		})
	}
}

// difference describes how two runs differ; it is empty when they do not. It names the tests that
// failed on our memory only.
func difference(own, ours *result) (list []string) {
	if own.verdict != failed && ours.verdict == failed {
		list = append(list, "the package fails on our memory only")
	}
	for _, name := range slices.Sorted(maps.Keys(ours.verdicts)) {
		if ours.verdicts[name] == failed && own.verdicts[name] != failed {
			list = append(list, "fails on our memory only: "+name)
		}
	}
	for _, v := range []verdict{passed, skipped, failed} {
		if a, b := own.count(v, false), ours.count(v, false); a != b {
			list = append(list, fmt.Sprintf("%s: %d tests on its own memory, %d on ours", v, a, b))
		}
	}
	return list
}

// changed lists the tests whose verdicts differ.
func changed(own, ours *result) (list []string) {
	names := maps.Clone(own.verdicts)
	maps.Copy(names, ours.verdicts)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := own.verdicts[name], ours.verdicts[name]
		if a != b {
			list = append(list, fmt.Sprintf("%s: own %s, ours %s", name, or(a), or(b)))
		}
	}
	return list
}

func or(v verdict) verdict {
	if v == "" {
		return "not run"
	}
	return v
}
