package main

import (
	archive "archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// A target is where the modules of a repository are published.
type target struct{ path, version string }

// A published is a module as it is published.
type published struct {
	path    string
	folder  string // in the tree
	version string
	mod     []byte // its go.mod
	zip     []byte
	files   int    // in the zip
	sum     string // of the zip, as go.sum has it
	modSum  string // of the go.mod
}

// module returns a module as it is published, and puts its go.mod and go.sum into the tree. The
// modules that it requires come before it, in made.
func (p *publication) module(r *repository, m *modfile.File, made map[string]*published) (*published, error) {
	dir := folder(m)
	result := &published{path: p.renamed(m.Module.Mod.Path), folder: dir, version: p.version}
	if err := module.Check(result.path, p.version); err != nil {
		return nil, err
	}
	sums := bytes.SplitAfter(p.textOf(path.Join(dir, "go.sum")), []byte("\n"))
	if err := m.AddModuleStmt(result.path); err != nil {
		return nil, err
	}
	var requires []*modfile.Require
	for _, require := range m.Require {
		if old := require.Mod.Path; r.owns(old) {
			other := made[old]
			require = &modfile.Require{
				Mod: module.Version{Path: other.path, Version: p.version}, Indirect: require.Indirect,
			}
			sums = append(sums, fmt.Appendf(nil, "%s %s %s\n", other.path, p.version, other.sum),
				fmt.Appendf(nil, "%s %s/go.mod %s\n", other.path, p.version, other.modSum))
		}
		requires = append(requires, require)
	}
	m.SetRequireSeparateIndirect(requires)
	for _, replace := range slices.Clone(m.Replace) { // of modules of the repository
		if err := m.DropReplace(replace.Old.Path, replace.Old.Version); err != nil {
			return nil, err
		}
	}
	m.Cleanup()
	m.SortBlocks()
	var err error
	if result.mod, err = m.Format(); err != nil {
		return nil, err
	}
	p.set(path.Join(dir, "go.mod"), result.mod)
	if slices.SortFunc(sums, bytes.Compare); len(sums) > 1 {
		p.set(path.Join(dir, "go.sum"), bytes.Join(sums, nil))
	}
	return result, result.pack(p, r)
}

// pack makes the zip of a module, and its sums.
func (m *published) pack(p *publication, r *repository) error {
	var files []zip.File
	for _, f := range p.files {
		if r.moduleOf(f.path) == m.folder {
			files = append(files, zipped{file: f, name: strings.TrimPrefix(f.path, m.folder+"/")})
		}
	}
	// The go command puts the licence of the root into the zip of a module that has none.
	if license := p.textOf("LICENSE"); license != nil && p.textOf(path.Join(m.folder, "LICENSE")) == nil {
		files = append(files, zipped{file: file{text: license, mode: 0o644}, name: "LICENSE"})
	}
	var b bytes.Buffer
	if err := zip.Create(&b, module.Version{Path: m.path, Version: m.version}, files); err != nil {
		return err
	}
	m.zip = b.Bytes()
	var err error
	if m.files, m.sum, err = sumOf(m.zip); err != nil {
		return err
	}
	m.modSum, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(m.mod)), nil
	})
	return err
}

// sumOf returns how many files a zip has, and its sum as go.sum has it.
func sumOf(made []byte) (files int, sum string, err error) {
	z, err := archive.NewReader(bytes.NewReader(made), int64(len(made)))
	if err != nil {
		return 0, "", err
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	sum, err = dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return z.Open(name) })
	return len(names), sum, err
}

// zipped is a file in a zip, under its name in the module.
type zipped struct {
	file
	name string
}

func (z zipped) Path() string                 { return z.name }
func (z zipped) Lstat() (fs.FileInfo, error)  { return z, nil }
func (z zipped) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(z.text)), nil }

func (z zipped) Name() string       { return path.Base(z.name) }
func (z zipped) Size() int64        { return int64(len(z.text)) }
func (z zipped) Mode() fs.FileMode  { return z.mode }
func (z zipped) ModTime() time.Time { return time.Time{} }
func (z zipped) IsDir() bool        { return false }
func (z zipped) Sys() any           { return nil }
