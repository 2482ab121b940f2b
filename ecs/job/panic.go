package job

import (
	"errors"
	"fmt"
)

// ErrPanic is wrapped by every PanicError.
var ErrPanic = errors.New("job: a body panicked")

// PanicError reports that a body of a job panicked, or ended its goroutine with runtime.Goexit.
// Parts not yet begun were dropped; what bodies wrote before remains. Jobs that depend on this one
// still run.
type PanicError struct {
	Job     string
	Ordinal int    // of the rows; the lowest if several bodies panicked
	Value   any    // of the panic; nil for runtime.Goexit
	Stack   []byte // in the format of debug.Stack, of the body's goroutine
}

// Error returns one line that describes the panic, followed by the stack.
func (e *PanicError) Error() string {
	what := fmt.Sprintf("panicked: %v", e.Value)
	if e.Value == nil {
		what = "ended its goroutine by runtime.Goexit"
	}
	return fmt.Sprintf("job: the body of job %s, rows of ordinal %d, %s\n\n%s", e.Job, e.Ordinal, what, e.Stack)
}

// Unwrap returns ErrPanic, and Value if it is an error.
func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}
