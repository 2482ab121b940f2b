// Package entity hands out the ids of a world's entities and keeps where each entity is. It knows
// neither archetypes nor component types: a [Location] is a number whose meaning package table
// defines.
//
// An [ID] is an index, the tag of the world and a version. A [Store] has a [Record] of 8 bytes for
// each index whose entity is alive, at base + index * 8:
//
//	ID 12v3, 8 B      records, 8 B each
//	  | index 12        base + 0 * 8    index 0 names no entity
//	  v                 base + 1 * 8
//	base + 12 * 8 ----> version 3, odd = alive | location
//
// Records that are not alive are at [Nowhere], as zeroed memory is.
//
// Ownership: the records and the free indices belong to the store's owner, one goroutine at a time.
// [Store.Promise] promises ids to other goroutines, from blocks of 8,192 indices that the owner
// does not take any from. Blocks of both kinds are numbered in the order in which they are made, so
// the indices grow upwards, without an end for either kind.
//
// The owner takes indices from the lowest on. The same operations give the same ids as long as
// Promise makes its blocks at the same places among them. Where it does so on other goroutines, at
// any time, the owner's ids are the same but for the numbers of their blocks, which are in the same
// order.
//
// Lifetime: a store has no memory before the first [Store.MakeRoom] or Promise, and none after
// [Store.Close]. A pointer to a record, and a [View], are good until the next MakeRoom,
// [Store.Reach] or Close: more records may lie in a longer run of chunks, or in a reservation
// beside the universe.
//
// Garbage collector: records lie in an [alloc.Extent] and the versions of promised indices in
// chunks, memory that the collector never sees. The free bits, one a record, and the bitmaps of the
// blocks lie in Go memory.
//
// Failure: MakeRoom and Promise return [ErrFull] at the limit of 2^27 indices, and like Reach the
// errors of package alloc; nothing has changed then. A look-up takes an ID of any 64 bits: it
// returns the record of a live entity with exactly that ID, or nothing.
//
// Cost: a look-up is a comparison and one load, which may miss the cache. Each record costs 8 bytes
// and 1 bit of Go memory; a block of promised ids is 32,768 B of chunks and 2 KiB of Go memory
// besides, and the first one 130 KiB of Go memory.
package entity
