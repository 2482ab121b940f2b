// Package recorded finds recorded input with known answers for tests: in the folder that
// QUARRY_DATA names, or else in shared/data of the nearest folder above that has one. The data is
// not part of the project, and some tests skip without it:
//
//	DIR/shared/data/life/acorn.rle     <- recorded.Path(t, "life/acorn.rle")
//	DIR/quarry/bench/life              where the test runs
package recorded
