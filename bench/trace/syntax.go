package trace

import (
	"errors"
	"fmt"
)

// ErrFormat is matched by every error about malformed content of a trace.
var ErrFormat = errors.New("trace: malformed trace")

// ErrLimit is matched by errors about well-formed traces that are larger than a replay can hold.
var ErrLimit = errors.New("trace: limit reached")

// maxQuote bounds how much of a bad line an error repeats, in bytes.
const maxQuote = 60

// SyntaxError is the file, the line and the reason of a text that breaks the form.
type SyntaxError struct {
	File string // as passed to Read; for a zip archive "file.zip(member)"
	Line int    // from 1
	Want string // what was expected there
	Got  string // the line, cut to 60 bytes; "" at the end of the file
	End  bool   // the file ended where more was expected
}

// Error returns "file:line: expected WANT, got LINE".
func (e *SyntaxError) Error() string {
	if e.End {
		return fmt.Sprintf("%s:%d: expected %s, got the end of the file", e.File, e.Line, e.Want)
	}
	return fmt.Sprintf("%s:%d: expected %s, got %q", e.File, e.Line, e.Want, e.Got)
}

// Is makes the error match ErrFormat.
func (e *SyntaxError) Is(target error) bool {
	return target == ErrFormat
}

// quote cuts a line to the length that an error repeats.
func quote(line []byte) string {
	if len(line) <= maxQuote {
		return string(line)
	}
	return string(line[:maxQuote]) + "..."
}
