package ecs

import (
	"fmt"

	"quarry/ecs/internal/value"
)

// What a structural change keeps for the next one. A change aims at archetypes, makes room in them and brings rows; in
// between they note what is coming.
//
// Invariant, checked by verify:
//
//	C1 Between two changes nothing is coming to an archetype.

// call is what a structural change has while it is under way, kept so that the next allocates nothing.
type call struct {
	picked    pick            // rows that a batch is about
	targets   []*Archetype    // that rows come to
	moved     []span          // rows that the last batch made or moved
	cloning   cloning         // the last call of Instantiate
	shrinking shrinking       // where the next step of Shrink goes on
	chosen    []*value.Shared // of the archetype that is looked for
	given     []*value.Shared // by the caller
}

// verify checks C1.
func (c *call) verify(archetypes []*Archetype) error {
	for _, a := range archetypes {
		if a.coming != 0 || a.sources != 0 || a.regular {
			return fmt.Errorf("ecs: C1: no change is under way, but %d rows are coming to %v from %d archetypes, full chunks: %v", a.coming, a, a.sources, a.regular)
		}
	}
	return nil
}
