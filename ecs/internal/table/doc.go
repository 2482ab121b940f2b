// Package table holds what an archetype stores, without the Go types of its components: so far
// the books of its chunks.
//
// [Books] are the facts that an archetype keeps of each chunk in Go memory, beside the chunk:
// when each of its types was last written, when rows came or changed places, and one bit a row
// for each type that can be disabled. An archetype of 2 types, one of which can be disabled, with
// 3 chunks of 408 rows:
//
//	chunk            0       1       2
//	changed, 4 B   | t0 t1 | t0 t1 | t0 t1 |     24 B of versions
//	stamps, 8 B    |   s   |   s   |   s   |     24 B: all types marked, rows came or moved
//	enabled, 56 B  |   b   |   b   |   b   |    168 B: a bit a row, of the one type
//	on, 4 B        |   n   |   n   |   n   |     12 B: how many of the bits are set
//
// What happens to the facts of a chunk is said in one place: [Books.Add] when the chunk comes,
// [Books.Cut] when its last row goes, [Books.Promote] when its rows move to a larger chunk,
// [Books.Give] when it goes to another archetype, of this world or of another,
// [Books.Carry] when some of its rows fill a gap in another chunk. A fact more is a field there.
//
// Goroutines: Books belong to the world's owner. Toggle, Bit, On and Changed may be called
// while other goroutines toggle bits.
//
// Failure: none; positions, slots and rows are the caller's to have right.
//
// Cost: nothing allocates but the growth of slices, and bits for a chunk when [Spares] have none.
package table
