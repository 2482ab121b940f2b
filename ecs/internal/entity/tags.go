package entity

import "sync"

// Tags hands out the tags of worlds in turn, preferring tags that no open world has. So a world
// recognizes as foreign the IDs of the 15 worlds made before it, minus one for each older world
// that is still open.
type Tags struct {
	mu    sync.Mutex
	uses  [Worlds]int    // open worlds by tag
	taken [Worlds]uint32 // times that a tag was taken since no open world had it
	next  int            // tag to try first
}

// Take hands out a tag whose number is not in the set avoid. The set has at most 15 numbers.
func (t *Tags) Take(avoid uint32) Tag {
	tag, _ := t.TakeApart(avoid)
	return tag
}

// TakeApart is Take that also returns a number which no other open world that took the tag has: 0
// while there are no more worlds than tags.
func (t *Tags) TakeApart(avoid uint32) (tag Tag, number uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	best := -1
	for i := range t.uses {
		tag := (t.next + i) % len(t.uses)
		if avoid>>tag&1 == 0 && (best < 0 || t.uses[tag] < t.uses[best]) {
			best = tag
		}
	}
	if t.uses[best] == 0 {
		t.taken[best] = 0
	}
	t.uses[best]++
	t.taken[best]++
	t.next = (best + 1) % len(t.uses)
	return TagOf(uint32(best)), t.taken[best] - 1
}

// Share counts one more world with a tag that Take handed out and that an open world has. It is
// free once Free was called for each of them.
func (t *Tags) Share(tag Tag) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.uses[tag.Number()]++
}

// Free returns a tag that Take or Share handed out.
func (t *Tags) Free(tag Tag) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.uses[tag.Number()]--
}

// Open returns the number of open worlds. A tag counts once for each world that has it.
func (t *Tags) Open() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.uses {
		n += k
	}
	return n
}
