// Package sparse keeps the values of one component type beside the chunks, in a sparse set by
// entity, so that adding and removing a value moves no row. It knows neither worlds nor archetypes
// nor types: it has entities, and values of a size.
//
// A [Set] has an entry for each entity that has a value. Entries lie densely, one after the other;
// the places say, by the index of an entity, which entry is the entity's:
//
//	places, by index    0  1  2  3  4  5          4 B each
//	                    0  2  0  1  0  3          0: no value
//	entries             1     2     3             up to Len
//	entities            3v1   1v5   5v1           8 B each
//	values              v     v     v             Size each
//
// A new entry comes last. A removed entry is replaced by the last one, so the entries stay dense
// and their order depends on the operations alone.
//
// Ownership and lifetime: the set owns three extents of a universe, which grow by doubling and keep
// their size until Trim. The address of a value is valid until the next Add, Remove, Reserve, Trim
// or Close.
//
// Goroutines: a set belongs to one goroutine at a time. While nobody adds or removes, several may
// call all functions that read, and Switch; Mark is for one goroutine at a time for each entry,
// with the same version.
//
// Failure: only Reserve can be refused; then the entries are as they were. Verify checks the
// invariants.
//
// Cost: a look-up makes three loads, of the place, the entity and the value. Memory: 4 B for each
// index up to the greatest that had a value, and 8 B, the value, and 4 B per 64 entries.
package sparse
