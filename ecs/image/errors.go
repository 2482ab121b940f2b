package image

import (
	"errors"
	"fmt"

	"quarry/internal/seam"
)

// errors.md: `ErrFile` | What was opened, loaded or checked is no world file, one of another
// format, cut short or damaged; the text names the section, its place in the file and both
// checksums. | Take an older file: a `SaveFile` that failed has left the one before in place.

// ErrFile is wrapped by the errors of files and streams that are no world file, are of another
// format, or are damaged. Errors of the system, as of a disk that cannot be read, do not wrap it.
var ErrFile = seam.ErrImage

// errors.md: `ErrTypes` | A type of the file is not registered in the program, or has changed in a
// way that no rule converts; the text names it and shows both layouts. | Register it, or pass
// `Renamed`, `Convert`, `Drop` or `Keep`; `Plan` says what becomes of each type.

// ErrTypes is wrapped by the errors of Open and Load if types of the file and of the program differ
// in what no rule converts.
var ErrTypes = seam.ErrImageTypes

// refused returns an error that wraps ErrFile and says why.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFile, fmt.Errorf(format, args...))
}

// errors.md: `ErrLog` | The log of a journal is none, of another format, belongs to another base,
// is damaged where commits had been acknowledged, or has a record that does not fit; the text says
// where. | Open with `CutDamaged` to go on from the last good record, after copying the folder.

// ErrLog is wrapped by the errors of journals whose log cannot be used.
var ErrLog = errors.New("not a usable log")

// errors.md: `ErrInUse` | Another journal, of this process or another, has the folder open. | Close
// it, or take another folder.

// ErrInUse is wrapped by the error of OpenJournal if the folder has a journal that is open.
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
