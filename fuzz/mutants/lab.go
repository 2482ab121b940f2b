package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A lab runs the tests of instrumented packages.
type lab struct {
	tree     *tree
	overlay  string
	dir      string // for binaries
	patience time.Duration
	binaries once[string, string]
	healthy  once[verdict, bool]
}

// once computes a value once per key, for several goroutines.
type once[K comparable, V any] struct{ of sync.Map }

func (o *once[K, V]) get(key K, compute func() (V, error)) (V, error) {
	f, _ := o.of.LoadOrStore(key, sync.OnceValues(compute))
	return f.(func() (V, error))()
}

// newLab instruments the mutants. The caller removes the folder.
func newLab(t *tree, places []place, dir string) (*lab, error) {
	overlay, err := t.instrument(places, dir)
	return &lab{tree: t, overlay: overlay, dir: dir, patience: time.Minute}, err
}

var inMutant = regexp.MustCompile(`(?m)\bmutant(\d+):.*$`)

// build compiles the packages that have mutants, so that every mutant is type-checked. The error
// names those that do not compile.
func (l *lab) build(list []*mutant) error {
	packages := map[string]bool{}
	args := []string{"build", "-overlay", l.overlay, "-gcflags=-e"}
	for _, m := range list {
		if p := l.tree.pkg(m.pkg); !packages[p.ImportPath] {
			packages[p.ImportPath] = true
			args = append(args, p.ImportPath)
		}
	}
	out, err := l.goTool(args...)
	if err == nil {
		return nil
	}
	all := []error{fmt.Errorf("%w\n%s", err, out)}
	for _, found := range inMutant.FindAllStringSubmatch(out, -1) {
		if n, _ := strconv.Atoi(found[1]); n >= 1 && n <= len(list) {
			all = append(all, fmt.Errorf("%v: %s", list[n-1], found[0]))
		}
	}
	return errors.Join(all...)
}

func (l *lab) goTool(args ...string) (out string, err error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = l.tree.root
	text, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(text), err
}

// judge finds the test that notices m, mutant number n: the test that the table names, or else a
// test of its package or of a package that imports it.
func (l *lab) judge(n int, m *mutant) (verdict, error) {
	own := l.tree.pkg(m.pkg)
	if m.by.test != "" {
		p, err := l.home(m)
		if err != nil {
			return verdict{}, err
		}
		if p != nil {
			if v, err := l.run(n, p, "^"+m.by.test+"$", ""); err != nil || v.test != "" {
				return v, err
			}
		}
	}
	for _, p := range l.tree.testers(own) {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		if v, err := l.run(n, p, ".", ""); err != nil || v.test != "" {
			return v, err
		}
	}
	return verdict{}, nil
}

// home is the package that has the test of the table: the package that the table names or, if the
// test is not there, the only other one that has it; nil if there is none.
func (l *lab) home(m *mutant) (*pkg, error) {
	if p := l.tree.pkg(m.by.pkg); p != nil {
		if has, err := p.has(m.by.test); has || err != nil {
			return p, err
		}
	}
	var only *pkg
	for _, p := range l.tree.packages {
		has, err := p.has(m.by.test)
		switch {
		case err != nil:
			return nil, err
		case has && only != nil:
			return nil, nil
		case has:
			only = p
		}
	}
	return only, nil
}

// run runs tests of a package with mutant n and returns which test noticed. A test that also fails
// without any mutant, because of the instrumenting or because it is broken, has noticed nothing;
// the tests after it are run then.
func (l *lab) run(n int, p *pkg, tests, skip string) (verdict, error) {
	v, err := l.attempt(n, p, tests, skip)
	if err != nil || v.test == "" {
		return v, err
	}
	well, err := l.healthy.get(verdict{pkg: p.name, test: v.test}, func() (bool, error) {
		v, err := l.attempt(0, p, "^"+v.test+"$", "")
		if v.test != "" {
			fmt.Fprintf(os.Stderr, "%s.%s fails without any mutant\n", p.name, v.test)
		}
		return v.test == "", err
	})
	if err != nil || well {
		return v, err
	}
	if skip != "" {
		skip += "|"
	}
	return l.run(n, p, tests, skip+"^"+v.test+"$")
}

func (l *lab) attempt(n int, p *pkg, tests, skip string) (verdict, error) {
	binary, err := l.binaries.get(p.ImportPath, func() (string, error) {
		name := filepath.Join(l.dir, strings.ReplaceAll(p.ImportPath, "/", "_")+".test")
		out, err := l.goTool("test", "-c", "-vet=off", "-overlay", l.overlay, "-o", name, p.ImportPath)
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		return name, err
	})
	if err != nil {
		return verdict{}, err
	}
	cmd := exec.Command(binary, "-test.v", "-test.short", "-test.failfast", "-test.timeout=0", "-test.run="+tests,
		"-test.skip="+skip)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), variable+"="+strconv.Itoa(n))
	out, hung, err := watch(cmd, l.patience)
	v, err := read(out, err)
	if err != nil {
		return v, fmt.Errorf("%s: %w", p.name, err)
	}
	if hung {
		v.seconds = "hangs"
	}
	if v.test != "" {
		v.pkg = p.name
	}
	return v, nil
}

var (
	failed  = regexp.MustCompile(`(?m)^--- FAIL: (\w+) \((\d+\.\d+)s\)`)
	running = regexp.MustCompile(`(?m)^=== RUN   (\w+)$`)
)

// read finds the test that noticed, from the output of the tests and the error with which their
// process ended.
func read(out string, end error) (verdict, error) {
	if end == nil {
		return verdict{}, nil
	}
	if found := failed.FindStringSubmatch(out); found != nil {
		return verdict{test: found[1], seconds: found[2]}, nil
	}
	all := running.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		return verdict{}, fmt.Errorf("ended before a test began: %w\n%s", end, out)
	}
	// A panic or a fault ends the tests: the last test that began noticed.
	return verdict{test: all[len(all)-1][1], seconds: "ends the process"}, nil
}

// watch runs tests and kills them if one takes longer than patience.
func watch(cmd *exec.Cmd, patience time.Duration) (out string, hung bool, err error) {
	lines, w := io.Pipe()
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w, w, time.Second
	if err := cmd.Start(); err != nil {
		return "", false, err
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	var text strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		for r := bufio.NewReader(lines); ; {
			line, err := r.ReadString('\n')
			text.WriteString(line)
			if running.MatchString(line) {
				timer.Reset(patience)
			}
			if err != nil {
				return
			}
		}
	}()
	err = cmd.Wait()
	hung = !timer.Stop()
	w.Close()
	<-done
	return text.String(), hung && err != nil, err
}
