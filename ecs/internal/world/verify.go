package world

import (
	"fmt"

	"quarry/ecs/internal/value"
)

// VerifyCount checks W4, and W1 in numbers: of the rows of all archetypes and of the records that
// are alive.
func (w *World) VerifyCount(rows, alive int) error {
	if w.Writer.Created-w.Writer.Destroyed != uint64(rows) {
		return fmt.Errorf("ecs: W4: %d created - %d destroyed, but the archetypes hold %d rows",
			w.Writer.Created, w.Writer.Destroyed, rows)
	}
	if alive != rows {
		return fmt.Errorf("ecs: W1: %d records are alive, the archetypes hold %d rows", alive, rows)
	}
	return nil
}

// Verify checks W1 (from the rows' side), W2, W6, W7, W9 and W12 of one archetype.
func (a *Archetype) Verify(spilled *int) error {
	if err := a.Table.Verify(); err != nil {
		return err
	}
	if a.Table.Sig.Has(CleanupEntityID) && a.Table.Len() > 0 && !a.Table.Sig.Meets(&a.World.Types.Cleanup) {
		return fmt.Errorf("ecs: W12: %d entities of %v have the tag CleanupEntity and no Cleanup type",
			a.Table.Len(), a)
	}
	for pos := range a.Table.Store.Chunks() {
		at, n := a.Table.Store.Row(pos, 0), a.Table.Store.RowsOf(pos)
		for _, c := range a.Table.Buffers() {
			for at.Row = range n {
				t, h := a.World.Types.List[c.Key], value.HeaderOf(at, c)
				if err := a.World.Buffers.VerifyRow(h, &t.Shape); err != nil {
					return fmt.Errorf("ecs: W7: a %s: %w", t.Name, err)
				}
				if h.Spilled() {
					*spilled++
				}
			}
		}
	}
	return nil
}

// verifyDerived checks what the world derives from its parts, and the calls in progress.
func (w *World) verifyDerived() error {
	if err := w.Index.Verify(len(w.Archetypes.List)); err != nil {
		return err
	}
	if err := w.Archetypes.verify(); err != nil {
		return err
	}
	if err := w.verifyLoops(); err != nil {
		return err
	}
	if err := w.QueryEpochs.verify(len(w.Loops.Borrows) > 0); err != nil {
		return err
	}
	if w.History != nil {
		if err := w.History.Verify(); err != nil {
			return err
		}
	}
	return w.Writer.Verify()
}
