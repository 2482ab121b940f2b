package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// mutant is one place that is broken.
type mutant struct {
	file     string // from the root
	old, new string // old occurs once
	test     string // that notices; "": all of the package's are run, to find one
}

// verdict is what became of a mutant.
type verdict struct {
	test    string // that noticed; "": none
	seconds string // that it ran
}

var (
	failed  = regexp.MustCompile(`(?m)^--- FAIL: (\w+) \((\d+\.\d+)s\)`)
	running = regexp.MustCompile(`(?m)^=== RUN   (\w+)$`)
)

// run builds and tests the mutant, for a minute: one that hangs ends the process then. An error
// says that there was no verdict.
func (m mutant) run(root string) (verdict, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return verdict{}, err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(root, dir)
	if err != nil {
		return verdict{}, err
	}
	test := m.test
	if test == "" {
		test = "."
	}
	cmd := exec.Command("go", "test", "-overlay", overlay, "-short", "-failfast", "-v", "-count=1", "-timeout=60s", "-run", test, "./"+filepath.Dir(m.file))
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return m.judge(out, err)
}

// judge reads what go test printed.
func (m mutant) judge(out []byte, err error) (verdict, error) {
	if err == nil {
		if !bytes.Contains(out, []byte("\n--- PASS: ")) {
			return verdict{}, fmt.Errorf("%s ran no test", m.test)
		}
		return verdict{}, nil
	}
	if found := failed.FindSubmatch(out); found != nil {
		return verdict{string(found[1]), string(found[2])}, nil
	}
	// A panic or a fault ends the tests: the last that was begun noticed.
	if all := running.FindAllSubmatch(out, -1); len(all) > 0 && !bytes.Contains(out, []byte("[build failed]")) {
		return verdict{string(all[len(all)-1][1]), "ends the process"}, nil
	}
	return verdict{}, fmt.Errorf("no test ran: %w\n%s", err, out)
}

// overlay writes the broken file and the build's overlay that names it.
func (m mutant) overlay(root, dir string) (name string, err error) {
	path, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%q occurs %d times, want once", m.old, n)
	}
	broken := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(broken, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: broken}})
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}
