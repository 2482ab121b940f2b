// Package recorded finds recorded input with known answers for tests: the
// folder that QUARRY_DATA names, or else shared/data in the nearest folder above
// that has one. It is no part of the project, and some tests skip without it:
//
//	DIR/shared/data/life/acorn.rle     <- recorded.Path(t, "life/acorn.rle")
//	DIR/quarry/bench/life              where the test runs
package recorded
