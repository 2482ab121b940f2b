// Package value holds what components have outside the chunks, or in them as more than plain
// bytes. It knows neither worlds nor queries nor archetypes: rows come to it one by one, and
// who holds a value is a number.
//
// A [Store] holds the values of one managed type, which the garbage collector must see and so
// lie in Go memory; a row has the number of a slot, 4 B:
//
//	column in the chunk      Store
//	row 0 | slot 3 | ------> pages[0][2], a T
//	row 1 | slot 0 |         no value yet
//	row 2 | slot 1 | ------> pages[0][0]
//
// [Buffers] are the heap of the buffers that a world's rows have: a [Header] of 16 B in the
// chunk, room for some elements behind it, and a block of the heap while they do not suffice:
//
//	column in the chunk, rows of 32 B       heap
//	row 0 | header | e0 e1 e2    |
//	row 1 | header | (unused)    | -------> e0 e1 e2 e3 e4 ...
//
// A [Shape] is what the buffers of a type have in common; a [Spill] is what changes their elements,
// the owner's ([Buffers.Own]) or that of other goroutines ([Buffers.Lent]).
//
// [Values] have each value of a shared type once, a [Shared], for as long as an archetype or a query
// holds it. NaN is the same as NaN there, in any part of a value.
//
// Ownership: rows own their slots and their blocks. A row that ends gives them to
// [Store.Release] and [Buffers.Free]; rows that move take slot and header along as they take
// any bytes, and zeroed rows have none, so what moves rows and chunks knows nothing of this.
//
// Lifetime: pages never move, so a pointer to a value is good until its slot is released. A
// buffer's elements stay until it grows or is trimmed, and while they lie in the chunk until the row moves.
//
// Goroutines: all stores belong to the world's owner. Goroutines that share the world may call Get
// and At, for nothing writes the table of pages then: Make, Trim and Drop are not called. Likewise they
// may call Find, Of and Canonical while nobody calls Hold or LetGo.
// Buffers belong to the owner too; other goroutines may use the lent Spill meanwhile, each of
// them for rows of its own.
//
// Failure: a Spill returns [ErrLong] or what the heap says, and has changed nothing then. That slots are
// in use, and indices and lengths right, is the caller's to see to; [Store.Verify],
// [Buffers.VerifyRow] and [Buffers.Verify] check what rows have, [Values.Verify] who holds values.
//
// Cost: a value is a shift and two loads behind its slot; a page has 256 values, or as many as
// fit 16 KiB, and is allocated whole; a free slot costs 4 B beside its value. An
// element is behind its header or behind one more load, in a block; growing is one block more and one
// copy. A shared value is found by one look-up in a map of Go's, and costs 64 B beside what it is. Only
// pages, the list of free slots and shared values allocate on Go's heap.
package value
