package system

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
)

var (

	// ErrPanic is wrapped by every PanicError.
	ErrPanic = errors.New("system: a system panicked")

	// ErrLocked is wrapped by the error of a system that returns while a loop over rows that it
	// pulls by hand, or a borrow of World.Lend, is still open. Structural changes panic until that
	// ends. A loop of a Cursor that was left without Close is ended when the system returns.
	ErrLocked = errors.New("a loop or a borrow that it began was not ended")

	// ErrCycle is wrapped by the error of adding a system whose ordering forms a cycle.
	ErrCycle = errors.New("the order goes in a circle")
)

// PanicError reports that a system panicked, or ended its goroutine with runtime.Goexit. Changes
// that the system made before remain, and its jobs run.
type PanicError struct {
	System string // name
	Call   string // Update, Start, Stop or Destroy
	Value  any    // of the panic; nil for runtime.Goexit
	Stack  []byte // in the format of debug.Stack
}

// newPanicError makes the error of a call that did not return; the stack of the call still exists.
func newPanicError(system, call string, value any) *PanicError {
	return &PanicError{System: system, Call: call, Value: value, Stack: debug.Stack()}
}

// Error returns one line that describes the panic, followed by the stack.
func (e *PanicError) Error() string {
	what := fmt.Sprintf("panicked: %v", e.Value)
	if e.Value == nil {
		what = "ended its goroutine by runtime.Goexit"
	}
	return fmt.Sprintf("system: %s: %s %s\n\n%s", e.System, e.Call, what, e.Stack)
}

// Unwrap returns ErrPanic, and Value if it is an error.
func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}

// keep stores an error for the call under way.
func (s *Systems) keep(err error) {
	if err != nil {
		s.errs = append(s.errs, err)
	}
}

func (s *Systems) takeErrors() error {
	err := errors.Join(s.errs...)
	s.errs = nil
	return err
}

// warn logs a warning once.
func (s *Systems) warn(text string) {
	if slices.Contains(s.warnings, text) {
		return
	}
	s.warnings = append(s.warnings, text)
	log := s.log
	if log == nil {
		log = slog.Default()
	}
	log.Warn("system: " + text)
}

// Warnings returns the warnings logged so far. The first update after a change reports orderings
// that name a system that does not exist or is in another group. Systems that make queries or jobs
// in every update are reported too.
func (s *Systems) Warnings() []string { return slices.Clone(s.warnings) }
