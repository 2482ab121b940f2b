// Package table holds the rows of archetypes, without the Go types of their components. It knows
// neither worlds nor queries. To it a type is a number, a size and, if its elements own blocks or
// values, the heap or store of these.
//
// A [Table] has the rows of all entities with one set of types, dense in chunks of a universe,
// column by column. [Tables] is the state that the tables of a world share: which table owns a
// chunk, the change version, and where look-ups find a column (entity.ColumnAddress). A
// [Transition] moves rows from one table to another. It does all copying of rows between two
// layouts, within a world or between two.
//
// [Metadata] is the facts that a table keeps about each chunk in Go memory, beside the chunk: when
// each of its types was last written, when rows came or changed places, one bit per row for each
// type that can be disabled, and 4 bytes per row for each type that tracks rows. A table of 2
// types, one of which can be disabled, with 3 chunks of 408 rows:
//
//	chunk            0       1       2
//	changed, 4 B   | t0 t1 | t0 t1 | t0 t1 |     24 B of versions
//	facts, 12 B   |   s   |   s   |   s   |     36 B: all types marked, rows came or moved, first location
//	enabled, 88 B  |   b   |   b   |   b   |    264 B: a bit a row of the one type, 56 B; how many set; first location
//
// The methods of Metadata define what happens to the facts of a chunk: [Metadata.Add] when the
// chunk comes, [Metadata.Cut] when its last row goes, [Metadata.Promote] when its rows move to a
// larger or smaller chunk, [Metadata.MoveChunks] when it goes to another table, of this world or of
// another, and [Metadata.Carry] when some of its rows fill a gap in another chunk. To keep another
// fact about each chunk, add a field to Metadata (metadata.go) and a line to each of these methods
// (metadatalife.go), as values of chunk types (chunkvalues.go), bounds of fields (bounds.go) and
// versions of rows (rowversions.go) have.
//
// Lifetime: a table has no chunk before it has room for rows, and none after [Table.Close]. A row
// moves when it fills the gap of another row, when its chunk is outgrown, and by a transition. Each
// move updates the record of the row's entity.
//
// Goroutines: the world's owner only, with two exceptions. While other goroutines toggle enable
// bits, any goroutine may call Metadata.Changed, and Toggle, Has and On of the bits. While no row
// moves, any goroutine may call OwnerOf.
//
// Garbage collector: chunks are memory that the collector never sees, and hold no Go pointers.
// Owners, directories, metadata and transitions lie in Go memory. The metadata of a chunk has no
// pointers, except for the enable bits.
//
// Failure: [Table.Grow] and [Table.MakeRoom] return the errors of package alloc; then no row has
// changed. Functions that move rows cannot fail, since the caller has made room. The caller passes
// valid positions, slots and rows.
//
// Cost: moving one row with [Table.MoveOne] takes a few loads and stores per column. Moving many
// rows takes one copy per column and chunk. Owners cost 24 B for each row block of 2,048 rows, and
// each type that has rows costs another 32 B per row block.
package table
