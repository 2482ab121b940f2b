package system

import "time"

// Time is the time of a round of a group. It is the frame's time unless the group, or one around
// it, has a Rate.
type Time struct {
	Elapsed time.Duration // since the first frame, this update's Delta included
	Delta   time.Duration // that this update covers
	Frame   uint64        // number of the frame, from 1
}

// Seconds returns Delta in seconds.
func (t Time) Seconds() float64 { return t.Delta.Seconds() }
