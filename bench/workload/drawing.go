package workload

import "quarry/bench/curve"

// Drawing is a picture of a workload's work, for the report. Unlike a measurement's, its axes are
// linear, and values may be 0 or negative.
type Drawing struct {
	curve.Table
	// Dots is set if the series are places in a plane, drawn as dots on axes of one scale;
	// otherwise they are curves over axes that begin at 0.
	Dots bool
}
