// Package city is a workload of a world that is larger than what is loaded: a city of 8 x 8 tiles,
// each a section of package scene, over which a camera flies on a curve. The 3 x 3 tiles around the
// camera are to be there; the others go.
//
//	. . . . . . . .        frame:  unload what is behind, load what is ahead
//	. . # # # . . .                Update(1 ms)                              timed
//	. . # @ # . . .                the game adds up all heights
//	. . # # # . . .                spin for 1 ms                             timed: the control
//	. . . . . . . .                sleep until the next sixtieth of a second
//
// A block is a piece of authoring data, of which a baker makes 20 buildings. Each building leads to
// the next of its block; the first to another block of the tile, so often to another part of the
// section; and where a block stands at an edge, the second leads over a bridge to the tile beside,
// which is another section.
//
// The plain side decodes a file of its own in goroutines, into a slice of structs for each tile,
// and follows pointers; a map of ids for each tile finds what bridges lead to. What its Update does
// is to keep a pointer and to build bridges.
//
// The control is a loop in the same thread that reads the clock for as long as the budget is. Where
// it takes longer, the machine ran something else: another thread of the program, or another
// program. How often that happened in frames is counted too, and the processor time of the thread
// has no part of it.
//
// At the end all is added up by the identities of buildings, which no id or address is part of:
// both sides must have what follows from the plan alone, and so must a world into which all 64
// tiles were loaded and all but nine unloaded.
package city
