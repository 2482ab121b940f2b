package journal

import (
	"errors"
	"fmt"
)

// errors.md: `ErrLog` | The log of a journal is none, of another format, belongs to another base,
// is damaged where commits had been acknowledged, or has a record that does not fit; the text says
// where. | Open with `CutDamaged` to go on from the last good record, after copying the folder.

// ErrLog is wrapped by the errors of journals whose log cannot be used.
var ErrLog = errors.New("not a usable log")

// errors.md: `ErrInUse` | Another journal, of this process or another, has the folder open. | Close
// it, or take another folder.

// ErrInUse is wrapped by the error of Open if the folder has a journal that is open.
var ErrInUse = errors.New("a journal in this folder is open")

// errors.md: `ErrRebase` | What was written may not be on the disk: it could not be synced, or what
// was cut could not be taken back. The journal writes nothing more to this log; the world goes on.
// | `Journal.Rebase`, perhaps after making room; or close the journal.

// ErrRebase is wrapped by the errors of a journal that writes nothing until Rebase.
var ErrRebase = errors.New("the journal needs a new base")

// badLog returns an error that wraps ErrLog and says why.
func badLog(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrLog, fmt.Errorf(format, args...))
}
