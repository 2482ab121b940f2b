package ecs

import (
	"errors"
	"fmt"
)

// ErrLimit is wrapped by every *LimitError.
var ErrLimit = errors.New("limit reached")

// LimitError says that a limit of the library or of the system was reached.
// The world is as it was before the call. Functions without an error result
// panic with it; their Try forms return it.
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
