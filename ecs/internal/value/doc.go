// Package value holds what rows and archetypes have besides plain bytes in chunks: values of
// managed types, buffers, and shared values. It knows neither worlds nor queries nor archetypes:
// callers pass single rows, and of the holders of a shared value it knows only the number.
//
// A [Store] holds the values of one managed type. They lie in Go memory, where the garbage
// collector can see them. The row has the number of the value's slot, 4 B:
//
//	column in the chunk      Store
//	row 0 | slot 3 | ------> pages[0][2], a T
//	row 1 | slot 0 |         no value yet
//	row 2 | slot 1 | ------> pages[0][0]
//
// A copy of a store has the same slots, with values that the type's function copied (copies.go).
// Snapshots have such copies, and clones begin with one.
//
// [Buffers] is the heap of a world's buffers. In its chunk a row has a [Header] of 16 B, followed
// by room for some elements: [InlineBytes], or what option ecs.Inline says. A buffer with more
// elements has spilled: all of them are in a block of the heap:
//
//	column in the chunk, rows of 32 B       heap
//	row 0 | header | e0 e1 e2    |
//	row 1 | header | (unused)    | -------> e0 e1 e2 e3 e4 ...
//
// A [Shape] describes the buffers of a type. A [Spill] reads and changes the elements of buffers,
// inline and spilled: the world's owner uses [Buffers.Own], the goroutines of a borrow use
// [Buffers.Lent].
//
// [Values] interns the values of a shared type: it keeps each value once, as a [Shared], for as
// long as an archetype or a query holds it. It treats NaN as equal to NaN, in any part of a value.
//
// Ownership: rows own their slots and their blocks. When a row ends, the caller passes its slot to
// [Store.Release] and its header to [Buffers.Free]. Slots and headers are plain bytes that move
// with the row, and a zeroed row has none. So code that moves rows and chunks needs no knowledge of
// them.
//
// Lifetime: pages never move, so a pointer to a value is valid until the value's slot is released.
// A pointer to an element is valid until the buffer grows or is trimmed; for elements in the chunk,
// also only while the row stays in its place.
//
// Goroutines: all stores and buffers belong to the world's owner. Several goroutines may call Get
// and At while none calls Make, Trim, Drop, Clear or Restore, or saves to the store, all of which
// write the table of pages. So any number of them read a copy. Several may call Find, Of and
// Canonical while none calls Hold or LetGo. While the owner uses buffers, other goroutines may use
// the lent Spill, no two of them for the same rows.
//
// Failure: a Spill returns a [LongError] or the heap's error; then nothing has changed. A panic of
// a copy function leaves [Store.Save] with a copy of some values, which the caller clears. The
// caller passes only slots in use, and indices and lengths within bounds. [Store.Verify],
// [Buffers.VerifyRow] and [Buffers.Verify] check slots and headers; [Values.Verify] checks the
// counts of holders.
//
// Cost: from a slot to its value takes a shift and two loads. A page has 256 values, or as many as
// fit 16 KiB, and is allocated whole. A free slot costs 4 B and the room of a value. A copy of a
// store costs as many pages as the store has, and a call of the copy function per value. Inline
// elements follow their header, spilled ones cost one more load; growing costs a block and a copy,
// above 1 MiB often neither.
// Finding a shared value takes one look-up in a Go map. A shared value costs 64 B and the room of a
// T. Only pages, the list of free slots and shared values allocate on Go's heap.
package value
