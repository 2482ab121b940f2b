// Package table holds the rows of archetypes, without the Go types of their components. It knows
// neither worlds nor queries: a type is a number, a size, and what its elements own something of, if they do.
//
// A [Table] has the rows of all entities with one set of types, dense in chunks of a universe, column
// by column; [Tables] is what the tables of a world have in common: which chunk is whose, change
// versions, and where look-ups find a column ([Directory]). A [Transition] is how rows go from one
// table to another: all copying of rows between two layouts, of one world or of two, is there.
//
// [Books] are the facts that a table keeps of each chunk in Go memory, beside the chunk:
// when each of its types was last written, when rows came or changed places, and one bit a row
// for each type that can be disabled. A table of 2 types, one of which can be disabled, with
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
// [Books.Give] when it goes to another table, of this world or of another,
// [Books.Carry] when some of its rows fill a gap in another chunk. A fact more is a field there.
//
// Lifetime: a table has no chunk before it has room for rows, and none after [Table.Close]. Rows move when
// others go, when a chunk is outgrown and when they take a transition; their entities' records are told.
//
// Goroutines: all belongs to the world's owner. Toggle, Bit, On and Changed of Books may be called
// while other goroutines toggle bits, and OwnerOf while no row moves.
//
// Garbage collector: chunks are memory that it never sees and hold no Go pointer; owners, directories, books and
// transitions lie in Go memory, in pieces without pointers for each chunk but its enable bits.
//
// Failure: [Table.Grow] and [Table.MakeRoom] return the errors of package alloc, and no row has changed
// then. What moves rows cannot fail: the caller has made room. Positions, slots and rows are the caller's to have right.
//
// Cost: one row by [Table.MoveOne] is a few loads and stores a column. Many rows are one copy a column and
// chunk. Owners cost 8 B for each 16 KiB of the universe up to the last chunk, a directory 24 B.
package table
