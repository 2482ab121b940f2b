// Package curve holds measurements as curves: what the microbenchmarks
// give and what the report draws.
package curve

// A Table is one plot: the same question asked of several ways at several
// sizes. Both axes are logarithmic, so every X and Y is positive.
type Table struct {
	// Name is the benchmark's, as in BenchmarkName, and one word.
	Name string
	// Package is the package that is measured, such as "ecs".
	Package string
	// What says in one sentence what one operation is.
	What string
	// XLabel and YLabel name the axes with their units, such as
	// "entities" and "ns per entity".
	XLabel, YLabel string
	// Series has a curve for each way.
	Series []Series
}

// A Series is one curve. X rises and has the length of Y.
type Series struct {
	// Name is the way's, such as "quarry" or "slices".
	Name string
	// Roof says that this is the plain Go loop that the others are held
	// against.
	Roof bool
	// X and Y are the points: sizes, and what one operation costs there.
	X, Y []float64
}
