// Package delta holds the difference between two states of a world. A Delta is made by comparing
// two snapshots; it can be walked, encoded, decoded, and applied to a world in the older state.
//
//	to find out                                    look into
//	what a delta consists of                       delta.go draws it
//	how two states are compared                    comparing.go for snapshots, diff.go for worlds
//	what differs in rows, buffers, metadata, sets     runs.go, buffers.go, metadata.go, sparse.go, names.go, roster.go
//	its bytes                                      encode.go, decode.go, format.go
//	how it is checked, and applied                 plan.go, values.go, apply.go
//	what is done for each part of a world          parts.go
//	what a program walks                           changed.go, and Born, Died, Moved in delta.go
//
// Comparing and walking read the snapshots, on any goroutine; applying belongs to the world's
// owner. A delta that does not fit is refused whole, with an error that wraps ErrDelta, or a
// *world.LimitError; the world is as before.
package delta
