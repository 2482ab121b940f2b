package ecs

import "sync"

// worldTags hands out the tag that every entity of a world carries: in turn, so
// that an entity of the last 15 worlds is known to be a stranger, and preferring
// tags that no open world has. Tags are no part of what Hash and String show.
type worldTags struct {
	mu   sync.Mutex
	uses [1 << tagBits]int // open worlds by tag
	next int               // tag to try first
}

var tags worldTags

// take hands out a tag that is not in the set avoid, of 15 at most.
func (t *worldTags) take(avoid uint32) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	best := -1
	for i := range t.uses {
		tag := (t.next + i) % len(t.uses)
		if avoid>>tag&1 == 0 && (best < 0 || t.uses[tag] < t.uses[best]) {
			best = tag
		}
	}
	t.uses[best]++
	t.next = (best + 1) % len(t.uses)
	return uint32(best)
}

func (t *worldTags) give(tag uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.uses[tag]--
}
