package life_test

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"quarry/bench/life"
)

const header = "x = 3, y = 3, rule = B3/S23\n"

var glider = []life.Cell{{X: 1, Y: 0}, {X: 2, Y: 1}, {X: 0, Y: 2}, {X: 1, Y: 2}, {X: 2, Y: 2}}

func TestParseRLE(t *testing.T) {
	for name, text := range map[string]string{
		"plain":            header + "bo$2bo$3o!",
		"no rule":          "x = 3, y = 3\nbo$2bo$3o!",
		"tight header":     "X=3,Y=3,RULE=b3/s23\nbo$2bo$3o!",
		"comments":         "#N Glider\n#C x = 9\n\n" + header + "bo$2bo$3o!",
		"broken lines":     header + "bo\n$2b\no$\n3\no!",
		"spaces":           header + " b o $\t2b o $ 3o !",
		"CRLF":             "x = 3, y = 3\r\nbo$2bo$\r\n3o!\r\n",
		"text after":       header + "bo$2bo$3o! 17q Edwin",
		"dead written out": header + "bob$2bo$3o$!",
		"comment inside":   header + "bo$\n#C here\n2bo$3o!",
		"leading zero":     header + "b01o$2bo$003o!",
	} {
		p, err := life.ParseRLE("x.rle", strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(p.Cells, glider) || p.Rule != life.Conway || p.W != 3 || p.H != 3 {
			t.Errorf("%s: got %+v want %v", name, p, glider)
		}
	}
}

func TestParseRLEHead(t *testing.T) {
	p, err := life.ParseRLE("x.rle", strings.NewReader("#N  Two words \n#r 23/36\nx = 10, y = 2\n$10o!"))
	if err != nil || p.Name != "Two words" || p.Rule.String() != "B36/S23" || len(p.Cells) != 10 {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err = life.ParseRLE("x.rle", strings.NewReader("x = 0, y = 0, rule = B2/S\n!"))
	if err != nil || len(p.Cells) != 0 || p.Rule.String() != "B2/S" {
		t.Errorf("empty: got %+v, %v", p, err)
	}
}

// malformed has the whole error for each bad text.
var malformed = map[string]struct{ text, want string }{
	"empty":         {"", `x.rle:1: expected a header like x = 3, y = 3, got the end of the file`},
	"only comments": {"#C a\n#C b\n", `x.rle:3: expected a header like x = 3, y = 3, got the end of the file`},
	"no header":     {"\nbo$2bo$3o!", `x.rle:2: expected a header like x = 3, y = 3, rule = B3/S23, got "bo$2bo$3o!"`},
	"no y":          {"x = 3\no!", `x.rle:1: expected a header like x = 3, y = 3, rule = B3/S23, got "x = 3"`},
	"y first": {"y = 3, x = 3\no!",
		`x.rle:1: expected a header like x = 3, y = 3, rule = B3/S23, got "y = 3, x = 3"`},
	"fourth field": {"x = 3, y = 3, rule = B3/S23, z = 1\no!",
		`x.rle:1: expected a header like x = 3, y = 3, rule = B3/S23, got "x = 3, y = 3, rule = B3/S23, z = 1"`},
	"bad side": {"x = -1, y = 3\no!", `x.rle:1: expected a side of the box from 0 to 1073741824, got "-1"`},
	"side overflows": {"x = 3, y = 99999999999999999999\no!",
		`x.rle:1: expected a side of the box from 0 to 1073741824, got "99999999999999999999"`},
	"bad rule": {"x = 3, y = 3, rule = HighLife\no!", `x.rle:1: expected a rule like B3/S23, got "HighLife"`},
	"B0": {"x = 3, y = 3, rule = B03/S23\no!",
		`x.rle:1: expected a rule without B0, which fills the plane at once, got "B03/S23"`},
	"bad #r":        {"#r Conway\nx = 3, y = 3\no!", `x.rle:1: expected a rule like B3/S23, got "Conway"`},
	"bad letter":    {header + "bo$\n2q$3o!", `x.rle:3: expected a run like 3o, got "q"`},
	"not ASCII":     {header + "bo$\n\xff!", `x.rle:3: expected a run like 3o, got "\xff"`},
	"second header": {header + "bo$\n" + header, `x.rle:3: expected a run like 3o, got "x"`},
	"no end":        {header + "bo$2bo$3o\n", `x.rle:3: expected ! at the end of the pattern, got the end of the file`},
	"count at end":  {header + "bo$2bo$3", `x.rle:2: expected ! at the end of the pattern, got the end of the file`},
	"count of !":    {header + "bo$2bo$3!", `x.rle:2: expected b, o or $ after the count 3, got "!"`},
	"split count":   {header + "1\n1b!", `x.rle:3: expected b, o or $ after the count 1, got "1"`},
	"zero":          {header + "0o!", `x.rle:2: expected a count of 1 or more, got 0o`},
	"huge count": {header + "99999999999999999999o!",
		`x.rle:2: expected a count of at most 1073741824, got 9999999999 and more`},
	"too wide": {header + "bo$2b2o$3o!",
		`x.rle:2: expected runs inside the box of x = 3, y = 3, got 2o at column 2, row 1`},
	"too wide, dead": {header + "bo$4b$3o!",
		`x.rle:2: expected runs inside the box of x = 3, y = 3, got 4b at column 0, row 1`},
	"too high": {header + "bo$2bo$3o$\no!",
		`x.rle:3: expected runs inside the box of x = 3, y = 3, got 1o at column 0, row 3`},
	"too many rows": {header + "bo$3$3o!", `x.rle:2: expected at most y = 3 rows, got 3$ from row 1`},
	"too many cells": {"x = 1000, y = 1000\n501o$\n500o!",
		`x.rle:3: expected at most 1000 live cells, got 500o after 501`},
}

func TestParseRLEMalformed(t *testing.T) {
	for name, c := range malformed {
		_, err := life.ParseRLELimit("x.rle", strings.NewReader(c.text), 1000)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v want %v", name, err, c.want)
		}
	}
}

// file is a reader that cannot seek.
type file struct {
	io.Reader
	err error
}

func (f file) Seek(int64, int) (int64, error) { return 0, f.err }

func TestParseRLEBrokenReader(t *testing.T) {
	cause := errors.New("disk on fire")
	for _, text := range []string{"#C x\n", header + "bo$\n"} {
		_, err := life.ParseRLE("x.rle", file{io.MultiReader(strings.NewReader(text), iotest.ErrReader(cause)), nil})
		if !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), "x.rle:") {
			t.Errorf("got %v want %v with file and line", err, cause)
		}
	}
	_, err := life.ParseRLE("x.rle", file{strings.NewReader(header + "!"), cause})
	if !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), "x.rle: expected a file that can be read twice") {
		t.Errorf("got %v want %v with the file", err, cause)
	}
}

func TestReadRLEMissing(t *testing.T) {
	_, err := life.ReadRLE(filepath.Join(t.TempDir(), "none.rle"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v want %v", err, fs.ErrNotExist)
	}
}

func TestPrintLines(t *testing.T) {
	p := life.Pattern{Rule: life.Conway, W: 401, H: 3}
	for x := int32(0); x <= 400; x += 2 {
		p.Cells = append(p.Cells, life.Cell{X: x, Y: 2})
	}
	text := p.String()
	for line := range strings.Lines(text) {
		if len(line) > 71 {
			t.Errorf("got a line of %d characters want at most 70", len(line)-1)
		}
	}
	again, err := life.ParseRLE("x.rle", strings.NewReader(text))
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("got %v, %v want %v", again, err, p)
	}
}

func FuzzParseRLE(f *testing.F) {
	f.Add(header + "bo$2bo$3o!")
	f.Add(life.RPentomino().String())
	f.Add(life.Acorn().String())
	for _, c := range malformed {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := life.ParseRLELimit("fuzz.rle", strings.NewReader(text), 1<<12)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.rle:") || !strings.Contains(err.Error(), "expected") {
				t.Fatalf("got %q want file, line and what was expected", err)
			}
			return
		}
		again, err := life.ParseRLE("again.rle", strings.NewReader(p.String()))
		if err != nil {
			t.Fatalf("%v\nof %q", err, p.String())
		}
		if !reflect.DeepEqual(again, p) {
			t.Fatalf("got %+v want %+v", again, p)
		}
	})
}
