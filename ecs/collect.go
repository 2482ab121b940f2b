package ecs

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
)

// Query results as a number, an entity or a slice, in the order of Query.Rows. Changed and Ordered
// terms compare with Since, which does not advance.

// ErrNotSingle is wrapped by the error of Query.Single if not exactly one entity matches.
var ErrNotSingle = errors.New("not exactly one entity")

// Count returns the number of entities that match. Cost: per archetype; per chunk if enable bits or
// versions decide; per row if sparse types or Masked terms do.
func (q *Query) Count() int { return q.inner().Count() }

// Matches reports whether a loop over q would now yield e as a matching row.
func (q *Query) Matches(e Entity) bool {
	q.inner().CheckOpen("Query.Matches")
	if len(q.core.World.Loops.Borrows) > 0 {
		q.inner().CheckLent("Query.Matches", true)
	}
	r := q.core.World.RecordOf("Query.Matches", entity.ID(e))
	if r == nil {
		return false
	}
	a, pos, at := q.core.World.RowOf(r)
	if !q.core.Matching.Wants(&a.Table) || q.inner().Skims(q.core.Since) && !q.inner().Passes(nil, a, pos, 0, a.Table.Store.RowsOf(pos), q.core.Since) {
		return false
	}
	if q.core.Masked && (!q.inner().InRanges(a, pos, at.Row) || q.inner().Narrows(a, pos, q.core.Since) && !q.inner().IsNewRow(a, pos, at.Row, q.core.Since)) {
		return false
	}
	for _, t := range q.core.Matching.TestsOf(&a.Table) {
		if !slices.ContainsFunc(t.Slots, func(slot uint16) bool { return a.Table.Books.Bits(slot, pos).Has(at.Row) != (t.Invert != 0) }) {
			return false
		}
	}
	for i := range q.core.Sets {
		if !q.core.Sets[i].Passes(a, pos, at.Row, entity.ID(e)) {
			return false
		}
	}
	return true
}

// Empty reports whether no entity matches. It stops at the first match.
func (q *Query) Empty() bool {
	empty := true
	q.inner().Each("Query.Empty", coreYield(func(Rows) bool {
		empty = false
		return false
	}))
	return empty
}

// Single returns the only entity that matches. If not exactly one entity matches, it returns an
// error that wraps ErrNotSingle and gives the number of matches.
func (q *Query) Single() (Entity, error) {
	var e Entity
	n := 0
	q.inner().Each("Query.Single", func(rows query.Rows) bool {
		if n == 0 {
			e = Entity(rows.Entities()[Rows{rows}.core.First()])
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
	q.inner().Each("Query.At", func(rows query.Rows) bool {
		if n := rows.Count(); left >= n {
			left -= n
			return true
		}
		for row := range eachBit(rows.Mask()) {
			if found = left == 0; found {
				e = Entity(rows.Entities()[row])
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
	q.inner().Each("Query.Entities", func(rows query.Rows) bool {
		dst = entitiesOf(Rows{rows}.core.AppendEntities(idsOf(dst)))
		return true
	})
	return dst
}

// Values appends to dst the component of every entity that matches q. It panics if q does not
// declare the component, and for a chunk without it (Optional, Any).
func (c Component[T]) Values(q *Query, dst []T) []T {
	n := query.Count(c.t, q.inner())
	dst = slices.Grow(dst, n)
	query.CopyValues(c.t, q.inner(), bytesOf(dst[len(dst):len(dst)+n]))
	return dst[:len(dst)+n]
}

// SetValues writes src to the components of the entities that match q, one value per entity, in the
// order of Values. If the number of entities is not len(src), SetValues writes nothing and returns
// an error with both numbers. It panics if q does not declare the component with Write, for a chunk
// without it, and while the world is shared.
func (c Component[T]) SetValues(q *Query, src []T) error {
	return query.SetValues(c.t, q.inner(), bytesOf(src), len(src))
}

// bytesOf views values as bytes, so that what copies them is there once for all types.
func bytesOf[T any](values []T) []byte {
	var v T
	// Safe because the values lie one behind the other and hold no Go pointers.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}
