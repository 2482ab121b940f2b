package journal

import (
	"errors"
	"fmt"
)

// ErrLog is wrapped by the errors of journals whose log cannot be used.
var ErrLog = errors.New("not a usable log")

// ErrInUse is wrapped by the error of Open if the folder has a journal that is open.
var ErrInUse = errors.New("a journal in this folder is open")

// ErrRebase is wrapped by the errors of a journal that writes nothing until Rebase.
var ErrRebase = errors.New("the journal needs a new base")

// badLog returns an error that wraps ErrLog with the reason.
func badLog(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrLog, fmt.Errorf(format, args...))
}
