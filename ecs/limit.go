package ecs

import (
	"errors"
	"fmt"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// ErrLimit is wrapped by every *LimitError.
var ErrLimit = errors.New("limit reached")

// LimitError says that a limit of the library or of the system was reached. The world is as it was
// before the call. Functions without an error result panic with it; their Try forms return it.
type LimitError struct {
	Op    string // the call, as Archetype.Create
	Limit string // what is limited, as "entities a world"; "" when Err says it
	Max   int    // the limit
	Err   error  // what the layer below said, or nil
}

// Error names the call, the limit and its value.
func (e *LimitError) Error() string {
	switch {
	case e.Limit == "":
		return fmt.Sprintf("ecs: %s: %v", e.Op, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("ecs: %s: the limit is %d %s: %v", e.Op, e.Max, e.Limit, e.Err)
	}
	return fmt.Sprintf("ecs: %s: the limit is %d %s", e.Op, e.Max, e.Limit)
}

// Unwrap gives ErrLimit and the error of the layer below.
func (e *LimitError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrLimit}
	}
	return []error{ErrLimit, e.Err}
}

// limit makes a LimitError whose Op the exported caller fills in with during.
func limit(name string, most int, err error) error {
	return &LimitError{Limit: name, Max: most, Err: err}
}

// refused is the LimitError of an error of the universe, of the store of ids or of a buffer's
// Spill, nil for none.
func refused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, entity.ErrFull):
		return limit("entities a world", mostAlive, nil)
	case errors.Is(err, value.ErrLong):
		return limit("bytes of a buffer", value.MaxBytes, nil)
	}
	return limit("", 0, err)
}

// planLimit is the LimitError of a set of types of which a row does not fit a chunk. It panics for
// another error: sizes and alignments come from Go types.
func planLimit(err error) error {
	if errors.Is(err, layout.ErrTooBig) {
		return limit("bytes of columns a chunk", layout.ChunkSize, err)
	}
	panic("ecs: NewArchetype: " + err.Error())
}

// during names the call in a LimitError and leaves other errors alone.
func during(op string, err error) error {
	if err == nil {
		return nil
	}
	var l *LimitError
	if errors.As(err, &l) && l.Op == "" {
		l.Op = op
	}
	return err
}
