// Command server measures the world of a server on Quarry, on ark and in plain Go: memory, frames,
// and what it costs to keep the state of a moment for a reader while the world goes on. It exits
// with 1 if two sides end in different states and with 2 if it could not run.
//
//	go run ./bench/server                 a million units, 240 frames, three rounds, about two minutes
//	go run ./bench/server -quick          20,000 units, one round
//	go run ./bench/server -json           what each process found
//
// A unit has 72 bytes: place, speed, health, items, a number, and how long it is stunned. In each
// frame a thousand units are removed; four thousand are hit, and those whose health is gone are
// removed, too; five hundred are stunned for sixteen frames; all that are not stunned move; and as
// many units appear as the frame before has lost. Every twelfth frame the state of the moment is
// handed to another goroutine, which reads all units while the next frames run.
//
//	side       units                                     the state of a moment
//	quarry     an archetype; a stunned unit's speed is   World.Snapshot
//	           disabled
//	ark        an archetype, and one of stunned units    all columns copied, into memory that is used again
//	plain Go   one slice of structs and a table from     the slice copied, into memory that is used again
//	           handles to places
//
// Each side runs in a process of its own, in turns, with the collector as Go sets it. All sides
// draw the same numbers. The sum of all units must be the same at the end, and so must the sums of
// all states.
package main
