// Package units is the world of a server, kept by plain Go, by ark and by Quarry in two ways, and
// the frames that are played on it: units come, are hit, die and move.
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
//	plain Go,         a struct on the heap a unit, with         the structs copied, likewise
//	 pointers         pointers to its leader and its team
//	ark               one table, a unit's stun is asked for     all columns copied, likewise
//	quarry, direct    an archetype a team; who is stunned has   World.Snapshot
//	                  its velocity disabled; jobs record deaths
//	quarry, commands  likewise, and all that comes and goes is  likewise
//	                  recorded and played; slots are Cleanup
//
// What draws the events is not timed, and all sides get the same: their sums of all units, and
// those of all states, are compared.
package units
