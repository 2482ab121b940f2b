// Package name keeps the names of entities: the text of an entity, and the entities of a text. It
// knows neither worlds nor which entities are alive.
//
// Several entities may have the same text. Their entries form a list, with the entity named last
// in front. Neighbors are known by index, not by pointer, so an entry can be copied without them:
//
//	lists     "door" -> 7          "key" -> 4
//	entries   7 <-> 12 <-> 3       4                 by index: id, text, the two neighbors
//
// Entries and lists lie in two tries. The key of an entry, 32 bits, is made of the entity's index,
// that of a list of the text. A slot leads to a branch of eight slots, or is a leaf and has up to
// 16 values; when one more comes, it becomes a branch:
//
//	root -> branch [0 1 2 3 4 5 6 7]      by the 3 highest bits of the key
//	                |   |     values
//	                |   branch [0 1 2 3 4 5 6 7]      by the next 3
//	                values
//
// [Names.Share] returns the names of a moment. It copies nothing: both have the same branches and
// values from then on, and each slot records when the nodes below it were made. A change of a name
// copies the nodes on its path that are older than the last Share, once each. So a change after a
// Share copies a few KB for any number of names, and the result of Share stays as it was.
//
// Ownership and lifetime: nodes lie on the Go heap, and go with the last that has them. Texts are
// copied; entities with the same text have one copy.
//
// Goroutines: Names that are changed belong to one goroutine at a time. What Share returned is
// never written: any number of goroutines may read it, while the owner changes the names that were
// shared.
//
// Cost: a look-up passes one branch per factor of eight above 16 names, then the values of a leaf.
// Memory: 130 B a name with a text of 24 B. Branches stay when the names below them have gone.
package name
