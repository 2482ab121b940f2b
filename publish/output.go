package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// Names in the folder that publish writes.
const (
	treeName  = "tree"
	proxyName = "proxy"
)

// write writes the tree and the proxy into a new or empty folder. If it fails, it removes them.
func (p *publication) write(out string) (err error) {
	if list, err := os.ReadDir(out); err == nil && len(list) > 0 {
		return fmt.Errorf("%s is not empty: it has %s", out, list[0].Name())
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tree, proxy := filepath.Join(out, treeName), filepath.Join(out, proxyName)
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tree), os.RemoveAll(proxy))
		}
	}()
	if err := p.writeTree(tree); err != nil {
		return err
	}
	for _, m := range p.modules {
		if err := m.writeProxy(proxy, p.time); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file, and the folders above it.
func writeFile(name string, text []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, mode)
}

// writeProxy writes what the go command asks a proxy for.
func (m *published) writeProxy(proxy string, at time.Time) error {
	dir, err := module.EscapePath(m.path)
	if err != nil {
		return err
	}
	name, err := module.EscapeVersion(m.version)
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{m.version, at})
	if err != nil {
		return err
	}
	for suffix, text := range map[string][]byte{
		"list": []byte(m.version + "\n"), name + ".info": info, name + ".mod": m.mod, name + ".zip": m.zip,
	} {
		if err := writeFile(filepath.Join(proxy, filepath.FromSlash(dir), "@v", suffix), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeTree writes the tree and makes it a repository with one commit, which has the author and the
// time of the commit that is published, and a tag for each module.
func (p *publication) writeTree(tree string) error {
	for _, f := range p.files {
		if err := writeFile(filepath.Join(tree, filepath.FromSlash(f.path)), f.text, f.mode); err != nil {
			return err
		}
	}
	name, mail, _ := strings.Cut(strings.TrimSuffix(p.author, ">"), " <")
	at := p.time.Format(time.RFC3339)
	variables := []string{ // and no settings of the machine, such as line ends, hooks or signatures
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + mail, "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + mail, "GIT_COMMITTER_DATE=" + at,
	}
	commands := [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A", "-f", "."},
		{"commit", "-q", "-m", fmt.Sprintf("%s %s\n\nOf commit %s.", p.target.path, p.version, p.commit)},
	}
	for _, m := range p.modules {
		commands = append(commands, []string{"tag", path.Join(m.folder, p.version)})
	}
	for _, command := range commands {
		if _, err := git(tree, variables, command...); err != nil {
			return err
		}
	}
	return nil
}

// proxyURL returns the address of the proxy in a folder that publish wrote.
func proxyURL(out string) string { return fileURL(filepath.Join(out, proxyName)) }

// fileURL returns the address of a folder, as GOPROXY takes it.
func fileURL(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir // C:/...
	}
	return (&url.URL{Scheme: "file", Path: dir}).String()
}
