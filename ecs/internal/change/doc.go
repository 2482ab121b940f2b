// Package change makes the structural changes of a world: rows come, move and go here and nowhere
// else.
//
// Rows writes rows, records and the books of chunks, and counts what it did. A change of many rows
// is a Tx: its rows are selected, what can be refused is reserved, and then it commits, which
// cannot fail. Calls about one entity go to Rows at once while an id and a row are at hand. The
// package knows tables, ids and blocks of buffers; it does not know worlds, archetypes or types by
// reflection. Package ecs says which table rows come to (Outcome).
//
// Lifetime: Rows last as long as their world. A Tx is the world's only one: the next Begin reuses
// its memory, and its Spans are good until the next structural change.
//
// Goroutines: all of it is the world's owner's.
//
// Garbage collector: selections, spans and targets lie in Go memory, are kept for reuse, and
// allocate nothing once they are as large as the largest change.
//
// Failure: Reserve, Room, Take, Become and CopyTable return the error of the universe, the store of
// ids or a Spill as it is: no row, record or id has changed then, and targets have given their
// reserves back. Nothing else fails.
//
// Cost: a change of whole tables is per chunk, where chunks change hands, or a copy of the columns;
// of a mask, per run of rows; of a list, a look at each record.
package change
