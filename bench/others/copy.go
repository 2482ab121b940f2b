package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// scratch is a folder that holds both copies of a trial's module.
type scratch struct {
	dir   string
	isNew bool   // it was made here
	own   string // the copy on the library's own memory
	ours  string // the copy with the edits
}

// errEdit is wrapped by the errors of edits that do not fit the module.
var errEdit = errors.New("the edit does not fit the module")

// newScratch makes both copies of the module whose files are in source, in dir or, if that is
// empty, in a new folder. The copies must not be there yet. They require the checkout's root module
// and those modules of it that are given by their folders.
func newScratch(ctx context.Context, dir, source, checkout string, edits []edit,
	modules ...string) (s *scratch, err error) {
	isNew := dir == ""
	if isNew {
		dir, err = os.MkdirTemp("", "others")
	} else if dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	s = &scratch{dir: dir, isNew: isNew, own: filepath.Join(dir, "own"), ours: filepath.Join(dir, "ours")}
	for _, path := range []string{s.own, s.ours} {
		if _, err := os.Stat(path); err == nil {
			return nil, fmt.Errorf("%s is there already: remove it", path)
		}
	}
	for _, to := range []string{s.own, s.ours} {
		if err = copyTree(to, source); err == nil {
			err = requireOurs(ctx, to, checkout, modules...)
		}
		if err != nil {
			return nil, errors.Join(err, s.remove())
		}
	}
	if err := apply(s.ours, edits); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

// remove removes the copies, and the folder if it was made for them.
func (s *scratch) remove() error {
	if s.isNew {
		return os.RemoveAll(s.dir)
	}
	return errors.Join(os.RemoveAll(s.own), os.RemoveAll(s.ours))
}

// share removes the copy without the edits: both sides are run in the other.
func (s *scratch) share() error {
	own := s.own
	s.own = s.ours
	return os.RemoveAll(own)
}

// copyTree copies files and folders, and makes all of them writable: those of the module cache are
// not.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// requireOurs makes a copy require modules of the checkout, the root module and those in the given
// folders, and adds the sums of what they require.
func requireOurs(ctx context.Context, dir, checkout string, modules ...string) error {
	// Our module is of this version of the go command at least, so the copy must be too.
	out, err := command(ctx, checkout, nil, "go", "list", "-m", "-f", "{{.GoVersion}}", "quarry")
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit", "-go=" + strings.TrimSpace(string(out))}
	get := []string{"get"}
	var sums []byte
	for _, module := range append([]string{"."}, modules...) {
		name, folder := path.Join("quarry", module), filepath.Join(checkout, module)
		edit = append(edit, "-require="+name+"@v0.0.0", "-replace="+name+"="+folder)
		get = append(get, name+"@v0.0.0")
		more, err := os.ReadFile(filepath.Join(folder, "go.sum"))
		if err != nil {
			return err
		}
		sums = append(sums, more...)
	}
	if _, err = command(ctx, dir, alone, "go", edit...); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "go.sum"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(sums)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	// A copy that imports nothing of ours would keep the versions that it had.
	_, err = command(ctx, dir, alone, "go", get...)
	return err
}

// apply makes the edits of a copy.
func apply(dir string, edits []edit) error {
	for _, e := range edits {
		if err := e.apply(filepath.Join(dir, filepath.FromSlash(e.path))); err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
	}
	return nil
}

func (e *edit) apply(path string) error {
	switch {
	case e.gone:
		return os.Remove(path)
	case e.old == "":
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(e.text), 0o644)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte(e.old)); n != 1 {
		return fmt.Errorf("%w: %q occurs %d times, expected once", errEdit, e.old, n)
	}
	return os.WriteFile(path, bytes.Replace(text, []byte(e.old), []byte(e.text), 1), 0o644)
}

// download returns the folder of a module in the module cache, and brings it there if it is not.
func download(ctx context.Context, module, version string) (string, error) {
	dir, err := os.MkdirTemp("", "others") // outside of every module
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	out, err := command(ctx, dir, alone, "go", "mod", "download", "-json", module+"@"+version)
	var m struct{ Dir, Error string }
	if e := json.Unmarshal(out, &m); e != nil {
		return "", errors.Join(err, e)
	}
	if m.Error != "" {
		return "", fmt.Errorf("%s@%s: %s", module, version, m.Error)
	}
	return m.Dir, err
}

// checkoutDir returns the folder of this checkout's root module.
func checkoutDir(ctx context.Context) (string, error) {
	out, err := command(ctx, "", nil, "go", "list", "-m", "-f", "{{.Dir}}", "quarry")
	return strings.TrimSpace(string(out)), err
}

// alone makes the go command see a copy by itself, and lets it add what go.mod and go.sum lack.
var alone = []string{"GOWORK=off", "GOFLAGS=-mod=mod"}

// command runs a command in a folder and returns what it printed.
func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, err
}
