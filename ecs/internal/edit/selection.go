package edit

import (
	"fmt"

	"quarry/bitmask"
	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Selecting the rows for a change by query or by list: which rows. change.Selection keeps them.

// CheckQuery panics for a query that cannot be used in the world.
func CheckQuery(w *world.World, op string, q *query.Query) {
	switch {
	case q == nil:
		panic("ecs: " + op + ": the query is nil; queries come from NewQuery")
	case q.World == nil:
		panic("ecs: " + op + ": the query is the zero value; queries come from NewQuery")
	case q.World != w:
		panic(fmt.Sprintf("ecs: %s: %v belongs to another world", op, q))
	}
	q.CheckOpen(op)
}

// selectAll begins a transaction of all rows.
func selectAll(w *world.World) *change.Tx {
	tx := w.Writer.Begin()
	for _, a := range w.Archetypes.List {
		tx.AddWhole(&a.Table.Table)
	}
	return tx
}

// SelectRows begins a transaction of the rows that match the query, for the call op.
func SelectRows(q *query.Query, op string) *change.Tx {
	q.CheckExact(op)
	tx := q.World.Writer.Begin()
	filters := q.MaySkipChunks(q.Since)
	for i := range q.Matching.Matches {
		m := &q.Matching.Matches[i]
		a := world.ArchetypeOfMatch(m.Entry)
		if !filters && len(m.Tests) == 0 && len(q.Sets) == 0 {
			tx.AddWhole(&a.Table.Table)
			continue
		}
		if a.Table.Store.Len() == 0 {
			continue
		}
		p := tx.Add(&a.Table.Table)
		tx.AddMask(p)
		p.Rows = maskRows(q, m.Tests, a, p, filters)
		if p.Whole = p.Rows == a.Table.Store.Len(); p.Rows == 0 {
			tx.DropLast()
		}
	}
	return tx
}

// maskRows fills the masks of an archetype's chunks and returns the number of matching rows. With
// filters it skips chunks that do not pass by their versions and bounds.
func maskRows(q *query.Query, tests []match.BitTest, a *world.Archetype, p *change.Part, filters bool) (rows int) {
	scan := query.OpenScan(q.World, q)
	defer scan.End()
	scan.Since = q.Since
	for pos := range a.Table.Store.Chunks() {
		n := a.Table.Store.RowsOf(pos)
		if filters && !q.ChunkPasses(nil, a, pos, 0, n, q.Since) {
			continue
		}
		switch matching := scan.Match(a, tests, pos, 0, n); matching {
		case 0:
		case n:
			bitmask.Bits(p.Mask(pos)).SetRange(0, n)
			rows += n
		default:
			copy(p.Mask(pos), scan.Mask)
			rows += matching
		}
	}
	return rows
}

// SelectList begins a transaction over the rows of a list's entities. Dead entities are skipped, or
// panic if alive is set.
func SelectList(w *world.World, op string, list []entity.ID, alive bool) *change.Tx {
	tx := w.Writer.Begin()
	if i := w.Writer.SelectList(&tx.Selection, list, alive); i >= 0 {
		refuseListed(w, op, i, list[i])
	}
	return tx
}

// refuseListed panics for an entity of a list that belongs to another world, or that is dead but
// must be alive.
//
//go:noinline
func refuseListed(w *world.World, op string, i int, e entity.ID) {
	if e.IsPlaceholder() {
		panic(
			fmt.Sprintf("ecs: %s: entity %d of the list is %v, which names an entity in its command buffer only; nothing was changed",
				op, i, e))
	}
	if e != world.Null && e.Tag() != w.IDs.Tag() {
		panic(fmt.Sprintf("ecs: %s: entity %d of the list, %v, belongs to another world; nothing was changed",
			op, i, e))
	}
	panic(fmt.Sprintf("ecs: %s: entity %d of the list, %v, is not alive; nothing was changed", op, i, e))
}
