package orbits

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Body is one orbit of a catalogue. Its strings share the memory of their line.
type Body struct {
	Designation string // packed, as in columns 1 to 7
	Name        string // in words, as in columns 167 to 194; may be empty
	H           float64
	Elements
}

// Columns of the Minor Planet Center's MPCORB format, counted from 1, both ends included; columns
// between two fields are blank.
var mpcFields = [...]struct {
	what     string
	lo, hi   int
	min, max float64 // range of the value
}{
	{"a mean anomaly in degrees", 27, 35, 0, 360},
	{"an argument of perihelion in degrees", 38, 46, 0, 360},
	{"a longitude of the node in degrees", 49, 57, 0, 360},
	{"an inclination in degrees", 60, 68, 0, 180},
	{"an eccentricity", 71, 79, 0, 100},
	{"a mean motion in degrees a day", 81, 91, 0, 1000},
	{"a semi-major axis in au", 93, 103, -1e6, 1e6},
}

// Indexes into mpcFields.
const (
	mpcM = iota
	mpcPeri
	mpcNode
	mpcI
	mpcE
	mpcN
	mpcA
)

// mpcBlanks are the columns, counted from 1, that end a field and must be blank: they catch a line
// with a character too many or too few.
var mpcBlanks = [...]int{8, 14, 20, 26, 36, 37, 47, 48, 58, 59, 69, 70, 80, 92, 104}

const (
	mpcShortest = 103     // columns up to the semi-major axis, which every line must have
	mpcLongest  = 1 << 10 // bytes of a line that are accepted; the format has 202
)

// ReadMPCORB reads the orbits of the catalogue in the file at path, gzipped or not, by its first
// two bytes. It reads twice: a malformed file is refused before any of it is held, and the second
// reading allocates exactly 64 bytes per orbit, for at most 20 million.
func ReadMPCORB(path string) ([]Elements, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("orbits: %w", err)
	}
	defer f.Close()
	return readMPCORB(path, f)
}

func readMPCORB(name string, f io.ReadSeeker) ([]Elements, error) {
	n := 0
	if err := scanMPCORB(name, f, func(Body) { n++ }); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("orbits: %w", err)
	}
	orbits := make([]Elements, 0, n)
	err := scanMPCORB(name, f, func(b Body) { orbits = append(orbits, b.Elements) })
	if err != nil {
		return nil, err
	}
	return orbits, nil
}

// scanMPCORB is ParseMPCORB for text that may be gzipped.
func scanMPCORB(name string, f io.Reader, each func(Body)) error {
	in := bufio.NewReader(f)
	magic, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("orbits: %w", err)
	}
	if string(magic) != "\x1f\x8b" {
		return ParseMPCORB(name, in, each)
	}
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("%s: expected a gzip file: %w", name, err)
	}
	return ParseMPCORB(name, unpacked, each)
}

// ParseMPCORB calls each for every orbit of a text in the Minor Planet Center's MPCORB format, in
// order. It skips a header that ends with a line of dashes, and blank lines, which divide the
// sections of the full catalogue. An error names the file (as name), the line and what was expected
// there; a catalogue without orbits is an error, and so are more than 20 million lines. Only the
// current line, of at most 1,024 bytes, is held, besides whatever each keeps.
func ParseMPCORB(name string, r io.Reader, each func(Body)) error {
	return parseMPCORB(name, r, maxBodies, each)
}

func parseMPCORB(name string, r io.Reader, most int, each func(Body)) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, mpcLongest)
	bodies := 0
	var first error // of the first line, unless a line of dashes later shows that it was a header
	line := 0
	for in.Scan() {
		if line++; line > most {
			return fmt.Errorf("%s:%d: expected at most %d lines: cut the catalogue before this one", name, line, most)
		}
		text := strings.TrimSuffix(in.Text(), "\r")
		switch {
		case strings.TrimSpace(text) == "":
			continue
		case first != nil:
			if isRule(text) {
				first = nil
			}
			continue
		}
		body, err := parseMPC(text)
		if err != nil {
			err = fmt.Errorf("%s:%d: %w", name, line, err)
			if bodies > 0 {
				return err
			}
			if !isRule(text) {
				first = err
			}
			continue
		}
		bodies++
		each(body)
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: expected a line of at most %d bytes: %w", name, line+1, mpcLongest, err)
	} else if err != nil {
		return fmt.Errorf("%s:%d: expected to read a line: %w", name, line+1, err)
	}
	if first != nil {
		return first
	}
	if bodies == 0 {
		return fmt.Errorf("%s:%d: expected an orbit, got the end of the file", name, line+1)
	}
	return nil
}

// isRule reports whether a line is the rule of dashes that ends a header.
func isRule(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) >= 10 && strings.Trim(text, "-") == ""
}

// parseMPC reads one line.
func parseMPC(text string) (Body, error) {
	if len(text) < mpcShortest {
		return Body{}, fmt.Errorf("expected at least %d columns, got %d", mpcShortest, len(text))
	}
	for _, column := range mpcBlanks {
		if column <= len(text) && text[column-1] != ' ' {
			return Body{}, fmt.Errorf("expected a blank in column %d, got %q", column, text[column-1:column])
		}
	}
	b := Body{Designation: strings.TrimSpace(text[:7])}
	if b.Designation == "" {
		return Body{}, fmt.Errorf("expected a designation in columns 1 to 7, got blanks")
	}
	if len(text) > 166 {
		b.Name = strings.TrimSpace(text[166:min(len(text), 194)])
	}
	if h := strings.TrimSpace(text[8:13]); h != "" {
		var err error
		if b.H, err = strconv.ParseFloat(h, 64); err != nil || !(b.H > -50 && b.H < 100) {
			return Body{}, fmt.Errorf("expected a magnitude in columns 9 to 13, got %q", text[8:13])
		}
	}
	epoch, ok := unpackDate(text[20:25])
	if !ok {
		return Body{}, fmt.Errorf("expected a packed date like K1972 in columns 21 to 25, got %q", text[20:25])
	}
	var v [len(mpcFields)]float64
	for k, f := range mpcFields {
		var err error
		field := text[f.lo-1 : f.hi]
		v[k], err = strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(v[k] >= f.min && v[k] <= f.max) {
			return Body{}, fmt.Errorf("expected %s in columns %d to %d, got %q", f.what, f.lo, f.hi, field)
		}
	}
	b.Elements = Elements{
		A: v[mpcA], E: v[mpcE], I: radians(v[mpcI]), Node: radians(v[mpcNode]),
		Peri: radians(v[mpcPeri]), M: radians(v[mpcM]), N: radians(v[mpcN]), Epoch: epoch,
	}
	if err := b.Check(); err != nil {
		return Body{}, err
	}
	return b, nil
}

// unpackDate returns the Julian date, at 0 h, of a date like K1972: a letter for the century (I =
// 18, J = 19, K = 20), two digits of the year, and one character each for month and day, in which A
// is 10.
func unpackDate(s string) (jd float64, ok bool) {
	century := strings.IndexByte("IJK", s[0])
	year, err := strconv.ParseUint(s[1:3], 10, 8)
	month, day := packed(s[3]), packed(s[4])
	if century < 0 || err != nil || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	date := time.Date(1800+100*century+int(year), time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if date.Day() != day {
		return 0, false // the month has no such day
	}
	return float64(date.Unix())/86400 + unixEpoch, true
}

// packed returns the value of one character of a packed date, or -1.
func packed(c byte) int {
	return strings.IndexByte("0123456789ABCDEFGHIJKLMNOPQRSTUV", c)
}

// unixEpoch is the Julian date of 1970-01-01, 0 h.
const unixEpoch = 2440587.5

// Date returns the day of a Julian date as 2006-01-02.
func Date(jd float64) string {
	return time.Unix(int64((jd-unixEpoch)*86400), 0).UTC().Format(time.DateOnly)
}
