package ecs

import (
	"time"

	"quarry/internal/clock"
)

// Shrink gives memory left behind by rows that are gone back to the world's universe. The universe
// gives it to the system after a while, see alloc.Universe.Maintain, or at once by its Trim. Shrink
// does what Trim does and, in addition, replaces the partly full last chunk of an archetype by a
// smaller chunk if the rows fit; shrinks blocks of spilled buffers that are at most half full; and
// retires archetypes without rows that NewArchetype has not returned, see World.Stats. Entities,
// values, enable bits, the order of rows and versions stay. If the system has no memory for a
// smaller replacement, the larger one stays.
//
// Shrink works in steps. It returns true when everything is done, and false when the budget is used
// up; the next call then resumes. A budget of 0 or less means no limit, and starts over. A call
// performs at least one step, and only its last step may exceed the budget. A step covers the rows
// of one chunk, at most 512 KiB, and about 1 MiB of buffer elements; the last step is a Trim and a
// visit to each archetype.
//
// Shrink is a structural change: it panics inside a loop over rows, and invalidates earlier batches
// and views.
func (w *World) Shrink(budget time.Duration) (done bool) {
	w.inner().CheckUnlocked("World.Shrink")
	return w.inner().Shrink(budget, clock.Now)
}

// Trim returns the archetypes' reserves and the memory left behind by spilled buffers to the
// universe, for other users of the universe. It returns the number of chunks freed. It also returns
// the memory of ended managed values to Go and, outside of loops, what sparse sets have too much,
// both uncounted. Trim moves no rows, so loops may call it; outside of loops it moves values of
// sparse types. It does nothing for a closed world.
func (w *World) Trim() (chunks int) { return w.inner().Trim() }
