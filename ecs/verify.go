package ecs

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/value"
)

// Verify checks the numbered invariants of the world, of its heap and, if the world owns its
// universe, of the universe. It returns an error that names the first invariant violated, or nil.
// It reads every record and row. Goroutines may read snapshots and reserve ids meanwhile; what they
// see for the first time, and what they reserve, waits.
func (w *World) Verify() error {
	if w.closed {
		return nil
	}
	w.endBorrows("World.Verify")
	defer w.history.quiet()()
	w.reserving.Lock() // a new block of ids takes memory of the universe
	defer w.reserving.Unlock()
	rows, spilled := 0, 0
	for _, a := range w.archetypes.list {
		if err := a.verify(&spilled); err != nil {
			return err
		}
		rows += a.table.Store.Len()
	}
	if err := w.tables.Verify(slices.Collect(w.archetypes.tables)); err != nil {
		return err
	}
	alive, err := w.ids.Verify()
	if err != nil {
		return err
	}
	if err := w.verifyCount(rows, alive); err != nil {
		return err
	}
	if err := w.verifyNames(); err != nil {
		return err
	}
	if err := w.verifyValues(); err != nil {
		return err
	}
	if err := w.verifyManaged(w.types.list); err != nil {
		return err
	}
	if err := w.verifySparse(); err != nil {
		return err
	}
	if err := w.index.Verify(len(w.archetypes.list)); err != nil {
		return err
	}
	if err := w.buffers.Verify(spilled); err != nil {
		return fmt.Errorf("ecs: W7: %w", err)
	}
	if err := w.verifyParts(); err != nil {
		return err
	}
	if w.own {
		return w.u.Verify()
	}
	return nil
}

// verifyCount checks W4, and W1 in numbers: of the rows of all archetypes and of the records that
// are alive.
func (w *World) verifyCount(rows, alive int) error {
	if w.rows.Created-w.rows.Destroyed != uint64(rows) {
		return fmt.Errorf("ecs: W4: %d created - %d destroyed, but the archetypes hold %d rows", w.rows.Created, w.rows.Destroyed, rows)
	}
	if alive != rows {
		return fmt.Errorf("ecs: W1: %d records are alive, the archetypes hold %d rows", alive, rows)
	}
	return nil
}

// verify checks W1 (from the rows' side), W2, W6, W7, W9 and W12 of one archetype.
func (a *Archetype) verify(spilled *int) error {
	if err := a.table.Verify(); err != nil {
		return err
	}
	if a.table.Sig.Has(dyingID) && a.table.Len() > 0 && !a.table.Sig.Meets(&a.w.types.cleanup) {
		return fmt.Errorf("ecs: W12: %d entities of %v have the tag CleanupEntity and no Cleanup type", a.table.Len(), a)
	}
	for pos := range a.table.Store.Chunks() {
		at, n := a.table.Store.Row(pos, 0), a.table.Store.RowsOf(pos)
		for _, c := range a.table.Buffers() {
			for at.Row = range n {
				t, h := a.w.types.list[c.Key], value.HeaderOf(at, c)
				if err := a.w.buffers.VerifyRow(h, &t.shape); err != nil {
					return fmt.Errorf("ecs: W7: a %s: %w", t.name, err)
				}
				if h.Spilled() {
					*spilled++
				}
			}
		}
	}
	return nil
}

// verifyParts checks the invariants of the parts of a world that are declared in this package.
func (w *World) verifyParts() error {
	if err := w.types.verify(w.ids.View()); err != nil {
		return err
	}
	if err := w.archetypes.verify(); err != nil {
		return err
	}
	if err := w.loops.verify(); err != nil {
		return err
	}
	if err := w.news.verify(len(w.loops.borrows) > 0); err != nil {
		return err
	}
	if err := w.verifyHistory(); err != nil {
		return err
	}
	return w.rows.Verify()
}
