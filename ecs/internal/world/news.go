package world

import "fmt"

// News: queries learn that their matches may have changed by comparing one number before a loop.
//
// Invariant, checked by verify:
//
//	Q1 unshared equals matched, but is never while a borrow is out and in a closed world.

// Never is a news.Unshared that no query has seen.
const Never = ^uint64(0)

// Match makes queries check their matches before their next loop. No borrow may be out.
func (n *News) Match() {
	n.Matched++
	n.Unshared = n.Matched
}

// Replan makes queries recompute the columns of an archetype without rows whose layout changed.
func (n *News) Replan() {
	n.Replanned++
	n.Match()
}

// verify checks Q1 of a world that is open, and lent or not.
func (n *News) verify(lent bool) error {
	want := n.Matched
	if lent {
		want = Never
	}
	if n.Unshared != want {
		return fmt.Errorf("ecs: Q1: queries compare with %d, the matches changed %d times, and a borrow is out: %v",
			n.Unshared, n.Matched, lent)
	}
	return nil
}
