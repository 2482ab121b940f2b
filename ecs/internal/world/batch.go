package world

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/change"
)

// Batch is ecs.Batch.
type Batch struct {
	World *World
	spans []change.Span // memory of the world's last transaction, valid while the epoch is unchanged
	N     int           // rows
	epoch uint64        // the world's epoch when the batch was returned
}

// batch returns the n rows that the last transaction created or moved.
func (w *World) batch(n int) Batch {
	return Batch{World: w, spans: w.Rows.Last().Spans, N: n, epoch: w.Rows.Epoch}
}

// Walk is ecs.Batch.Rows for the call op.
func (b Batch) Walk(op string, yield func(Rows) bool) {
	if b.N == 0 {
		return
	}
	w := b.World
	if b.epoch != w.Rows.Epoch || w.Closed {
		// errors.md, Loops and rows: `ecs: ...: the batch of ... rows is no longer current:
		// the world has changed since it was made` | There was a structural change after the batch.
		// | Fill batches at once; keep `Batch.Entities`.
		panic(fmt.Sprintf("ecs: %s: the batch of %d rows is no longer current: the world has changed since it was made", op, b.N))
	}
	w.RefuseShared(op)
	s := w.OpenScan(&w.Loops.Batches)
	defer s.endBatch()
	for _, part := range b.spans {
		a, g := w.archetypeOn(part.Table), &part.Table.Store
		s.own = binding{Archetype: a, Columns: a.unlent()}
		s.Binding = &s.own
		pos, row := g.Find(part.Start)
		for left := part.N; left > 0; pos, row = pos+1, 0 {
			k := min(left, g.RowsOf(pos)-row)
			at := g.Row(pos, row)
			s.show(pos, at.Scale, true)
			s.First = row
			if !yield(makeRows(s, at.Base, k)) {
				return
			}
			left -= k
		}
	}
}

// unlent returns the places of the archetype's types, without access to types that are lent.
func (a *Archetype) unlent() []Place {
	places := a.Table.Places
	for _, id := range a.Table.Types {
		if len(a.World.Loops.Borrows) == 0 {
			break
		}
		if !a.World.Types.List[id].writes {
			if &places[0] == &a.Table.Places[0] {
				places = slices.Clone(places)
			}
			places[id] = places[id].With(taken)
		}
	}
	return places
}
