package main

import (
	"bytes"
	"fmt"
	"slices"
)

// sections are parts of pages that say how to get Quarry where it has no path that can be
// downloaded, by the page and its heading, and what a published page says instead. PATH and VERSION
// stand for what is published.
var sections = []struct{ page, heading, text string }{
	{"README.md", "## Install it", "```sh\ngo get PATH@VERSION\n```\n\n" +
		"That brings golang.org/x/sys and github.com/klauspost/cpuid/v2.\n" +
		"[docs/files.md](docs/files.md#versions) says what a version promises.\n"},
	{"docs/platforms.md", "## Module path",
		"`PATH`. `arrowalloc`, `bench`, `fuzz` and `publish` are modules of their own below it, with tags\n" +
			"of their own ([files.md](files.md#versions)).\n"},
}

// sectionsOf returns the text of a page with its sections as they are published. It fails if the
// page has no such heading.
func sectionsOf(page string, text []byte, to target) ([]byte, error) {
	for _, s := range sections {
		if s.page != page {
			continue
		}
		heading := []byte("\n" + s.heading + "\n")
		before, rest, found := bytes.Cut(text, heading)
		if !found {
			return nil, fmt.Errorf("%s has no heading %q, whose text is another when it is published", page, s.heading)
		}
		_, after, more := bytes.Cut(rest, []byte("\n## "))
		said := bytes.ReplaceAll(bytes.ReplaceAll([]byte(s.text), []byte("PATH"), []byte(to.path)), []byte("VERSION"),
			[]byte(to.version))
		text = slices.Concat(before, heading, []byte("\n"), said)
		if more {
			text = slices.Concat(text, []byte("\n## "), after)
		}
	}
	return text, nil
}
