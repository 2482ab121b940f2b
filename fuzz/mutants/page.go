package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	pagePath = "docs/mutants.md"
	heading  = "| package and function | instead of | there is | noticed by | seconds |\n|---|---|---|---|---|\n"
)

// page is docs/mutants.md with its rows replaced by the table's; the text above the rows is written
// by hand.
func (t *table) page(now string) (string, error) {
	above, _, found := strings.Cut(now, heading)
	if !found {
		return "", fmt.Errorf("%s has no line %s", pagePath, strings.SplitN(heading, "\n", 2)[0])
	}
	var b strings.Builder
	b.WriteString(above + heading)
	for _, m := range t.mutants {
		test := m.by.test
		if m.by.pkg != m.pkg {
			test = m.by.pkg + "." + test
		}
		if m.by.test == "" {
			test = "**nothing** yet"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", m.place(), code(m.old), code(m.new), test, m.by.seconds)
	}
	return b.String(), nil
}

func (t *table) writePage(root string) error {
	name := filepath.Join(root, pagePath)
	now, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := t.page(string(now))
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// code prints Go on one line of a table.
func code(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
	if text == "" {
		return "nothing"
	}
	return "`" + text + "`"
}
