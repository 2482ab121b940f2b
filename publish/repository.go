package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// A repository is what is published: the files that git knows, and the modules in them.
type repository struct {
	dir     string
	path    string // module path of the root module
	files   []file // by path
	modules []*modfile.File
	commit  string
	author  string // of the commit: name <mail>
	time    time.Time
}

// A file is one file of a repository.
type file struct {
	path string // from the root of the repository, with slashes
	text []byte
	mode fs.FileMode // 0o644 or 0o755
}

// readRepository reads the repository at or above a folder.
func readRepository(from string, dirty bool) (*repository, error) {
	dir, err := findRoot(from)
	if err != nil {
		return nil, err
	}
	r := &repository{dir: dir}
	if !dirty {
		if err := r.refuseChanges(); err != nil {
			return nil, err
		}
	}
	if err := r.readCommit(); err != nil {
		return nil, err
	}
	if err := r.readFiles(); err != nil {
		return nil, err
	}
	return r, r.readModules()
}

// workspace names the file that joins the modules, which marks the root.
const workspace = "go.work"

// findRoot returns the nearest folder at or above from that has a go.work.
func findRoot(from string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	for at := from; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, workspace)); err == nil {
			return at, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.work in %s or above it: run inside the repository, or give it by -from", from)
		}
	}
}

// refuseChanges returns an error if files differ from the commit, or git does not know them.
func (r *repository) refuseChanges() error {
	out, err := git(r.dir, nil, "status", "--porcelain", "-z", "--", ".")
	if err != nil {
		return err
	}
	if changes := listed(out); len(changes) > 0 {
		return fmt.Errorf(
			"%s has %d changes that are not committed, such as %q: commit them, or publish them by -dirty",
			r.dir, len(changes), changes[0])
	}
	return nil
}

// readCommit reads what the commit says of itself.
func (r *repository) readCommit() error {
	out, err := git(r.dir, nil, "log", "-1", "--format=%H%x00%an <%ae>%x00%cI")
	if err != nil {
		return err
	}
	said := listed(strings.TrimSpace(out))
	if len(said) != 3 {
		return fmt.Errorf("git log says %q of the commit", out)
	}
	r.commit, r.author = said[0], said[1]
	r.time, err = time.Parse(time.RFC3339, said[2])
	r.time = r.time.UTC()
	return err
}

// readFiles reads the files that git knows. Where -dirty permits it, some may be gone.
func (r *repository) readFiles() error {
	out, err := git(r.dir, nil, "ls-files", "-s", "-z")
	if err != nil {
		return err
	}
	for _, line := range listed(out) {
		// mode, object, stage and path
		said, name, _ := strings.Cut(line, "\t")
		mode := fs.FileMode(0o644)
		switch said, _, _ = strings.Cut(said, " "); said {
		case "100644":
		case "100755":
			mode = 0o755
		default:
			return fmt.Errorf("%s: mode %s: it is no regular file, and zips of modules have no other", name, said)
		}
		text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		r.files = append(r.files, file{name, text, mode})
	}
	return nil
}

// readModules reads each go.mod and checks that the modules fit together.
func (r *repository) readModules() error {
	for _, f := range r.files {
		if path.Base(f.path) != "go.mod" {
			continue
		}
		m, err := modfile.Parse(f.path, f.text, nil)
		if err != nil {
			return err
		}
		if m.Module == nil {
			return fmt.Errorf("%s has no module directive", f.path)
		}
		r.modules = append(r.modules, m)
		if f.path == "go.mod" {
			r.path = m.Module.Mod.Path
		}
	}
	if r.path == "" {
		return fmt.Errorf("git knows no go.mod in %s", r.dir)
	}
	for _, m := range r.modules {
		if want := path.Join(r.path, folder(m)); m.Module.Mod.Path != want {
			return fmt.Errorf("%s is of module %s: by its folder it would be %s",
				m.Syntax.Name, m.Module.Mod.Path, want)
		}
		for _, p := range m.Replace {
			if !r.owns(p.Old.Path) {
				return fmt.Errorf("%s:%d replaces %s: nobody who requires a published module has what it replaces",
					m.Syntax.Name, p.Syntax.Start.Line, p.Old.Path)
			}
		}
	}
	return nil
}

// folder returns the folder of a module, "." for the root.
func folder(m *modfile.File) string { return path.Dir(m.Syntax.Name) }

// owns reports whether a path of a module or package is one of the repository.
func (r *repository) owns(name string) bool {
	return name == r.path || strings.HasPrefix(name, r.path+"/")
}

// moduleOf returns the folder of the module that a file belongs to.
func (r *repository) moduleOf(name string) string {
	best := "."
	for _, m := range r.modules {
		if dir := folder(m); len(dir) >= len(best) && strings.HasPrefix(name, dir+"/") {
			best = dir
		}
	}
	return best
}
