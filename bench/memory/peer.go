package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Allocators of C take part where there is a compiler: a small program, compiled when the command
// runs, does on malloc what the Go side does on its allocators. Other allocators than the system's
// are preloaded (LD_PRELOAD); the program reports where its malloc came from, so that none is
// measured under the name of another.

//go:embed program/peer.c
var peerSource []byte

// peer is an allocator of C.
type peer struct {
	program string // the compiled program
	library string // that is preloaded; empty: the system's own
	null    bool   // not malloc, but places that were made before
}

// peerNull is the null allocator of the program in C. Its rows are what that harness costs.
const peerNull = "null in C"

// libraries are the allocators that are looked for, by the names of their files.
var libraries = []struct {
	name  string
	files []string
}{
	{"jemalloc", []string{"libjemalloc.so.2"}},
	{"mimalloc", []string{"libmimalloc.so.2", "libmimalloc.so"}},
	{"mimalloc 3", []string{"libmimalloc.so.3"}},
	{"tcmalloc", []string{"libtcmalloc.so.4", "libtcmalloc_minimal.so.4"}},
}

// openPeers compiles the program in dir and returns the allocators of C that are there. What is not
// there is a line on stderr, never an error.
func openPeers(dir string, stderr io.Writer) []allocator {
	program, err := compilePeer(dir)
	if err != nil {
		fmt.Fprintf(stderr, "memory: allocators of C are left out: %v\n", err)
		return nil
	}
	list := []allocator{{name: "glibc", peer: &peer{program: program}}}
	for _, l := range libraries {
		if file := findLibrary(program, l.files); file != "" {
			list = append(list, allocator{name: l.name, peer: &peer{program: program, library: file}})
		} else {
			fmt.Fprintf(stderr, "memory: %s is left out: not installed (no %s)\n", l.name, strings.Join(l.files, ", "))
		}
	}
	return append(list, allocator{name: peerNull, reuses: true, peer: &peer{program: program, null: true}})
}

// errNoPeers is wrapped by errors with the reason why there are no allocators of C.
var errNoPeers = errors.New("not here")

// compilePeer compiles the program with $CC or cc.
func compilePeer(dir string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("%w: libraries are preloaded on Linux only", errNoPeers)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	path, err := exec.LookPath(cc)
	if err != nil {
		return "", fmt.Errorf("%w: no compiler %s ($CC chooses one)", errNoPeers, cc)
	}
	source, program := filepath.Join(dir, "peer.c"), filepath.Join(dir, "peer")
	if err := os.WriteFile(source, peerSource, 0o644); err != nil {
		return "", err
	}
	// A compiler knows what malloc does and would leave pairs out; here it must not.
	_, err = output("", path, "-std=gnu11", "-O2", "-fno-builtin-malloc", "-fno-builtin-calloc",
		"-fno-builtin-realloc", "-fno-builtin-free", "-Wall", "-Wextra", "-pthread", "-o", program, source, "-ldl")
	return program, err
}

// libraryFolders are where libraries are looked for: LD_LIBRARY_PATH, then the usual folders.
func libraryFolders() []string {
	list := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	return append(list, "/usr/local/lib", "/usr/local/lib64", "/usr/lib/*-linux-*", "/lib/*-linux-*",
		"/usr/lib64", "/lib64", "/usr/lib", "/lib")
}

// findLibrary returns the first file that is there and takes over malloc when it is preloaded (one
// for another processor does not), or "".
func findLibrary(program string, files []string) string {
	for _, file := range files {
		for _, folder := range libraryFolders() {
			found, err := filepath.Glob(filepath.Join(folder, file))
			for _, path := range found {
				if _, wrongFile := (&peer{program: program, library: path}).do("who"); err == nil && wrongFile == nil {
					return path
				}
			}
		}
	}
	return ""
}

// start runs the program on the spec.
func (p *peer) start(sp spec) (sample, error) {
	s, err := p.do(p.args(sp, scaleOf(sp.Quick))...)
	if err != nil {
		err = fmt.Errorf("%s on %s: %w", sp.name(), sp.Allocator, err)
	}
	return s, err
}

// args are the arguments of the program for a spec.
func (p *peer) args(sp spec, sc scale) []any {
	switch {
	case sp.Workload != tracesName:
		return workloadNamed(sp.Workload).args(sc, sp.Second)
	case sp.Second:
		return []any{"footprint", sp.Calls}
	case p.null:
		return []any{"-null", "trace", sp.Calls, sp.budget(sc).Nanoseconds()}
	}
	return []any{"trace", sp.Calls, sp.budget(sc).Nanoseconds()}
}

// do runs the program and reads what it found. That malloc came from another library than it should
// is an error.
func (p *peer) do(args ...any) (sample, error) {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = fmt.Sprint(a)
	}
	text, err := output(p.library, p.program, words...)
	if err != nil {
		return sample{}, err
	}
	var s sample
	if err := json.Unmarshal(text, &s); err != nil {
		return sample{}, fmt.Errorf("the program printed %.100q: %w", text, err)
	}
	if p.library != "" && filepath.Base(s.Library) != filepath.Base(p.library) {
		return sample{}, fmt.Errorf("malloc came from %s, not from %s", s.Library, p.library)
	}
	return s, nil
}

// output runs a command, with a library preloaded if there is one; an error has the first line of
// its standard error.
func output(library, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), childTime)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	if library != "" {
		c.Env = append(os.Environ(), "LD_PRELOAD="+library)
	}
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return nil, fmt.Errorf("%s: %w: %.400s", filepath.Base(name), err, line)
	}
	return out, nil
}
