package ecs

import "quarry/ecs/internal/world"

// A limit of the library or of the system that a call has reached, as an error.

// ErrLimit is wrapped by every *LimitError.
var ErrLimit = world.ErrLimit

// LimitError reports that a limit of the library or of the system was reached. Op is the call, such
// as Archetype.Create; Limit is what is limited, such as "entities a world", or "" if Err has it;
// Max is the limit; Err is the error of the layer below, or why there is the limit and what to do,
// or nil. The world is unchanged by the call. Functions without an error result panic with it; Try
// returns it.
type LimitError = world.LimitError

// Try calls f and returns the *LimitError with which f panics, or nil; other panics go through. The
// call that panicked has changed nothing, and the calls of f before it stay.
//
//	err := ecs.Try(func() { health.Add(e, Health{100}) })
//
// Cost: a few nanoseconds beyond f's, so put a whole batch in f.
func Try(f func()) (err error) {
	if f == nil {
		panic("ecs: Try: the function is nil")
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *LimitError:
			err = p
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// panicOn panics with an error of a limit.
func panicOn(err error) {
	if err != nil {
		panic(err)
	}
}
