package job

import (
	"errors"
	"fmt"
)

// ErrPanic is what each PanicError wraps.
var ErrPanic = errors.New("job: a body panicked")

// PanicError says that a body of a job panicked, or ended its goroutine by runtime.Goexit.
// Parts that nobody had begun were dropped; what had been written before stays. Jobs that
// depend on this one run.
type PanicError struct {
	Job     string
	Ordinal int    // of the rows, the lowest where several panicked
	Value   any    // of the panic; nil: runtime.Goexit
	Stack   []byte // as debug.Stack has it, on the goroutine of the body
}

// Error has the stack, below the first line.
func (e *PanicError) Error() string {
	what := fmt.Sprintf("panicked: %v", e.Value)
	if e.Value == nil {
		what = "ended its goroutine by runtime.Goexit"
	}
	return fmt.Sprintf("job: the body of job %s, rows of ordinal %d, %s\n\n%s", e.Job, e.Ordinal, what, e.Stack)
}

// Unwrap returns ErrPanic, and the value where it is an error.
func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}
