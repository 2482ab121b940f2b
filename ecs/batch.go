package ecs

import (
	"fmt"
	"iter"
	"slices"

	"quarry/ecs/internal/change"
)

// Batch is the rows that one call created, as CreateN, or moved, as Change.ApplyQuery. It is valid
// until the next structural change of the world.
type Batch struct {
	w     *World
	spans []change.Span // memory of the world's last transaction, valid while the epoch is unchanged
	n     int           // rows
	epoch uint64        // the world's epoch when the batch was returned
}

// batch returns the n rows that the last transaction created or moved.
func (w *World) batch(n int) Batch {
	return Batch{w: w, spans: w.rows.Last().Spans, n: n, epoch: w.rows.Epoch}
}

// Len returns the number of entities.
func (b Batch) Len() int { return b.n }

// Rows yields the batch's rows, one span per chunk. Every column may be written, and every row of a
// span belongs to the batch. Rows locks the world as Query.Rows does, and panics after another
// structural change.
func (b Batch) Rows() iter.Seq[Rows] {
	return func(yield func(Rows) bool) { b.walk("Batch.Rows", yield) }
}

func (b Batch) walk(op string, yield func(Rows) bool) {
	if b.n == 0 {
		return
	}
	w := b.w
	if b.epoch != w.rows.Epoch || w.closed {
		// errors.md, Loops and rows: `ecs: ...: the batch of ... rows is no longer current:
		// the world has changed since it was made` | There was a structural change after the batch.
		// | Fill batches at once; keep `Batch.Entities`.
		panic(fmt.Sprintf("ecs: %s: the batch of %d rows is no longer current: the world has changed since it was made", op, b.n))
	}
	w.refuseShared(op)
	s := w.openScan(&w.loops.batches)
	defer s.endBatch()
	for _, part := range b.spans {
		a, g := w.archetypeOn(part.Table), &part.Table.Store
		s.own = binding{a: a, columns: a.unlent()}
		s.t = &s.own
		pos, row := g.Find(part.Start)
		for left := part.N; left > 0; pos, row = pos+1, 0 {
			k := min(left, g.RowsOf(pos)-row)
			at := g.Row(pos, row)
			s.show(pos, at.Scale, true)
			s.first = row
			if !yield(makeRows(s, at.Base, k)) {
				return
			}
			left -= k
		}
	}
}

// unlent returns the places of the archetype's types, without access to types that are lent.
func (a *Archetype) unlent() []place {
	places := a.table.Places
	for _, id := range a.table.Types {
		if len(a.w.loops.borrows) == 0 {
			break
		}
		if !a.w.types.list[id].writes {
			if &places[0] == &a.table.Places[0] {
				places = slices.Clone(places)
			}
			places[id] = places[id].With(taken)
		}
	}
	return places
}

// Entities appends the batch's entities to dst. It panics like Rows.
func (b Batch) Entities(dst []Entity) []Entity {
	b.walk("Batch.Entities", func(rows Rows) bool {
		dst = append(dst, rows.Entities()...)
		return true
	})
	return dst
}
