// Package life runs Conway's Game of Life twice, on entities and on the plain
// Go heap, and checks both against known answers.
//
// Every live cell is one object that knows its eight neighbours: in World an entity whose Links
// component holds their entities, in Plain a Go object with pointers to them. A generation reads
// the links to decide which cells survive, gathers what live cells offer to the empty places next
// to them to decide which cells are born, creates the newborn and removes the dead. It is a
// workload of small objects that come and go all the time and refer to each other: each generation
// replaces about a fifth of the population.
//
//	one cell in a chunk      | Entity 8 | Cell 8 | Links 64 |   80 B
//	one cell on the Go heap  | Cell 8 | 8 pointers 64 | 8 |     80 B, and 8 in the slice
//
// The plane is unbounded within the int32 range. This package does not count the births and deaths
// of World: they are the world's own counters of entities created, less the cells of the pattern,
// and of entities destroyed.
//
// Patterns are read in run-length encoded form with any B/S rule without B0 (ParseRLE); R-pentomino
// and acorn are built in. Bad input is an error that names the file, the line and what was
// expected; nothing panics.
//
// A World or a Plain belongs to one goroutine. A World must be closed.
package life
