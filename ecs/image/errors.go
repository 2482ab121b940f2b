package image

import "quarry/ecs/internal/worldfile"

// errors.md: `ErrFile` | What was opened, loaded or checked is no world file, one of another
// format, cut short or damaged; the text names the section, its place in the file and both
// checksums. | Take an older file: a `SaveFile` that failed has left the one before in place.

// ErrFile is wrapped by the errors of files and streams that are no world file, are of another
// format, or are damaged. Errors of the system, as of a disk that cannot be read, do not wrap it.
var ErrFile = worldfile.ErrImage

// errors.md: `ErrTypes` | A type of the file is not registered in the program, or has changed in a
// way that no rule converts; the text names it and shows both layouts. | Register it, or pass
// `Renamed`, `Convert`, `Drop` or `Keep`; `Plan` says what becomes of each type.

// ErrTypes is wrapped by the errors of Open and Load if types of the file and of the program differ
// in what no rule converts.
var ErrTypes = worldfile.ErrImageTypes
