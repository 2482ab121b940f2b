// Package entity hands out the ids of a world's entities and keeps where each entity is. It
// knows neither archetypes nor component types: a [Location] is a number whose meaning package
// table defines.
//
// An [ID] is an index, the tag of the world and a version. A [Store] has a [Record] of 8 bytes for
// each index, at base + index * 8:
//
//	ID 12v3, 8 B      records, 8 B each
//	  | index 12        base + 0 * 8    index 0 names no entity
//	  v                 base + 1 * 8
//	base + 12 * 8 ----> version 3, odd = alive | location
//
// Ownership: the records and the free indices belong to the store's owner, one goroutine at a
// time. The owner takes indices from the lowest on, so the same operations give the same ids.
// [Store.Promise] promises ids to other goroutines, from separate blocks at the upper end of the
// index space, and never changes which id the owner gets next.
//
// Lifetime: a store has no memory before the first [Store.MakeRoom] or Promise, and none
// after [Store.Close]. A pointer to a record, and a [View], are good until the next MakeRoom
// or Close: more records may lie in a longer run of chunks, or in a reservation beside the universe.
//
// Garbage collector: records lie in an [alloc.Extent] or in chunks, memory that the collector never
// sees. The free bits, one an index, and the bitmaps of the blocks lie in Go memory.
//
// Failure: MakeRoom and Promise return [ErrFull] at the limit of 2^27 indices, and the errors
// of package alloc; nothing has changed then. A look-up takes an ID of any 64 bits: it returns the
// record of a live entity with exactly that ID, or nothing.
//
// Cost: a look-up is a comparison and one load, which may miss the cache. Each index costs 8 bytes
// and 1 bit of Go memory; a block of promised ids is 65,536 B of chunks and 2 KiB of Go memory.
package entity
