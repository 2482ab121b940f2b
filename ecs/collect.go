package ecs

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
)

// Query results as a number, an entity or a slice, in the order of Query.Rows. Changed and Ordered
// terms compare with Since, which does not advance.

// errors.md, Errors: `ErrNotSingle`, `ecs: Query.Single: ... matches ...: ...` | `Query.Single`
// found none, or several. | The text says how many. Without a row there was no `Create` yet, or a
// bit is off.

// ErrNotSingle is wrapped by the error of Query.Single if not exactly one entity matches.
var ErrNotSingle = errors.New("not exactly one entity")

// each calls yield for the matching rows. It does not advance Since.
func (q *Query) each(op string, yield func(Rows) bool) {
	q.checkOpen(op)
	if len(q.w.loops.borrows) > 0 {
		q.checkLent(op, true)
	}
	q.look()
	s := q.w.openScan(q)
	defer s.end()
	s.walk(q, yield)
}

// Count returns the number of entities that match. Cost: per archetype; per chunk if enable bits or
// versions decide; per row if sparse types or Masked terms do.
func (q *Query) Count() int {
	total := 0
	q.checkOpen("Query.Count")
	if !q.asks() && !q.tests() {
		for i := range q.m.Matches {
			total += whole(q.m.Matches[i].Archetype).table.Store.Len()
		}
		return total
	}
	q.each("Query.Count", func(rows Rows) bool {
		total += rows.Count()
		return true
	})
	return total
}

// tests reports whether enable bits or sparse types decide which rows match, in any archetype with
// rows.
func (q *Query) tests() bool {
	if len(q.sets) > 0 {
		return true
	}
	for i := range q.m.Matches {
		if m := &q.m.Matches[i]; len(m.Tests) > 0 && whole(m.Archetype).table.Store.Len() > 0 {
			return true
		}
	}
	return false
}

// Matches reports whether a loop over q would now yield e as a matching row.
func (q *Query) Matches(e Entity) bool {
	q.checkOpen("Query.Matches")
	if len(q.w.loops.borrows) > 0 {
		q.checkLent("Query.Matches", true)
	}
	r := q.w.recordOf("Query.Matches", e)
	if r == nil {
		return false
	}
	a, pos, at := q.w.rowOf(r)
	if !q.m.Wants(&a.table) || q.skims(q.since) && !q.passes(nil, a, pos, 0, a.table.Store.RowsOf(pos), q.since) {
		return false
	}
	if q.masked && (!q.inRanges(a, pos, at.Row) || q.narrows(a, pos, q.since) && !q.isNewRow(a, pos, at.Row, q.since)) {
		return false
	}
	for _, t := range q.m.TestsOf(&a.table) {
		if !slices.ContainsFunc(t.Slots, func(slot uint16) bool { return a.table.Books.Bits(slot, pos).Has(at.Row) != (t.Invert != 0) }) {
			return false
		}
	}
	for i := range q.sets {
		if !q.sets[i].passes(a, pos, at.Row, entity.ID(e)) {
			return false
		}
	}
	return true
}

// Empty reports whether no entity matches. It stops at the first match.
func (q *Query) Empty() bool {
	empty := true
	q.each("Query.Empty", func(Rows) bool {
		empty = false
		return false
	})
	return empty
}

// Single returns the only entity that matches. If not exactly one entity matches, it returns an
// error that wraps ErrNotSingle and gives the number of matches.
func (q *Query) Single() (Entity, error) {
	var e Entity
	n := 0
	q.each("Query.Single", func(rows Rows) bool {
		if n == 0 {
			e = rows.Entities()[rows.first()]
		}
		n += rows.Count()
		return true
	})
	if n != 1 {
		return Null, fmt.Errorf("ecs: Query.Single: %v matches %d: %w", q, n, ErrNotSingle)
	}
	return e, nil
}

// At returns the i'th entity that matches. It panics if i is not in [0, Count()). Cost: per chunk
// before the entity.
func (q *Query) At(i int) Entity {
	e, found, left := Null, false, i
	q.each("Query.At", func(rows Rows) bool {
		if n := rows.Count(); left >= n {
			left -= n
			return true
		}
		for row := range rows.Each() {
			if found = left == 0; found {
				e = rows.Entities()[row]
				break
			}
			left--
		}
		return false
	})
	if !found {
		panic(fmt.Sprintf("ecs: Query.At: index %d is not in [0, %d) of %v", i, q.Count(), q))
	}
	return e
}

// Entities appends the entities that match to dst.
func (q *Query) Entities(dst []Entity) []Entity {
	q.each("Query.Entities", func(rows Rows) bool {
		dst = rows.appendEntities(dst)
		return true
	})
	return dst
}

// appendEntities appends the entities of the rows that match. It is a function because the loop,
// inside a closure, would allocate its state for every chunk.
func (r Rows) appendEntities(dst []Entity) []Entity {
	ids := r.Entities()
	for lo, hi := range r.Runs() {
		dst = append(dst, ids[lo:hi]...)
	}
	return dst
}

// Values appends to dst the component of every entity that matches q. It panics if q does not
// declare the component, and for a chunk without it (Optional, Any).
func (c Component[T]) Values(q *Query, dst []T) []T {
	n := c.t.count(q)
	dst = slices.Grow(dst, n)
	c.t.values(q, bytesOf(dst[len(dst):len(dst)+n]))
	return dst[:len(dst)+n]
}

// SetValues writes src to the components of the entities that match q, one value per entity, in the
// order of Values. If the number of entities is not len(src), SetValues writes nothing and returns
// an error with both numbers. It panics if q does not declare the component with Write, for a chunk
// without it, and while the world is shared.
func (c Component[T]) SetValues(q *Query, src []T) error {
	return c.t.setValues(q, bytesOf(src), len(src))
}

// bytesOf views values as bytes, so that what copies them is there once for all types.
func bytesOf[T any](values []T) []byte {
	var v T
	// Safe because the values lie one behind the other and hold no Go pointers.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}

// count is Query.Count for Component.Values.
func (t *typeInfo) count(q *Query) int {
	q.demand(t, mayRead, "Component.Values")
	return q.Count()
}

// values copies the values of the entities that match to dst, which has room for all.
func (t *typeInfo) values(q *Query, dst []byte) {
	const op = "Component.Values"
	q.each(op, func(rows Rows) bool {
		dst = rows.copyRuns(t.bytes(rows, op), t.size, dst, false)
		return true
	})
}

// setValues is Component.SetValues of n values.
func (t *typeInfo) setValues(q *Query, src []byte, n int) error {
	const op = "Component.SetValues"
	q.demand(t, mayWrite, op)
	if count := q.Count(); count != n {
		// errors.md, Errors: `ecs: Component.SetValues: ... matches ... entities, there are ...
		// values` | The slice is as long as `Query.Count` says, or nothing is written. | Take the
		// length from `Values` of the same query, with no change in between.
		return fmt.Errorf("ecs: Component.SetValues: %v matches %d entities, there are %d values", q, count, n)
	}
	q.each(op, func(rows Rows) bool {
		t.bytes(rows, op)
		return true
	})
	q.each(op, func(rows Rows) bool {
		handle{t}.markMatching(rows)
		src = rows.copyRuns(t.bytes(rows, op), t.size, src, true)
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
func (q *Query) demand(t *typeInfo, access uint8, op string) {
	q.checkOpen(op)
	switch {
	case t == nil:
		t.world().refuse(op)
	case t.w != q.w:
		panic(fmt.Sprintf("ecs: %s: %s and the query belong to different worlds", op, t.name))
	case int(t.id) >= len(q.access) || q.access[t.id]&access == 0:
		q.refuseAccess(t, op)
	}
	t.checkLent(op, access)
}

// bytes is Component.ReadOnly without the Go type; it panics where the chunk lacks the component.
func (t *typeInfo) bytes(rows Rows, op string) []byte {
	p, ok := rows.placeOf(t, op)
	if !ok {
		// errors.md, Loops and rows: `ecs: ...: ... of ... has no ...` | `Values` or `SetValues` in
		// a chunk that lacks an optional type. | Ask for the type by `Read`.
		panic(fmt.Sprintf("ecs: %s: %v of %v has no %s", op, rows.s.t.a, rows.s.q, t.name))
	}
	at := unsafe.Add(rows.columnTo(t, p), rows.s.first*t.size)
	return unsafe.Slice((*byte)(at), rows.Len()*t.size) // Safe because the column has a value for each row, from the first on.
}
