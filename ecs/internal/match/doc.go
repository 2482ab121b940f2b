// Package match finds the archetypes that queries ask for, and keeps what it found up to date as
// archetypes come and go. It knows types by number and shared values by serial, and nothing of
// worlds, loops or rows.
//
// An [Archetype] is a set of types and values. A [Filter] says which archetypes match. A [Matching]
// lists them, for all queries with the same filter. An [Index] has the archetypes and the matchings
// of a world; it compares an archetype with a matching once, when the later of the two is made:
//
//	archetypes   0 [P]      1 [P V]      2 [P Stun]      3 [V Stun]
//	With(P)      0          1            2, no tests
//	With(Stun)                           2: bits of slot 1 set      3: bits of slot 1 set
//
// So a loop only walks [Matching.Matches]. Where enable bits decide which rows match, a [Match] has
// a [BitTest] for each term that asks for them; its user applies them.
//
// Ownership: an index keeps pointers to the archetypes that were entered, and writes their Index.
// An Archetype that is the first field of a caller's struct leads to that struct at no cost. The
// arrays of a Filter's slices belong to the index once it was passed to [Index.Matching].
//
// Lifetime: a matching is good until [Index.Drop] was called for it as often as Matching returned
// it. Matches grow at their end, in the order in which archetypes were made. When archetypes leave,
// Matches loses them and Lost is counted up.
//
// Goroutines: an index belongs to the world's owner. Other goroutines may read Matches and call
// Wants, TestsOf and Sharers while the owner calls none of Enter, Leave, Matching and Drop.
//
// Failure: none; the caller passes valid types, slots and serials.
//
// Cost: comparing an archetype with a filter is one pass over 16 words and a search for each list
// of values, and allocates nothing. Enter compares the archetype with the matchings that ask for
// one of its types or values, or for none. Matching is a look-up by hash when a query has the
// filter already; otherwise it compares the filter with all archetypes, or, when the filter names
// values, with the archetypes that have them. Drop takes time for each type or value that the
// matching is listed by, however many matchings there are. An archetype takes 8 B, each of its
// values 8 B more, and a matching about 700 B.
package match
