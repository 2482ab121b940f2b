// Package table holds the rows of archetypes, without the Go types of their components. It knows
// neither worlds nor queries: a type is a number, a size, and the heap or store that its elements
// own blocks or values of, if any.
//
// A [Table] has the rows of all entities with one set of types, dense in chunks of a universe,
// column by column; [Tables] is what the tables of a world have in common: which table owns a
// chunk, the change version, and where look-ups find a column (entity.Cell). A [Transition] moves
// rows from one table to another: all copying of rows between two layouts, of one world or of two,
// is there.
//
// [Books] are the facts that a table keeps of each chunk in Go memory, beside the chunk: when each
// of its types was last written, when rows came or changed places, and one bit a row for each type
// that can be disabled. A table of 2 types, one of which can be disabled, with 3 chunks of 408
// rows:
//
//	chunk            0       1       2
//	changed, 4 B   | t0 t1 | t0 t1 | t0 t1 |     24 B of versions
//	stamps, 12 B   |   s   |   s   |   s   |     36 B: all types marked, rows came or moved, where the locations begin
//	enabled, 88 B  |   b   |   b   |   b   |    264 B: a bit a row, of the one type, 56 B; how many are set, and where the locations begin
//
// The methods of Books say what happens to the facts of a chunk: [Books.Add] when the chunk comes,
// [Books.Cut] when its last row goes, [Books.Promote] when its rows move to a larger or smaller
// chunk, [Books.Give] when it goes to another table, of this world or of another, [Books.Carry]
// when some of its rows fill a gap in another chunk. Another fact of each chunk is another field of
// Books, and a line in each of these methods.
//
// Lifetime: a table has no chunk before it has room for rows, and none after [Table.Close]. A row
// moves when it fills the gap of another row, when its chunk is outgrown and by a transition; each
// move updates the record of the row's entity.
//
// Goroutines: all belongs to the world's owner. Changed of Books, and Toggle, Has and On of their
// enable bits, may be called while other goroutines toggle bits, and OwnerOf while no row moves.
//
// Garbage collector: chunks are memory that the collector never sees and hold no Go pointer;
// owners, directories, books and transitions lie in Go memory. What books have for each chunk is
// without pointers, except for the enable bits.
//
// Failure: [Table.Grow] and [Table.MakeRoom] return the errors of package alloc, and no row has
// changed then. Functions that move rows cannot fail: the caller has made room. The caller passes
// valid positions, slots and rows.
//
// Cost: one row by [Table.MoveOne] is a few loads and stores a column. Many rows are one copy a
// column and chunk. Owners cost 24 B for each stretch of 2,048 rows, and each type of which there
// are rows 32 B.
package table
