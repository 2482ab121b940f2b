package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// A publication is a repository as it is published, in memory.
type publication struct {
	target
	*renaming
	files   []file // of the tree, by path
	modules []*published
	leftOut []string // files of the repository that are not in the tree

	commit, author string // of the repository
	time           time.Time
}

// leftOut are the files of the repository that are not published.
const leftOut = "internal/lint/*_test.go"

// publish makes a publication. It writes nothing.
func (r *repository) publish(to target) (*publication, error) {
	// Check of package module says less of either alone.
	if err := module.CheckPath(to.path); err != nil {
		return nil, err
	}
	if module.CanonicalVersion(to.version) != to.version {
		return nil, fmt.Errorf("version %q is not of the form v1.2.3, or v1.2.3-rc.1", to.version)
	}
	if err := r.checkTag(to.version); err != nil {
		return nil, err
	}
	p := &publication{
		target: to, renaming: newRenaming(r.path, to.path), commit: r.commit, author: r.author, time: r.time,
	}
	for _, f := range r.files {
		if left, _ := path.Match(leftOut, f.path); left {
			p.leftOut = append(p.leftOut, f.path)
			continue
		}
		text, err := sectionsOf(f.path, f.text, to)
		if err != nil {
			return nil, err
		}
		f.text = text
		if f.text, err = p.file(f); err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	if err := p.makeWorkspace(r); err != nil {
		return nil, err
	}
	return p, p.makeModules(r)
}

// checkTag returns an error if the repository has the version's tag at another commit.
func (r *repository) checkTag(version string) error {
	out, err := git(r.dir, nil, "for-each-ref", "--format=%(objectname)%(*objectname)", "refs/tags/"+version)
	if at := strings.TrimSpace(out); err == nil && at != "" && !strings.HasSuffix(at, r.commit) {
		return fmt.Errorf("tag %s is not at commit %.12s: a version is published once", version, r.commit)
	}
	return err
}

// makeModules makes the modules, each after those that it requires.
func (p *publication) makeModules(r *repository) error {
	made := map[string]*published{}
	waits := func(m *modfile.File) bool {
		return slices.ContainsFunc(m.Require, func(require *modfile.Require) bool {
			return r.owns(require.Mod.Path) && made[require.Mod.Path] == nil
		})
	}
	for rest := r.modules; len(rest) > 0; {
		i := slices.IndexFunc(rest, func(m *modfile.File) bool { return !waits(m) })
		if i < 0 {
			return fmt.Errorf("%s requires a module that is not there, or one that requires it", rest[0].Syntax.Name)
		}
		old := rest[i].Module.Mod.Path
		m, err := p.module(r, rest[i], made)
		if err != nil {
			return err
		}
		made[old], p.modules = m, append(p.modules, m)
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	return nil
}

// makeWorkspace lets the go.work of the tree replace the versions that its modules require by the
// modules that it uses. The go command reads their go.mod even so, and in a tree that nobody has
// pushed there is none to download.
func (p *publication) makeWorkspace(r *repository) error {
	w, err := modfile.ParseWork(workspace, p.textOf(workspace), nil)
	if err != nil {
		return err
	}
	required := map[string]bool{}
	for _, m := range r.modules {
		for _, require := range m.Require {
			required[require.Mod.Path] = true
		}
	}
	for _, m := range r.modules {
		if name := m.Module.Mod.Path; required[name] {
			dir := "./" + strings.TrimPrefix(folder(m), ".")
			if err := w.AddReplace(p.renamed(name), p.version, dir, ""); err != nil {
				return err
			}
		}
	}
	p.set(workspace, modfile.Format(w.Syntax))
	return nil
}

// renamed returns a path of the repository as it is published.
func (p *publication) renamed(name string) string {
	return p.target.path + strings.TrimPrefix(name, p.old)
}

// find returns the place of a file in the tree, and whether it is there.
func (p *publication) find(name string) (int, bool) {
	return slices.BinarySearchFunc(p.files, name, func(f file, name string) int {
		return strings.Compare(f.path, name)
	})
}

// textOf returns the text of a file of the tree, or nil.
func (p *publication) textOf(name string) []byte {
	if i, found := p.find(name); found {
		return p.files[i].text
	}
	return nil
}

// set puts a file into the tree.
func (p *publication) set(name string, text []byte) {
	i, found := p.find(name)
	if !found {
		p.files = slices.Insert(p.files, i, file{path: name, mode: 0o644})
	}
	p.files[i].text = text
}
