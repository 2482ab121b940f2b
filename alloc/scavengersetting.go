package alloc

import (
	"fmt"
	"math"

	"quarry/internal/universe"
)

// Scavenger sets how much work the scavenger does, which returns idle memory to the system while
// the program runs. The zero value is the default.
type Scavenger struct {
	// Percent is the share of one core that the scavenger may take on average; 0 means 1, and below
	// 0 there is no scavenger. After ten quiet seconds it may take 100 ms at once.
	Percent float64
	// Target is how many bytes the process may keep committed off the heap, however idle they are:
	// the scavenger rests at or below it. 0 means that it never rests.
	Target int64
}

// SetScavenger sets how the scavenger of the process works and returns the previous setting. By
// default the scavenger does in all universes what [Universe.Maintain] does: memory that nobody has
// used for the time of [PurgeAfter] returns to the system, except [Retain] bytes of each universe.
// A very long PurgeAfter keeps it away from one universe. Memory that the scavenger gave back is
// taken again like any other: its first touch costs a page fault. In a bubble of testing/synctest
// the scavenger does not begin, so a bubble does not wait for it; the next commit of memory outside
// begins it.
//
// SetScavenger panics when Percent is above 100 or not a number, and for a Target below 0. A look
// costs about 10 us for each universe, twice a second.
func SetScavenger(s Scavenger) (before Scavenger) {
	if s.Percent > 100 || math.IsNaN(s.Percent) || s.Target < 0 {
		panic(fmt.Sprintf(
			"alloc: SetScavenger: Percent=%v Target=%d: want none below 0 as a target, and at most 100 percent",
			s.Percent, s.Target))
	}
	if s.Percent == 0 {
		s.Percent = universe.DefaultPercent
	}
	old := universe.SetScavenger(universe.Setting{Percent: s.Percent, Target: s.Target})
	return Scavenger{Percent: old.Percent, Target: old.Target}
}
