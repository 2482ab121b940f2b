package world

import (
	"errors"
	"fmt"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// The error of a limit. What limits is elsewhere: rows of a chunk and orders of chunks in package
// table (layout.go), options of types by kind (kind.go), entities in entity.go.

// ErrLimit is wrapped by every *LimitError.
var ErrLimit = errors.New("limit reached")

// LimitError reports that a limit of the library or of the system was reached. The world is
// unchanged by the call. Functions without an error result panic with it; their Try forms return
// it.
type LimitError struct {
	Op    string // the call, such as Archetype.Create
	Limit string // what is limited, such as "entities a world"; "" if Err has it
	Max   int    // the limit
	Err   error  // error of the layer below, or why there is the limit and what to do; or nil
}

// Error returns the call, the limit and its value as text.
func (e *LimitError) Error() string {
	switch {
	case e.Limit == "":
		return fmt.Sprintf("ecs: %s: %v", e.Op, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("ecs: %s: the limit is %d %s: %v", e.Op, e.Max, e.Limit, e.Err)
	}
	return fmt.Sprintf("ecs: %s: the limit is %d %s", e.Op, e.Max, e.Limit)
}

// Unwrap returns ErrLimit and the error of the layer below, if any.
func (e *LimitError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrLimit}
	}
	return []error{ErrLimit, e.Err}
}

// Limit returns a LimitError without Op, which the exported caller sets by WithOp.
func Limit(name string, most int, err error) error {
	return &LimitError{Limit: name, Max: most, Err: err}
}

// LimitErrorOf returns the LimitError for an error of the universe, of the id store or of a
// buffer's Spill. It returns nil for nil.
func LimitErrorOf(err error) error {
	if err == nil {
		return nil
	}
	var long *value.LongError // on Go's heap
	switch {
	case errors.Is(err, entity.ErrFull):
		return Limit("entities a world", MostAlive, nil)
	case errors.As(err, &long):
		return Limit(long.Of+" of a buffer", long.Most, nil)
	}
	return Limit("", 0, err)
}

// planLimit returns the LimitError for a set of types whose row does not fit in a chunk. It panics
// for any other error, which cannot occur: sizes and alignments come from Go types.
func planLimit(err error) error {
	if errors.Is(err, layout.ErrTooBig) {
		return Limit("bytes of columns a chunk", layout.ChunkSize, err)
	}
	panic("ecs: NewArchetype: " + err.Error())
}

// WithOp sets Op in a LimitError and leaves other errors unchanged.
func WithOp(op string, err error) error {
	if err == nil {
		return nil
	}
	var l *LimitError
	if errors.As(err, &l) && l.Op == "" {
		l.Op = op
	}
	return err
}
