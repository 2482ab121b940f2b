package ecs

import "quarry/ecs/internal/world"

// A limit of the library or of the system that a call has reached, as an error.

// ErrLimit is wrapped by every *LimitError.
var ErrLimit = world.ErrLimit

// LimitError reports that a limit of the library or of the system was reached. Op is the call, such
// as Archetype.Create; Limit is what is limited, such as "entities a world", or "" if Err says it;
// Max is the limit; Err is the error of the layer below, or why there is the limit and what to do,
// or nil. The world is unchanged by the call. Functions without an error result panic with it;
// their Try forms return it.
type LimitError = world.LimitError
