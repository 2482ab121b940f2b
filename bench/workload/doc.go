// Package workload has the result type of every workload of the bench: one Side for the plain Go
// program and one for Quarry, both checked against known answers.
//
//	        +-- plain: slices, maps, the Go heap --> Side{OK, Time, Ops, ...}
//	input --+                                                  compared
//	        +-- ours: chunks of a universe       --> Side{OK, Time, Ops, ...}
//
// A wrong result is not an error: OK is then false and Detail is the difference, so that the table
// shows it and the command exits non-zero.
package workload
