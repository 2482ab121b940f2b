// Package curve holds measurements as curves, as the microbenchmarks produce them and the report
// draws them.
package curve

// A Table is one plot: one question, answered for several ways at several sizes. Both axes are
// logarithmic, so every X and Y is positive.
type Table struct {
	// Name is the benchmark's name as in BenchmarkName, one word.
	Name string
	// Package is the package that is measured, such as "ecs".
	Package string
	// What describes one operation in a sentence.
	What string
	// XLabel and YLabel name the axes with their units, such as
	// "entities" and "ns per entity".
	XLabel, YLabel string
	// Series has a curve for each way.
	Series []Series
}

// A Series is one curve. X rises and is as long as Y.
type Series struct {
	// Name is the way's name, such as "quarry" or "slices".
	Name string
	// Roof marks the plain Go loop that the other ways are compared with.
	Roof bool
	// X and Y are the points: sizes, and the cost of one operation at that size.
	X, Y []float64
}
