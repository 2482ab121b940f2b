package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A table is fuzz/mutants/table.txt, which programs rewrite: reading and writing it gives the same
// text. One mutant in it:
//
//	alloc/wrap Track.Free 1 of 2
//	- t.putBack(b)
//	+ _ = b
//	! alloc/wrap.TestTrackAfterPanic 0.01
//
// The lines are: the package and the function, and the number of the place if several in the
// function match; the code to replace and its replacement, Go of any number of lines (pattern.go),
// where no line with a + means nothing; and the test that noticed, with its seconds (verdict). This
// last line is missing until a run has found the test. Empty lines and lines with # belong to the
// lines after them.
type table struct {
	mutants []*mutant
	rest    string // text after the last mutant
}

// A mutant is one place to break.
type mutant struct {
	pkg, fn  string // pkg is below the module's path; fn is Function or Type.Method
	nth, of  int    // which of the matching places, from 1; 0 of 0: there is one
	old, new string
	by       verdict
	above    string // comment lines in the table
}

// A verdict is a mutant's result: the test that noticed, or none.
type verdict struct {
	pkg, test string
	seconds   string // how long it ran, or what ended it
}

const tablePath = "fuzz/mutants/table.txt"

func readTable(root string) (*table, error) {
	text, err := os.ReadFile(filepath.Join(root, tablePath))
	if err != nil {
		return nil, err
	}
	return parseTable(string(text))
}

func (t *table) write(root string) error {
	return os.WriteFile(filepath.Join(root, tablePath), []byte(t.String()), 0o644)
}

func parseTable(text string) (*table, error) {
	t := &table{}
	var m *mutant
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := t.parse(&m, strings.TrimSuffix(line, "\n")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", tablePath, n, err)
		}
	}
	return t, nil
}

// parse reads one line; m is the mutant that the previous line belongs to, or nil above the first.
func (t *table) parse(m **mutant, line string) error {
	sign, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "" || sign[0] == '#':
		*m, t.rest = nil, t.rest+line+"\n"
	case sign != "-" && sign != "+" && sign != "!":
		*m = &mutant{pkg: sign, above: t.rest}
		t.mutants, t.rest = append(t.mutants, *m), ""
		return (*m).parsePlace(rest)
	case *m == nil:
		return fmt.Errorf("%q stands below no function", line)
	case sign == "-":
		(*m).old = joinLines((*m).old, rest)
	case sign == "+":
		(*m).new = joinLines((*m).new, rest)
	default:
		name, seconds, _ := strings.Cut(rest, " ")
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 || seconds == "" {
			return fmt.Errorf("%q is not ! package.Test seconds", line)
		}
		(*m).by = verdict{name[:dot], name[dot+1:], seconds}
	}
	return nil
}

func (m *mutant) parsePlace(text string) error {
	fn, which, several := strings.Cut(text, " ")
	m.fn = fn
	if several {
		if n, err := fmt.Sscanf(which, "%d of %d", &m.nth, &m.of); n != 2 || err != nil || m.nth < 1 ||
			m.nth > m.of || m.of < 2 {
			return fmt.Errorf("%q is not package function N of M", text)
		}
	}
	if fn == "" {
		return fmt.Errorf("no function of %s is named", m.pkg)
	}
	return nil
}

func joinLines(above, line string) string {
	if above == "" {
		return line
	}
	return above + "\n" + line
}

func (t *table) String() string {
	var b bytes.Buffer
	for _, m := range t.mutants {
		fmt.Fprintf(&b, "%s%s\n", m.above, m.place())
		writeLines(&b, "- ", m.old)
		writeLines(&b, "+ ", m.new)
		if m.by.test != "" {
			fmt.Fprintf(&b, "! %s.%s %s\n", m.by.pkg, m.by.test, m.by.seconds)
		}
	}
	return b.String() + t.rest
}

func writeLines(b *bytes.Buffer, sign, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%s%s\n", sign, strings.TrimSuffix(line, "\n"))
	}
}

// place returns where the mutant is, as in the table.
func (m *mutant) place() string {
	if m.of == 0 {
		return m.pkg + " " + m.fn
	}
	return fmt.Sprintf("%s %s %d of %d", m.pkg, m.fn, m.nth, m.of)
}

// String names the mutant in a message.
func (m *mutant) String() string { return m.place() + ": " + code(m.old) + " -> " + code(m.new) }

// code prints Go on one line of a message.
func code(text string) string {
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return "nothing"
	}
	return "`" + text + "`"
}
