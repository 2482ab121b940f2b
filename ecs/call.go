package ecs

import "quarry/ecs/internal/value"

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
