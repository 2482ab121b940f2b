package world

import "fmt"

// Query epochs: a query compares one number before a loop, and so learns that its matches may have
// changed.
//
// Invariant, checked by verify:
//
//	Q1 OwnerMatched equals Matched, but is NoEpoch while a borrow is out and in a closed world.

// NoEpoch is an OwnerMatched that no query has seen.
const NoEpoch = ^uint64(0)

// NextMatched makes queries check their matches before their next loop. No borrow may be out.
func (n *QueryEpochs) NextMatched() {
	n.Matched++
	n.OwnerMatched = n.Matched
}

// NextReplanned makes queries recompute the columns of an archetype without rows whose layout
// changed.
func (n *QueryEpochs) NextReplanned() {
	n.Replanned++
	n.NextMatched()
}

// verify checks Q1 of a world that is open, and lent or not.
func (n *QueryEpochs) verify(lent bool) error {
	want := n.Matched
	if lent {
		want = NoEpoch
	}
	if n.OwnerMatched != want {
		return fmt.Errorf("ecs: Q1: queries compare with %d, the matches changed %d times, and a borrow is out: %v",
			n.OwnerMatched, n.Matched, lent)
	}
	return nil
}
