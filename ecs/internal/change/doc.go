// Package change makes the structural changes of a world. Rows come, move and go only here.
//
// Writer writes rows, records and the metadata of chunks, and counts its operations. A change of
// many rows is a Tx: it selects its rows, reserves everything that can be refused, and then
// commits, which cannot fail. Calls about one entity go directly to Writer, once there is room for
// an id and a row. The package knows tables, ids and blocks of buffers. It does not know worlds,
// archetypes or Go types. Package edit says which table rows come to (Outcome).
//
// Lifetime: a Writer lasts as long as its world. A world has one Tx: the next Begin reuses its
// memory, and its Spans are valid until the next structural change.
//
// Goroutines: the world's owner only.
//
// Garbage collector: selections, spans and targets lie in Go memory and are kept for reuse. They
// allocate nothing once they are as large as the largest change.
//
// Failure: Reserve, Room, Take, CopyFrom and CopyTable return the error of the universe, the store
// of ids or a Spill unchanged. Then no row, record or id has changed, and targets have given their
// reserves back. Nothing else fails.
//
// Cost: a change of whole tables costs a step per chunk if chunks change hands, otherwise a copy of
// the columns; a change by mask costs a step per run of rows; a change by list costs a look at each
// record.
package change
