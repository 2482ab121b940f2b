package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/bench/input"
)

// The harness of the peers' authors, and the commit that is compared with.
const (
	harnessURL    = "https://github.com/mlange-42/go-ecs-benchmarks"
	harnessCommit = "119f2dbf7bd38ce7b98c4dcedb63164f4c387084"
)

// harnessMain is the program that runs one benchmark of the harness.
//
//go:embed harness.go.txt
var harnessMain []byte

// harnessTime bounds a clone, a build and a run.
const harnessTime = 5 * time.Minute

// harness is a copy of the harness in a folder of its own, built with the library versions of this
// program.
type harness struct {
	dir    string
	sample time.Duration // time for one figure, or a little more
}

// openHarness clones from a URL or a folder. Versions are module@version; libraries that are not
// among them keep the harness's versions.
func openHarness(source, commit string, versions []string, sample time.Duration) (h *harness, err error) {
	dir, err := os.MkdirTemp("", "quarry-harness")
	if err != nil {
		return nil, err
	}
	h = &harness{dir: dir, sample: sample}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	if err := h.run("git", "clone", "--quiet", "--no-checkout", "--", source, "."); err != nil {
		return nil, fmt.Errorf("%w; without a network, -harness DIR takes a clone that is there already", err)
	}
	if err := h.run("git", "checkout", "--quiet", commit); err != nil {
		return nil, fmt.Errorf("%w; the harness is needed at commit %s", err, commit)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "main.go"), harnessMain, 0o644); err != nil {
		return nil, err
	}
	if len(versions) > 0 {
		if err := h.run("go", append([]string{"get"}, versions...)...); err != nil {
			return nil, err
		}
	}
	return h, h.run("go", "build", "-mod=mod", "-o", h.command(), ".")
}

func (h *harness) close() error { return os.RemoveAll(h.dir) }

func (h *harness) command() string { return filepath.Join(h.dir, "harness.exe") }

// run runs a command in the harness's folder. An error has the last words of its output.
func (h *harness) run(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), harnessTime)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = h.dir
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "GIT_TERMINAL_PROMPT=0")
	var said input.Tail
	c.Stdout, c.Stderr = &said, &said
	err := c.Run()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	return fmt.Errorf("%s %s: %w: %s",
		filepath.Base(name), args[0], err, strings.Join(lines[max(0, len(lines)-3):], "; "))
}

// measure runs one benchmark, and returns the harness's figure: ns per entity.
func (h *harness) measure(workload, name string, n int) (float64, error) {
	err := h.run(h.command(), "-workload="+workload, "-name="+name, "-n="+strconv.Itoa(n),
		"-test.benchtime="+h.sample.String())
	if err != nil {
		return 0, fmt.Errorf("%s of %s: %w", name, workload, err)
	}
	f, err := os.Open(filepath.Join(h.dir, "results", workload+".csv"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return harnessFigure(f, name, n)
}

// harnessFigure reads a table of the harness: N and the names in the first line, then n and ns per
// entity.
func harnessFigure(r io.Reader, name string, n int) (float64, error) {
	lines, err := input.Records(r)
	if err != nil {
		return 0, err
	}
	for i, line := range lines {
		if i == 0 || line[0] != strconv.Itoa(n) {
			continue
		}
		if column := slices.Index(lines[0], name); column > 0 {
			ns, err := strconv.ParseFloat(line[column], 64)
			if err == nil && !(ns > 0) {
				err = fmt.Errorf("%s, n = %d: %v ns", name, n, ns)
			}
			return ns, err
		}
	}
	return 0, fmt.Errorf("no figure of %s for n = %d in %d lines", name, n, len(lines))
}
