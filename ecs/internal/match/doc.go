// Package match finds the archetypes that match each query, and keeps the results up to date as
// archetypes come and go. It knows types by number and shared values by serial, and nothing about
// worlds, loops or rows.
//
// An [Entry] is an archetype: its types and its shared values. A [Filter] decides which archetypes
// match. A [Matching] lists these for all queries with the same filter. An [Index] has the entries
// and the matchings of a world. It compares an archetype with a matching once, when the
// later of the two is made:
//
//	archetypes   0 [P]      1 [P V]      2 [P Stun]      3 [V Stun]
//	With(P)      0          1            2, no tests
//	With(Stun)                           2: bits of slot 1 set      3: bits of slot 1 set
//
// So a loop only walks [Matching.Matches]. If enable bits decide which rows match, the [Match] has
// a [BitTest] for each term that requires them, which its user applies.
//
// Ownership: an index keeps pointers to the entries, and writes their Index. If an Entry is the
// first field of a caller's struct, a pointer to it leads to that struct at no cost. After
// [Index.Matching] the index owns the arrays of the Filter's slices.
//
// Lifetime: a matching is valid until [Index.Drop] has been called for it as often as Matching
// returned it. Matches grow at the end, in the order in which archetypes were made. When archetypes
// leave, Matches loses them and Lost is incremented.
//
// Goroutines: an index belongs to the world's owner. Other goroutines may read Matches and call
// Wants, TestsOf and ArchetypesOfValue while the owner calls none of Enter, Leave, Matching and
// Drop.
//
// Failure: none; the caller passes valid types, slots and serials.
//
// Cost: comparing an archetype with a filter is one pass over 16 words and a search for each list
// of values, and allocates nothing. Enter compares the archetype with the matchings whose filters
// name one of its types or values, or no type and no value. Matching is a look-up by hash if a
// query has the filter already. Otherwise it compares the filter with all archetypes or, if the
// filter names values, with the archetypes that have them. Drop takes time for each type or value
// under which the matching is listed, independent of the number of matchings. An archetype takes 8
// B, each of its values 8 B more, and a matching about 700 B.
package match
