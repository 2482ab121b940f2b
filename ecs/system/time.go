package system

import "time"

// Time is what a system knows of time. It is that of its group's round: the frame's, or what the
// Rate of the group or of one around it makes of that.
type Time struct {
	Elapsed time.Duration // in all, this update's Delta included
	Delta   time.Duration // that this update is for
	Frame   uint64        // number of the frame, from 1
}

// Seconds returns Delta in seconds.
func (t Time) Seconds() float64 { return t.Delta.Seconds() }
