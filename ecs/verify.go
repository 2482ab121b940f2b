package ecs

import (
	"fmt"

	"quarry/ecs/internal/entity"
)

// Verify checks the numbered invariants of the world, its heap and, when it is
// the world's own, its universe, and names the first that does not hold. It
// reads every record and row. No other goroutine may reserve ids meanwhile.
func (w *World) Verify() error {
	if w.closed {
		return nil
	}
	w.Settle("World.Verify")
	rows, spilled := 0, 0
	for _, a := range w.archetypes {
		if err := a.verify(&spilled); err != nil {
			return err
		}
		rows += a.grid.Len()
	}
	if w.created-w.destroyed != uint64(rows) {
		return fmt.Errorf("ecs: W4: %d created - %d destroyed, but the archetypes hold %d rows", w.created, w.destroyed, rows)
	}
	if err := w.verifyOwners(); err != nil {
		return err
	}
	if err := w.verifyDirectories(); err != nil {
		return err
	}
	alive, err := w.ids.Verify()
	if err != nil {
		return err
	}
	if alive != rows {
		return fmt.Errorf("ecs: W1: %d records are alive, the archetypes hold %d rows", alive, rows)
	}
	if err := w.verifyViews(); err != nil {
		return err
	}
	if err := w.verifyNames(); err != nil {
		return err
	}
	if err := w.verifyValues(); err != nil {
		return err
	}
	if err := w.verifyManaged(); err != nil {
		return err
	}
	for _, e := range w.matchings {
		if err := e.m.verify(); err != nil {
			return err
		}
	}
	if n := w.heap.Stats().LiveBlocks; n != spilled {
		return fmt.Errorf("ecs: W7: %d buffers have spilled, the heap holds %d blocks", spilled, n)
	}
	if err := w.heap.Verify(); err != nil {
		return err
	}
	if w.own {
		return w.u.Verify()
	}
	return nil
}

// verify checks W1 (from the rows' side), W2, W6 and W7 of one archetype.
func (a *Archetype) verify(spilled *int) error {
	if err := a.grid.Verify(a.Plan()); err != nil {
		return fmt.Errorf("ecs: W2: %v: %w", a, err)
	}
	if err := a.books.Verify(len(a.grid.Chunks()), a.grid.RowsOf); err != nil {
		return fmt.Errorf("ecs: W6: %v: %w", a, err)
	}
	if err := a.verifyLayout(); err != nil {
		return err
	}
	if a.sig.Has(dyingID) && a.grid.Len() > 0 && !a.sig.Meets(&a.w.cleanupTypes) {
		return fmt.Errorf("ecs: W12: %d entities of %v are Dying and have no Cleanup type", a.grid.Len(), a)
	}
	for pos, chunk := range a.grid.Chunks() {
		at, n := a.grid.Row(pos, 0), a.grid.RowsOf(pos)
		for row, e := range entities(at.Base, n) {
			r := a.w.find(e)
			if r == nil || r.Location != locate(chunk.First, row) || !entity.ID(e).Is(a.w.ids.Tag()) {
				return fmt.Errorf("ecs: W1: row %d of chunk %d of %v holds %v, whose record does not lead back", row, chunk.First, a, e)
			}
		}
		for _, c := range a.buffers() {
			for at.Row = range n {
				if err := a.w.verifyBuffer(headerAt(at, c), typeID(c.Key), spilled); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *World) verifyBuffer(h *header, id typeID, spilled *int) error {
	t := w.types[id]
	room := t.inline
	if h.ref != 0 {
		*spilled++
		room = int(h.capacity)
		if !w.heap.Owns(w.spilled(h)) {
			return fmt.Errorf("ecs: W7: a %s has its block at byte %d of the universe, where the heap has none",
				t.name, uint64(h.ref-1)*refUnit)
		}
		if room <= t.inline {
			return fmt.Errorf("ecs: W7: a %s has spilled with capacity %d, but %d fit the chunk", t.name, room, t.inline)
		}
		if usable := w.heap.Usable(w.spilled(h)); room*t.element > usable {
			return fmt.Errorf("ecs: W7: a %s has capacity %d of %d bytes in a block of %d", t.name, room, t.element, usable)
		}
	}
	if int(h.length) > room {
		return fmt.Errorf("ecs: W7: a %s has length %d, capacity %d", t.name, h.length, room)
	}
	return nil
}

// verifyOwners checks W3.
func (w *World) verifyOwners() error {
	chunks, small, kept, entries, sharing, used := 0, 0, 0, 0, 0, 0
	for unit, o := range w.owners {
		switch {
		case o.archetype == 0:
		case o.archetype != shelved:
			entries++
		case int(o.at) >= len(w.tenants):
			return fmt.Errorf("ecs: W3: unit %d has entry %d of %d for small chunks", unit, o.at, len(w.tenants))
		default:
			used++
			for _, archetype := range w.tenants[o.at] {
				if archetype != 0 {
					sharing++
				}
			}
		}
	}
	for _, a := range w.archetypes {
		chunks += a.grid.Units()
		for pos, c := range a.grid.Chunks() {
			if c.Small() {
				small++
			}
			for part := c.First; part < c.First+1<<c.Order; part++ {
				if int(part.Chunk()) >= len(w.owners) || w.ownerOf(locate(part, 0)) != makeOwner(a, pos, c.Order) {
					return fmt.Errorf("ecs: W3: eighth %d at position %d of %v has no such owner", part, pos, a)
				}
			}
		}
		if a.grid.HasSmall() {
			kept++
		}
	}
	if entries != chunks || sharing != small || used+len(w.idleTenants) != len(w.tenants) {
		return fmt.Errorf("ecs: W3: the table has %d units and %d small chunks, the archetypes %d and %d; %d units and %d idle ones have %d entries for small ones",
			entries, sharing, chunks, small, used, len(w.idleTenants), len(w.tenants))
	}
	if w.shelf.Live() != kept {
		return fmt.Errorf("ecs: W3: the shelf has handed out %d small chunks, the archetypes have %d", w.shelf.Live(), kept)
	}
	return w.shelf.Verify()
}

// verifyViews checks L2.
func (w *World) verifyViews() error {
	for _, t := range w.types {
		if want := w.ids.View(); t.writers == 0 && t.view != want {
			return fmt.Errorf("ecs: L2: look-ups of %s see records %+v, the world has %+v", t.name, t.view, want)
		}
	}
	return nil
}
