package load

import "time"

// work is a kind of step, by what its time depends on.
type work uint8

const (
	moving  work = iota // the entities of a part move in
	showing             // the entities of a section are shown
	leaving             // a part is destroyed
	linking             // linksAtOnce links are set, or what is left of them
	works
)

// pace is how many nanoseconds a kind of step takes for each of its items, of late.
type pace float64

// fits reports whether a step with so many items is expected to end in time.
func (p pace) fits(items int, left time.Duration) bool {
	return float64(items)*float64(p) <= float64(left.Nanoseconds())
}

// note notes what a step took. A pace rises at once and falls slowly, because a step that takes
// longer than expected is worse than one that waits for the next frame. It doubles at most: a step
// during which the system ran another program does not predict the next.
func (p *pace) note(took time.Duration, items int) {
	if items == 0 {
		return
	}
	last := pace(took.Nanoseconds()) / pace(items)
	if *p > 0 {
		last = min(last, 2**p)
	}
	*p = max(last, .9**p)
}

// fits reports whether a step of a kind may begin.
func (h *Host) fits(of work, items int, must bool, left time.Duration) bool {
	return must || h.paces[of].fits(items, left)
}
