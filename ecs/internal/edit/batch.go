package edit

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Batch is ecs.Batch.
type Batch struct {
	World *world.World
	spans []change.TableRange // memory of the world's last transaction, valid while the epoch is unchanged
	N     int                 // rows
	epoch uint64              // the world's epoch when the batch was returned
}

// batch returns the n rows that the last transaction created or moved.
func batch(w *world.World, n int) Batch {
	return Batch{World: w, spans: w.Writer.Last().Spans, N: n, epoch: w.Writer.Epoch}
}

// Walk is ecs.Batch.Rows for the call op.
func (b Batch) Walk(op string, yield func(query.Rows) bool) {
	if b.N == 0 {
		return
	}
	w := b.World
	if b.epoch != w.Writer.Epoch || w.Closed {
		panic(fmt.Sprintf("ecs: %s: the batch of %d rows is no longer current: the world has changed since it was made",
			op, b.N))
	}
	w.RefuseShared(op)
	s := query.OpenScan(w, query.BatchesOf(w))
	defer s.EndBatch()
	for _, part := range b.spans {
		a, g := w.ArchetypeOn(part.Table), &part.Table.Store
		s.Own = query.Binding{Archetype: a, Columns: unlent(a)}
		s.Binding = &s.Own
		pos, row := g.Find(part.Start)
		for left := part.N; left > 0; pos, row = pos+1, 0 {
			k := min(left, g.RowsOf(pos)-row)
			at := g.Row(pos, row)
			s.MoveTo(pos, at.Scale, true)
			s.First = row
			if !yield(query.MakeRows(s, at.Base, k)) {
				return
			}
			left -= k
		}
	}
}

// unlent returns the places of the archetype's types, without access to types that are lent.
func unlent(a *world.Archetype) []world.Place {
	places := a.Table.Places
	for _, id := range a.Table.Types {
		if len(a.World.Loops.Borrows) == 0 {
			break
		}
		if !a.World.Types.List[id].Writes {
			if &places[0] == &a.Table.Places[0] {
				places = slices.Clone(places)
			}
			places[id] = places[id].With(world.Taken)
		}
	}
	return places
}
