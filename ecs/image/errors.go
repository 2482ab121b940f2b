package image

import "quarry/ecs/internal/worldfile"

// ErrFile is wrapped by the errors of files and streams that are no world file, are of another
// format, or are damaged. Errors of the system, as of a disk that cannot be read, do not wrap it.
var ErrFile = worldfile.ErrImage

// ErrTypes is wrapped by the errors of Open and Load if types of the file and of the program differ
// in what no rule converts.
var ErrTypes = worldfile.ErrImageTypes
