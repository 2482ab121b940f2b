package world

import "fmt"

// News: queries learn that their matches may have changed by comparing one number before a loop.
//
// Invariant, checked by verify:
//
//	Q1 unshared equals matched, but is never while a borrow is out and in a closed world.

// news counts the events that queries check before they loop.
type news struct {
	Matched   uint64 // archetypes created, removed or laid out anew so far, plus one: matches may have changed
	unshared  uint64 // equal to matched, or never while a borrow is out or after Close: see Query.Rows
	replanned uint64 // archetypes laid out anew so far
}

// never is a news.unshared that no query has seen.
const never = ^uint64(0)

// match makes queries check their matches before their next loop. No borrow may be out.
func (n *news) match() {
	n.Matched++
	n.unshared = n.Matched
}

// replan tells queries that an archetype without rows got another layout.
func (n *news) replan() {
	n.replanned++
	n.match()
}

// verify checks Q1 of a world that is open, and lent or not.
func (n *news) verify(lent bool) error {
	want := n.Matched
	if lent {
		want = never
	}
	if n.unshared != want {
		return fmt.Errorf("ecs: Q1: queries compare with %d, the matches changed %d times, and a borrow is out: %v", n.unshared, n.Matched, lent)
	}
	return nil
}
