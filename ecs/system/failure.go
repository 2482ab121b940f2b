package system

import (
	"errors"
	"fmt"
	"runtime/debug"
)

var (
	// ErrPanic is what each PanicError wraps.
	ErrPanic = errors.New("system: a system panicked")
	// ErrLocked is wrapped by the error of a system that returns and leaves a loop over rows,
	// pulled by hand, or a share of its own open: until that ends, structural changes panic.
	ErrLocked = errors.New("a loop or a share that it began was not ended")
	// ErrCycle is wrapped by the error of adding a system whose order cannot be kept.
	ErrCycle = errors.New("the order goes in a circle")
)

// PanicError says that a system panicked, or ended its goroutine by runtime.Goexit. What it had
// changed before stays, and its jobs run.
type PanicError struct {
	System string // name
	Call   string // Update, Start, Stop or Destroy
	Value  any    // of the panic; nil: runtime.Goexit
	Stack  []byte // as debug.Stack has it
}

// newPanicError makes the error of a call that did not return, while its stack is still there.
func newPanicError(system, call string, value any) *PanicError {
	return &PanicError{System: system, Call: call, Value: value, Stack: debug.Stack()}
}

// Error has the stack, below the first line.
func (e *PanicError) Error() string {
	what := fmt.Sprintf("panicked: %v", e.Value)
	if e.Value == nil {
		what = "ended its goroutine by runtime.Goexit"
	}
	return fmt.Sprintf("system: %s: %s %s\n\n%s", e.System, e.Call, what, e.Stack)
}

// Unwrap returns ErrPanic, and the value where it is an error.
func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}
