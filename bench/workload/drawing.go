package workload

import "quarry/bench/curve"

// Drawing is a picture of what a workload did, for the report. Unlike those of
// a measurement its axes are linear, and values may be 0 or negative.
type Drawing struct {
	curve.Table
	// Dots says that the series are places in a plane, to be drawn as dots on
	// axes of one scale; else they are curves over axes that begin at 0.
	Dots bool
}
