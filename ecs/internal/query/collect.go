package query

import (
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Each calls yield for the matching rows. It does not advance Since.
func (q *Query) Each(op string, yield func(Rows) bool) {
	q.CheckOpen(op)
	if len(q.World.Loops.Borrows) > 0 {
		q.CheckLent(op, true)
	}
	q.bindNew()
	s := OpenScan(q.World, q)
	defer s.End()
	s.Walk(q, yield)
}

// Count is ecs.Query.Count.
func (q *Query) Count() int {
	total := 0
	q.CheckOpen("Query.Count")
	if !q.FiltersChunks() && !q.tests() {
		for i := range q.Matching.Matches {
			total += world.ArchetypeOfMatch(q.Matching.Matches[i].Entry).Table.Store.Len()
		}
		return total
	}
	q.Each("Query.Count", func(rows Rows) bool {
		total += rows.Count()
		return true
	})
	return total
}

// tests reports whether enable bits or sparse types decide which rows match, in any archetype with
// rows.
func (q *Query) tests() bool {
	if len(q.Sets) > 0 {
		return true
	}
	for i := range q.Matching.Matches {
		if m := &q.Matching.Matches[i]; len(m.Tests) > 0 && world.ArchetypeOfMatch(m.Entry).Table.Store.Len() > 0 {
			return true
		}
	}
	return false
}

// AppendEntities appends the entities of the rows that match. It is a function because the loop,
// inside a closure, would allocate its state for every chunk.
func (r Rows) AppendEntities(dst []entity.ID) []entity.ID {
	ids := r.Entities()
	for lo, hi := range r.Runs() {
		dst = append(dst, ids[lo:hi]...)
	}
	return dst
}

// Count is Query.Count for Component.Values.
func Count(t *world.Type, q *Query) int {
	q.demand(t, world.MayRead, "Component.Values")
	return q.Count()
}

// CopyValues copies the values of the entities that match to dst, which has room for all.
func CopyValues(t *world.Type, q *Query, dst []byte) {
	const op = "Component.Values"
	q.Each(op, func(rows Rows) bool {
		dst = rows.copyRuns(bytes(t, rows, op), t.Size, dst, false)
		return true
	})
}

// SetValues is Component.SetValues of n values.
func SetValues(t *world.Type, q *Query, src []byte, n int) error {
	const op = "Component.SetValues"
	q.demand(t, world.MayWrite, op)
	if count := q.Count(); count != n {
		return fmt.Errorf("ecs: Component.SetValues: %v matches %d entities, there are %d values", q, count, n)
	}
	q.Each(op, func(rows Rows) bool {
		bytes(t, rows, op)
		return true
	})
	q.Each(op, func(rows Rows) bool {
		rows.markMatching(t)
		src = rows.copyRuns(bytes(t, rows, op), t.Size, src, true)
		return true
	})
	return nil
}

// copyRuns copies the values of the rows that match from their column to list, or back, and returns
// the rest of list. Inside a closure this loop would allocate its state for every chunk.
func (r Rows) copyRuns(column []byte, size int, list []byte, back bool) []byte {
	for lo, hi := range r.Runs() {
		run := column[lo*size : hi*size]
		if back {
			copy(run, list)
		} else {
			copy(list, run)
		}
		list = list[len(run):]
	}
	return list
}

// demand panics unless the query gives an access to a type.
func (q *Query) demand(t *world.Type, access uint8, op string) {
	q.CheckOpen(op)
	switch {
	case t == nil:
		t.WorldOrNil().Refuse(op)
	case t.World != q.World:
		panic(fmt.Sprintf("ecs: %s: %s and the query belong to different worlds", op, t.Name))
	case int(t.ID) >= len(q.Allowed) || q.Allowed[t.ID]&access == 0:
		q.refuseAccess(t, op)
	}
	t.CheckLent(op, access)
}

// bytes is Component.ReadOnly without the Go type; it panics where the chunk lacks the component.
func bytes(t *world.Type, rows Rows, op string) []byte {
	p, ok := rows.PlaceOf(t, op)
	if !ok {
		panic(fmt.Sprintf("ecs: %s: %v of %v has no %s", op, rows.Scan.Binding.Archetype, rows.Scan.Query, t.Name))
	}
	at := unsafe.Add(rows.ColumnTo(t, p), rows.Scan.First*t.Size)
	// Safe because the column has a value for each row, from the first on.
	return unsafe.Slice((*byte)(at), rows.Len()*t.Size)
}

// Matches is ecs.Query.Matches.
func (q *Query) Matches(e entity.ID) bool {
	q.CheckOpen("Query.Matches")
	if len(q.World.Loops.Borrows) > 0 {
		q.CheckLent("Query.Matches", true)
	}
	r := q.World.RecordOf("Query.Matches", e)
	if r == nil {
		return false
	}
	a, pos, at := q.World.RowOf(r)
	if !q.Matching.Wants(&a.Table) ||
		q.MaySkipChunks(q.Since) &&
			!q.ChunkPasses(nil, a, pos, 0, a.Table.Store.RowsOf(pos), q.Since) {
		return false
	}
	if q.Masked &&
		(!q.InRanges(a, pos, at.Row) ||
			q.Narrows(a, pos, q.Since) && !q.IsNewRow(a, pos, at.Row, q.Since)) {
		return false
	}
	for _, t := range q.Matching.TestsOf(&a.Table) {
		if !slices.ContainsFunc(t.Slots, func(slot uint16) bool {
			return a.Table.Metadata.Bits(slot, pos).Has(at.Row) != (t.Invert != 0)
		}) {
			return false
		}
	}
	for i := range q.Sets {
		if !q.Sets[i].Passes(a, pos, at.Row, e) {
			return false
		}
	}
	return true
}

// Empty is ecs.Query.Empty.
func (q *Query) Empty() bool {
	empty := true
	q.Each("Query.Empty", func(Rows) bool {
		empty = false
		return false
	})
	return empty
}

// Single returns the first entity that matches, and how many do.
func (q *Query) Single() (e entity.ID, n int) {
	q.Each("Query.Single", func(rows Rows) bool {
		if n == 0 {
			e = rows.Entities()[rows.First()]
		}
		n += rows.Count()
		return true
	})
	return e, n
}
