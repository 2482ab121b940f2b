// Package value holds what rows and archetypes have besides plain bytes in chunks: values of
// managed types, buffers, and shared values. It knows neither worlds nor queries nor archetypes:
// callers pass single rows, and of the holders of a shared value it knows the number.
//
// A [Store] holds the values of one managed type. They lie in Go memory, for the garbage collector
// must see them; the row has the number of the value's slot, 4 B:
//
//	column in the chunk      Store
//	row 0 | slot 3 | ------> pages[0][2], a T
//	row 1 | slot 0 |         no value yet
//	row 2 | slot 1 | ------> pages[0][0]
//
// [Buffers] are the heap of a world's buffers. A row has a [Header] of 16 B in the chunk and behind
// the header room for some elements; a buffer with more elements has them all in a block of the
// heap:
//
//	column in the chunk, rows of 32 B       heap
//	row 0 | header | e0 e1 e2    |
//	row 1 | header | (unused)    | -------> e0 e1 e2 e3 e4 ...
//
// A [Shape] is what the buffers of a type have in common; a [Spill] changes the elements of
// buffers: the world's owner uses [Buffers.Own], the goroutines of a borrow use [Buffers.Lent].
//
// [Values] intern the values of a shared type: each is there once, as a [Shared], for as long as an
// archetype or a query holds it. NaN is the same as NaN there, in any part of a value.
//
// Ownership: rows own their slots and their blocks. When a row ends the caller passes its slot to
// [Store.Release] and its header to [Buffers.Free]. Slots and headers are plain bytes that move
// with the row, and a zeroed row has none, so code that moves rows and chunks knows nothing of
// this.
//
// Lifetime: pages never move, so a pointer to a value is good until the value's slot is released. A
// pointer to an element is good until the buffer grows or is trimmed, and while the elements lie in
// the chunk also no longer than the row stays in its place.
//
// Goroutines: all stores belong to the world's owner. Several goroutines may call Get and At while
// none calls Make, Trim or Drop, which write the table of pages, and Find, Of and Canonical while
// none calls Hold or LetGo. Buffers belong to the owner too; other goroutines may use the lent
// Spill meanwhile, no two of them for the same rows.
//
// Failure: a Spill returns [ErrLong] or the heap's error, and has changed nothing then. The caller
// passes only slots in use, and indices and lengths within bounds; [Store.Verify],
// [Buffers.VerifyRow] and [Buffers.Verify] check slots and headers, [Values.Verify] the counts of
// holders.
//
// Cost: from a slot to its value takes a shift and two loads; a page has 256 values, or as many as
// fit 16 KiB, and is allocated whole; a free slot costs 4 B and the room of a value. Inline
// elements lie behind their header, spilled ones cost one more load; growing costs a block and a
// copy. Finding a shared value is one look-up in a Go map; a shared value costs 64 B and the room
// of a T. Only pages, the list of free slots and shared values allocate on Go's heap.
package value
