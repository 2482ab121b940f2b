package fuzz

import (
	"fmt"
	"time"
)

// shrink gives back the memory of rows that are gone, all at once or step by step. In the model
// only two things change: short buffers no longer have blocks, and groups without rows go.
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
	for _, g := range d.m.retire(d.newest()) {
		if g.a.Len() != 0 {
			return fmt.Errorf("after Shrink: %v, which has gone, has %d rows", g.a, g.a.Len())
		}
		if r.n&6 == 0 || g.set.has(cleanupEntityKind) || len(d.m.alive) >= d.most {
			continue
		}
		again := d.m.groupOf(g.form)
		if err := d.createIn(again, g.a, r); err != nil {
			return err
		}
		if len(again.rows) != g.a.Len() { // holders of the archetype do not notice
			return fmt.Errorf("%v, which came again, has %d rows, want %d", g.a, g.a.Len(), len(again.rows))
		}
	}
	return nil
}
