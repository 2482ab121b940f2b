package fuzz

import (
	"fmt"
	"time"
)

// shrink gives back what rows that went have left, all at once or step by step. Of the model
// nothing changes but that buffers which are short have no block any more, and that groups
// without rows go.
func (d *world) shrink(r record) error {
	for !d.w.Shrink(time.Duration(r.n & 1)) {
	}
	for _, x := range d.m.entities {
		for k := range d.list {
			if b, ok := d.list[k].(bufferKind); ok && x.spilled.has(k) && b.length(x.values[k]) <= b.inlined() {
				d.m.spill(x, k, false)
			}
		}
	}
	if s := d.w.Stats(); s.Reserve != 0 {
		return fmt.Errorf("after Shrink: got %+v want no reserve", s)
	}
	for _, g := range d.m.retire() {
		if err := panics("ecs: ", func() { g.a.Create() }); err != nil { // or there is no room for ids
			return fmt.Errorf("after Shrink: %v, which has gone: %w", g.a, err)
		}
	}
	return nil
}
