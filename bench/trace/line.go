package trace

import (
	"bytes"
	"math/bits"
)

// line is a line of text that is consumed from the left. If the text is not of the form of a
// method, the method returns false and leaves the rest undefined: callers then report the whole
// line.
type line struct {
	rest []byte
}

// lit consumes exactly s.
func (l *line) lit(s string) bool {
	if len(l.rest) < len(s) || string(l.rest[:len(s)]) != s {
		return false
	}
	l.rest = l.rest[len(s):]
	return true
}

// word consumes and returns the text up to the next space or the end.
func (l *line) word() []byte {
	n := bytes.IndexByte(l.rest, ' ')
	if n < 0 {
		n = len(l.rest)
	}
	w := l.rest[:n]
	l.rest = l.rest[n:]
	return w
}

// spaces consumes spaces and tabs and reports whether there was one.
func (l *line) spaces() bool {
	n := 0
	for n < len(l.rest) && (l.rest[n] == ' ' || l.rest[n] == '\t') {
		n++
	}
	l.rest = l.rest[n:]
	return n > 0
}

// done reports whether nothing is left.
func (l *line) done() bool {
	return len(l.rest) == 0
}

// dec consumes an unsigned decimal number of 64 bits.
func (l *line) dec() (uint64, bool) {
	var v uint64
	n := 0
	for n < len(l.rest) {
		d := l.rest[n] - '0'
		if d > 9 {
			break
		}
		// 19 digits always fit; from the 20th on the product and the sum are checked.
		if n >= 19 {
			hi, lo := bits.Mul64(v, 10)
			sum, carry := bits.Add64(lo, uint64(d), 0)
			if hi+carry != 0 {
				return 0, false
			}
			v = sum
		} else {
			v = v*10 + uint64(d)
		}
		n++
	}
	l.rest = l.rest[n:]
	return v, n > 0
}

// hex consumes 0x and a lower-case hexadecimal number of 64 bits.
func (l *line) hex() (uint64, bool) {
	if !l.lit("0x") {
		return 0, false
	}
	var v uint64
	n := 0
	for n < len(l.rest) {
		c := l.rest[n]
		d := c - '0'
		if d > 9 {
			d = c - 'a' + 10
			if d < 10 || d > 15 {
				break
			}
		}
		if v>>60 != 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
		n++
	}
	l.rest = l.rest[n:]
	return v, n > 0
}
