// Package match finds the archetypes that queries ask for, and keeps what it found up to date
// as archetypes come and go. It knows types by number and shared values by serial, and nothing
// of worlds, loops or rows.
//
// An [Archetype] is a set of types and values. A [Filter] says which sets match. Those that do
// make a [Matching], which is shared by all queries with the same filter. An [Index] has the
// archetypes and the matchings of a world; it looks at an archetype once, when either is made:
//
//	archetypes   0 [P]      1 [P V]      2 [P Stun]      3 [V Stun]
//	With(P)      0          1            2, no tests
//	With(Stun)                           2: bits of slot 1 set      3: bits of slot 1 set
//
// So a loop only walks [Matching.Matches]. Where enable bits decide which rows match, a [Match]
// has a [BitTest] for each term that asks for them; its user applies them.
//
// Ownership: an index keeps pointers to the archetypes that were entered, and writes their
// Index. An Archetype that is the first field of a larger one leads to that at no cost.
// What a Filter's slices lead to belongs to the index from [Index.Matching] on.
//
// Lifetime: a matching is good until it was dropped as often as it was asked for. Matches grow
// at their end and keep the order of creation, until archetypes leave: then Lost is another.
//
// Goroutines: an index belongs to the world's owner. Others may read Matches and call Wants,
// TestsOf and Sharers while the owner enters, leaves, asks and drops nothing.
//
// Failure: none; types, slots and serials are the caller's to have right.
//
// Cost: comparing an archetype with a filter is one pass over 16 words and a search for each
// list of values, without memory. Entering an archetype compares it with the matchings that ask
// for one of its types or values, or for none. Asking for a matching compares all archetypes
// where it is the first of its kind, those of the values where it names values, and is a look-up
// by hash where it is not. Dropping one takes the same time beside any number of others, for
// each type or value that it is listed by. An archetype takes 8 B, each of its values 8 B more, and
// a matching about 700 B.
package match
