package system

import "time"

// Timing is how much of the owner's time the updates of a system took. A group's Timing includes
// its systems. Time that jobs spend on workers is not included; profiles show it under the label
// "system".
type Timing struct {
	System           string
	Depth            int // number of groups around it
	Updates          uint64
	Last, Max, Total time.Duration
}

// note adds an update.
func (t *Timing) note(d time.Duration) {
	t.Updates++
	t.Last, t.Max, t.Total = d, max(t.Max, d), t.Total+d
}

// Mean returns the mean time of an update, or 0 without updates.
func (t Timing) Mean() time.Duration {
	if t.Updates == 0 {
		return 0
	}
	return t.Total / time.Duration(t.Updates)
}
