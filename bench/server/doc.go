// Command server measures the world of a server on Quarry, on ark and in plain Go: frames in which
// units come, are hit, die and move, what garbage and a reader of states add to them, what a
// journal does, and memory. It exits with 1 if two sides end in different states and with 2 if it
// could not run.
//
//	go run ./bench/server                 a million units, 240 frames, three rounds, about four minutes
//	go run ./bench/server -quick          20,000 units, one round
//	go run ./bench/server -only frame -side quarry
//	go run ./bench/server -json           what each process found
//
// A unit has a position, a velocity, health, a stun, a slot (its client's), a link to a leader, a
// list of four items, and a team, one of eight. Clients are a million, and each has a unit but for
// those that died in the frame before. In a frame
//
//	4,000 hits        take health from a living unit at random, touch an item, and stun it for eight
//	                  frames; each eighth is deadly
//	all units         recover, if their stun ends; move, unless they are stunned; heal, or are found
//	                  dead; on two goroutines
//	1,000 units go    half by request, half because they were found dead
//	1,000 units come  for the clients whose units died in the frame before
//
//	side              units                                     the state of a moment
//	plain Go          one slice of structs, a table from        the slice copied, into memory that is
//	                  clients to places; one loop over all      used again (-fresh: into new memory)
//	ark               one table, a unit's stun is asked for     all columns copied, likewise
//	quarry, direct    an archetype a team; who is stunned has   World.Snapshot
//	                  its velocity disabled; jobs record deaths
//	quarry, commands  likewise, and all that comes and goes is  likewise
//	                  recorded and played; slots are Cleanup
//
// Modes: the frame alone; with 512 KiB of garbage a frame; with a state in each twelfth frame (5 Hz
// at 60 frames a second) that another goroutine reads whole while frames run; with both; a million
// spawns, a thousand at a time after as many were killed, and nothing else; and, for Quarry, a
// commit to a journal in each of 120 frames, whose folder is then opened again.
//
// Each side and mode runs in a process of its own, in turns, with the collector as Go sets it. What
// draws the events is not timed, and all sides get the same. The sums of all units must be the same
// at the end, and so must the sums of all states.
package main
