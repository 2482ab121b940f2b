package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed programs
var sources embed.FS

// turnTime bounds one turn of a program, building its world included.
const turnTime = 2 * time.Minute

// errNone means that a library or a compiler is missing.
var errNone = errors.New("not there")

// program is a compiled program of ours that uses a library.
type program struct{ name, version, path string }

// toolchain has the compilers.
type toolchain struct{ cc, cxx string }

// findToolchain looks for $CC or cc and $CXX or c++.
func findToolchain() (toolchain, error) {
	find := func(variable, usual string) (string, error) {
		name := os.Getenv(variable)
		if name == "" {
			name = usual
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%w: no compiler %s ($%s chooses one)", errNone, name, variable)
		}
		return path, nil
	}
	cc, err := find("CC", "cc")
	if err != nil {
		return toolchain{}, err
	}
	cxx, err := find("CXX", "c++")
	return toolchain{cc, cxx}, err
}

// version is the first line that the compiler prints for --version.
func (t toolchain) version() string {
	out, err := exec.Command(t.cxx, "--version").Output()
	if err != nil {
		return t.cxx
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// Flags of all compilations.
var optimize = []string{"-O3", "-march=native", "-DNDEBUG"}

// library is what a program is compiled with.
type library struct {
	name    string
	include string // folder of headers; empty: none
	c       string // a C source that is linked; empty: none
}

// findEnTT finds the folder that has entt/entt.hpp. An empty dir stands for the folders where
// systems keep headers.
func findEnTT(dir string) (library, error) {
	places := []string{dir, filepath.Join(dir, "src"), filepath.Join(dir, "single_include")}
	if dir == "" {
		places = []string{"/usr/local/include", "/usr/include"}
	}
	for _, p := range places {
		if isFile(filepath.Join(p, "entt", "entt.hpp")) {
			return library{name: "entt", include: p}, nil
		}
	}
	return library{}, fmt.Errorf("%w: no entt/entt.hpp in %s; -entt DIR says where",
		errNone, strings.Join(places, ", "))
}

// findFlecs finds the folder that has flecs.h and flecs.c.
func findFlecs(dir string) (library, error) {
	if dir == "" {
		return library{}, fmt.Errorf("%w: flecs.h and flecs.c; -flecs DIR says where", errNone)
	}
	for _, p := range []string{dir, filepath.Join(dir, "distr")} {
		if c := filepath.Join(p, "flecs.c"); isFile(c) && isFile(filepath.Join(p, "flecs.h")) {
			return library{"flecs", p, c}, nil
		}
	}
	return library{}, fmt.Errorf("%w: no flecs.h with flecs.c in %s or its distr; -flecs DIR says where", errNone, dir)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// writeSources writes the programs' sources to dir.
func writeSources(dir string) error {
	list, err := sources.ReadDir("programs")
	if err != nil {
		return err
	}
	for _, f := range list {
		text, err := sources.ReadFile("programs/" + f.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Name()), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compile makes the program of a library in dir, where the sources are.
func (t toolchain) compile(dir string, l library) (*program, error) {
	p := &program{name: l.name, path: filepath.Join(dir, l.name+".exe")}
	args := append([]string{"-std=c++20", "-pthread", "-o", p.path}, optimize...)
	if l.include != "" {
		args = append(args, "-I", l.include)
	}
	args = append(args, filepath.Join(dir, l.name+".cc"))
	if l.c != "" {
		object := filepath.Join(dir, l.name+".o")
		if _, err := output(t.cc, append([]string{"-std=gnu11", "-c", "-o", object, l.c}, optimize...)...); err != nil {
			return nil, err
		}
		args = append(args, object)
	}
	if _, err := output(t.cxx, args...); err != nil {
		return nil, err
	}
	out, err := output(p.path, "-version")
	p.version = strings.TrimSpace(out)
	return p, err
}

// output runs a command; an error includes the first lines of its standard error.
func output(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*turnTime)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %.400s", filepath.Base(name), err, strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}

// answer is what a program prints.
type answer struct {
	ns     float64
	passes int
	sum    float64
}

func parseAnswer(text string) (a answer, err error) {
	n, err := fmt.Sscanf(text, "ns=%g passes=%d sum=%g\n", &a.ns, &a.passes, &a.sum)
	if err != nil || n != 3 || !(a.ns > 0) || a.passes < 1 {
		return answer{}, fmt.Errorf("a program printed %.100q, not ns, passes and sum", text)
	}
	return a, nil
}

// exitNoRow is the exit code of a program whose library does not support the row.
const exitNoRow = 3

// errNoRow is the error for exitNoRow.
var errNoRow = errors.New("no such row")

// turn runs a row once.
func (p *program) turn(r *row, variant string, n int, budget time.Duration) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), turnTime)
	defer cancel()
	c := exec.CommandContext(ctx, p.path, r.name, variant, fmt.Sprint(n), fmt.Sprintf("%g", budget.Seconds()*1e3))
	out, err := c.Output()
	if c.ProcessState != nil && c.ProcessState.ExitCode() == exitNoRow {
		return answer{}, errNoRow
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s on %s, n = %d: %w", p.name, r.name, n, err)
	}
	return parseAnswer(string(out))
}
