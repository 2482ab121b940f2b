package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ignored is the root .gitignore: the patterns that have no slash inside.
type ignored []string

func readIgnore(fsys fs.FS) (ignored, error) {
	text, err := fs.ReadFile(fsys, ".gitignore")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lint: readIgnore: %w", err)
	}
	var list ignored
	for line := range strings.Lines(string(text)) {
		pattern := strings.TrimSpace(line)
		if pattern == "" || pattern[0] == '#' {
			continue
		}
		inner := strings.Trim(pattern, "/")
		if _, err := path.Match(inner, ""); err != nil || pattern[0] == '!' || strings.Contains(inner, "/") {
			return nil, fmt.Errorf("lint: readIgnore: .gitignore: pattern %q is not understood: "+
				"use a name with or without a slash at its ends", pattern)
		}
		list = append(list, strings.TrimSuffix(pattern, "/"))
	}
	return list, nil
}

// match reports whether git would leave name out. A pattern that begins with a
// slash holds for the root folder only.
func (list ignored) match(name string) bool {
	for _, pattern := range list {
		subject := path.Base(name)
		if anchored, ok := strings.CutPrefix(pattern, "/"); ok {
			pattern, subject = anchored, name
		}
		if ok, _ := path.Match(pattern, subject); ok {
			return true
		}
	}
	return false
}
