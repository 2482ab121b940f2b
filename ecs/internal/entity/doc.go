// Package entity hands out the ids of a world's entities and records where each entity is. It knows
// neither archetypes nor component types: a [Location] is a number whose meaning package table
// defines.
//
// An [ID] is an index, the tag of the world and a version. A [Store] has a [Record] of 8 bytes for
// the index of every live entity, at base + index * 8:
//
//	ID 12v3, 8 B      records, 8 B each
//	  | index 12        base + 0 * 8    index 0 names no entity
//	  v                 base + 1 * 8
//	base + 12 * 8 ----> version 3, odd = alive | location
//
// Records that are not alive have the location [Nowhere], as zeroed memory has.
//
// Ownership: the records and the free indices belong to the store's owner, one goroutine at a time.
// [Store.Reserve] reserves ids to other goroutines, from blocks of 8,192 indices of which the owner
// takes none. Blocks of both kinds share one numbering, in the order in which they are made, so
// indices grow upwards and neither kind has a limit of its own.
//
// The owner takes the free indices of one word of 64 after the other, each time of the lowest word
// that has one; an index that is freed meanwhile waits. The same operations give the same ids,
// provided that Reserve makes its blocks at the same points among them. If other goroutines make
// blocks at arbitrary times, the owner's ids differ only in the numbers of their blocks; the order
// of the blocks is the same.
//
// Lifetime: a store has no memory before the first [Store.MakeRoom] or Reserve, and none after
// [Store.Close]. A pointer to a record, and a [RecordsView], are valid until the next MakeRoom,
// [Store.Reach] or Close, since a longer array of records may move to a longer run of chunks or to
// a reservation beside the universe.
//
// Garbage collector: records lie in a [universe.Extent] and the versions of reserved indices in
// chunks, memory that the collector never sees. The free bits, one for each record, and the bitmaps
// of the blocks lie in Go memory.
//
// Failure: MakeRoom and Reserve return [ErrFull] at the limit of 2^27 indices. Like Reach they also
// return the errors of package alloc. After an error nothing has changed. A look-up takes an ID
// with any 64 bits: it returns the record of a live entity with exactly that ID, or nothing.
//
// Cost: a look-up is a comparison and one load, which may miss the cache. Each record costs 8 bytes
// and 1 bit of Go memory. A block of reserved ids costs 32,768 B of chunks and 2 KiB of Go memory
// in addition, the first one another 130 KiB of Go memory.
package entity
