package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A lab is a folder of programs and caches, and where the go command runs.
type lab struct {
	dir    string // holds the programs, their binaries and the caches
	module string // the folder of the module quarry/bench
	types  int    // component types of a program
	edits  int    // edits made so far, no two alike
}

// newLab finds the module and writes the programs.
func newLab(dir string, types int) (*lab, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "quarry/bench").Output()
	if err != nil {
		return nil, fmt.Errorf("compile: the module quarry/bench is not here: run inside the repository: %w", said(err))
	}
	l := &lab{dir: dir, module: strings.TrimSpace(string(out)), types: types}
	for _, lib := range libraries {
		if err := l.edit(lib); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// said adds to err the command's standard error.
func said(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

func (l *lab) source(lib library) string { return filepath.Join(l.dir, lib.name, "main.go") }
func (l *lab) binary(lib library) string { return filepath.Join(l.dir, lib.name, "program.exe") }

// edit writes a program whose last line is new.
func (l *lab) edit(lib library) error {
	l.edits++
	text := fmt.Sprintf("%s\n// edit %d of %s\n", lib.write(l.types), l.edits, l.dir)
	if err := os.MkdirAll(filepath.Dir(l.source(lib)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(l.source(lib), []byte(text), 0o644)
}

// build builds a program and returns the processor time spent. A cache of "" is the user's.
func (l *lab) build(lib library, cache string) (time.Duration, error) {
	if err := os.RemoveAll(l.binary(lib)); err != nil {
		return 0, err // an old binary may be taken for up to date
	}
	return l.command(cache, "build", "-o", l.binary(lib), l.source(lib))
}

// command runs the go command and returns its processor time, including its children's.
func (l *lab) command(cache string, args ...string) (time.Duration, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = l.module
	cmd.Env = os.Environ()
	if cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+cache)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("compile: go %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// run returns what a program prints.
func (l *lab) run(lib library) (string, error) {
	out, err := exec.Command(l.binary(lib)).Output()
	if err != nil {
		return "", fmt.Errorf("compile: the program on %s: %w", lib.name, said(err))
	}
	return string(out), nil
}

// standard fills a cache with the part of the standard library that the programs use.
func (l *lab) standard(cache string) error {
	list := append([]string{"list", "-deps", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}"}, "quarry/ecs",
		"github.com/mlange-42/ark/ecs", "fmt")
	cmd := exec.Command("go", list...)
	cmd.Dir = l.module
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("compile: go list: %w", said(err))
	}
	_, err = l.command(cache, append([]string{"build"}, strings.Fields(string(out))...)...)
	return err
}
