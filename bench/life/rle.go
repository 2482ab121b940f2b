package life

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Limits on input, so that a bad file causes an error and does not use up the machine's memory. A
// side of the box is at most maxSide so that no cell can leave the int32 range within maxGens
// generations: growth is at most one place per generation.
const (
	maxSide  = 1 << 30
	maxGens  = 1<<30 - 1
	maxCells = 1 << 24
	maxLine  = 64 << 10 // bytes of a line before the pattern
)

// ReadRLE reads the pattern in the file at path.
func ReadRLE(path string) (Pattern, error) {
	f, err := os.Open(path)
	if err != nil {
		return Pattern{}, fmt.Errorf("life: %w", err)
	}
	defer f.Close()
	return ParseRLE(path, f)
}

// ParseRLE reads a pattern in run-length encoded form: comment lines that start with #, a header `x
// = W, y = H, rule = B3/S23` in which the rule is optional, then runs of b (dead), o (live) and $
// (end of row) up to !. White space between runs and all text after ! is ignored. An error names
// the file (as name), the line and what was expected there. Time is linear in the text and the live
// cells, of which there may be 2^24. The text is read twice: malformed text is refused before any
// cell is held, and the second reading allocates exactly 8 bytes per cell.
func ParseRLE(name string, r io.ReadSeeker) (Pattern, error) {
	return parseRLE(name, r, maxCells)
}

func parseRLE(name string, r io.ReadSeeker, limit int) (Pattern, error) {
	count := rleParser{name: name, limit: limit}
	if err := count.read(r); err != nil {
		return Pattern{}, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return Pattern{}, fmt.Errorf("%s: expected a file that can be read twice: %w", name, err)
	}
	p := rleParser{name: name, limit: limit, keep: true}
	if count.live > 0 {
		p.pattern.Cells = make([]Cell, 0, count.live)
	}
	if err := p.read(r); err != nil {
		return Pattern{}, err
	}
	return p.pattern, nil
}

type rleParser struct {
	name    string
	in      *bufio.Reader
	limit   int  // most live cells accepted
	keep    bool // keep the cells, not only their number
	line    int  // from 1, the line of the next byte
	pattern Pattern
	x, y    int // where the next run starts
	live    int // cells so far
}

// read reads the whole text.
func (p *rleParser) read(r io.Reader) error {
	p.in, p.line, p.pattern.Rule = bufio.NewReaderSize(r, maxLine), 1, Conway
	if err := p.head(); err != nil {
		return err
	}
	return p.body()
}

// fail makes the error for line `line`.
func (p *rleParser) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", p.name, line, fmt.Errorf(format, args...))
}

// head reads the comments and the header line.
func (p *rleParser) head() error {
	for {
		row, err := p.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return p.fail(p.line, "expected a line of at most %d bytes before the pattern, got %.60q...", maxLine, row)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return p.fail(p.line, "%w", err)
		}
		line := p.line
		if err == nil {
			p.line++
		}
		row = bytes.TrimSpace(row)
		switch {
		case bytes.HasPrefix(row, []byte("#")):
			if err := p.comment(line, row); err != nil {
				return err
			}
		case len(row) > 0:
			return p.header(line, string(row))
		}
		if err != nil {
			return p.fail(line, "expected a header like x = 3, y = 3, got the end of the file")
		}
	}
}

// comment takes the name from a #N line and the rule from a #r line, which older files have in
// place of the header's rule.
func (p *rleParser) comment(line int, row []byte) error {
	switch {
	case bytes.HasPrefix(row, []byte("#N ")):
		if p.keep {
			p.pattern.Name = string(bytes.TrimSpace(row[3:]))
		}
	case bytes.HasPrefix(row, []byte("#r ")):
		rule, err := ParseRule(string(row[3:]))
		if err != nil {
			return p.fail(line, "%w", err)
		}
		p.pattern.Rule = rule
	}
	return nil
}

func (p *rleParser) header(line int, text string) error {
	fields := strings.Split(text, ",")
	for i, key := range []string{"x", "y", "rule"} {
		if i == len(fields) && key == "rule" {
			break
		}
		var got, value string
		ok := i < len(fields)
		if ok {
			got, value, ok = strings.Cut(fields[i], "=")
		}
		if !ok || strings.ToLower(strings.TrimSpace(got)) != key || i == 2 && len(fields) > 3 {
			return p.fail(line, "expected a header like x = 3, y = 3, rule = B3/S23, got %.60q", text)
		}
		value = strings.TrimSpace(value)
		var err error
		switch key {
		case "x":
			p.pattern.W, err = side(value)
		case "y":
			p.pattern.H, err = side(value)
		default:
			p.pattern.Rule, err = ParseRule(value)
		}
		if err != nil {
			return p.fail(line, "%w", err)
		}
	}
	return nil
}

func side(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxSide {
		return 0, fmt.Errorf("expected a side of the box from 0 to %d, got %.60q", maxSide, s)
	}
	return n, nil
}

// body reads the runs up to the exclamation mark.
func (p *rleParser) body() error {
	count, digits := 0, 0
	split := false // white space has come after the count
	for first := true; ; {
		c, err := p.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return p.fail(p.line, "expected ! at the end of the pattern, got the end of the file")
		}
		if err != nil {
			return p.fail(p.line, "%w", err)
		}
		switch {
		case c == '\n':
			p.line++
			first, split = true, true
			continue
		case c == ' ' || c == '\t' || c == '\r':
			split = true
			continue
		case c == '#' && first && digits == 0:
			err := bufio.ErrBufferFull
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = p.in.ReadSlice('\n')
			}
			if err == nil {
				p.line++
			}
			continue
		case c >= '0' && c <= '9':
			if digits > 0 && split {
				return p.fail(p.line, "expected b, o or $ after the count %d, got %q", count, string([]byte{c}))
			}
			if count = count*10 + int(c-'0'); count > maxSide {
				return p.fail(p.line, "expected a count of at most %d, got %d and more", maxSide, count)
			}
			digits++
			first, split = false, false
			continue
		}
		first = false
		done, err := p.run(c, count, digits > 0)
		if done || err != nil {
			return err
		}
		count, digits = 0, 0
	}
}

// run takes one run: c is its letter, n its count if counted.
func (p *rleParser) run(c byte, n int, counted bool) (done bool, err error) {
	if !counted {
		n = 1
	}
	switch {
	case c == '!' && counted:
		return false, p.fail(p.line, "expected b, o or $ after the count %d, got \"!\"", n)
	case c == '!':
		return true, nil
	case c != 'b' && c != 'o' && c != '$':
		return false, p.fail(p.line, "expected a run like 3o, got %q", string([]byte{c}))
	case n == 0:
		return false, p.fail(p.line, "expected a count of 1 or more, got 0%c", c)
	}
	w, h := p.pattern.W, p.pattern.H
	if c == '$' {
		// The last row may end with $ too, so y can reach h; no cell can lie there.
		if n > h-p.y {
			return false, p.fail(p.line, "expected at most y = %d rows, got %d$ from row %d", h, n, p.y)
		}
		p.x, p.y = 0, p.y+n
		return false, nil
	}
	if p.y >= h || n > w-p.x {
		return false, p.fail(p.line, "expected runs inside the box of x = %d, y = %d, got %d%c at column %d, row %d",
			w, h, n, c, p.x, p.y)
	}
	if c == 'o' {
		if n > p.limit-p.live {
			return false, p.fail(p.line, "expected at most %d live cells, got %d%c after %d", p.limit, n, c, p.live)
		}
		p.live += n
		for i := 0; p.keep && i < n; i++ {
			p.pattern.Cells = append(p.pattern.Cells, Cell{int32(p.x + i), int32(p.y)})
		}
	}
	p.x += n
	return false, nil
}
