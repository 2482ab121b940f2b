// Package entity hands out the ids of a world's entities and keeps where each entity is. It
// knows neither archetypes nor component types: a [Location] is a number that its user
// understands.
//
// An [ID] is an index, the tag of the world and a version. A [Store] has for each index a
// [Record] of 8 bytes, which is found by base and index:
//
//	ID 12v3, 8 B      records, 8 B each
//	  | index 12        base + 0 * 8    index 0 is nobody's
//	  v                 base + 1 * 8
//	base + 12 * 8 ----> version 3, odd = alive | location
//
// Ownership: the records and the free indices belong to the store's owner, one goroutine at a
// time. The owner takes indices from the lowest on, so the same operations give the same ids.
// Other goroutines have ids promised to them ([Store.Promise]), which come from blocks of their
// own at the other end of the index space and never change which id the owner gets next.
//
// Lifetime: a store has no memory before the first [Store.MakeRoom] or Promise, and none
// after [Store.Close]. A pointer to a record, and a [View], are good until the next MakeRoom
// or Close: more records may lie in a longer run of chunks, or in a reservation beside the universe.
//
// Garbage collector: records lie in an [alloc.Extent] or in chunks, which it never sees. The
// free bits, one an index, and the books of the blocks lie in Go memory.
//
// Failure: MakeRoom and Promise return [ErrFull] at the limit of 2^27 indices, and the errors
// of package alloc; nothing has changed then. An ID of any 64 bits may
// be looked up: it finds its own record or nothing.
//
// Cost: a look-up is a comparison and one load, which may be cold. A free index costs 1 bit,
// a used one 8 bytes; a block of promised ids is 65,536 B of chunks and 2 KiB of Go memory.
package entity
