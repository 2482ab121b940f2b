package change

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/store"
)

// Rows from another world: they die in its Writer and are born here.

// PlanToWorld decides how a part's rows come from another world along a transition of
// table.ToWorld, and counts the rows that need room. It returns the number of chunks that change
// hands: full ones, or all if no other rows come and the target has none. Then the target needs no
// memory.
func (tx *Tx) PlanToWorld(p *Part, transition *table.Transition) (chunks int) {
	if p.Whole && transition.To.Len() == 0 && !transition.MovesChunks && transition.FitsSourceLayout() {
		transition.UseSourceLayout()
	}
	to := tx.aim(transition.To)
	if p.Whole && transition.MovesChunks && !p.Table.IsKept() {
		chunks = p.Table.FullChunks()
		if !p.Table.Store.HasSmall() && transition.To.Len() == 0 && to.sources == 1 {
			chunks = len(p.Table.Store.Chunks())
		}
	}
	switch {
	case chunks == 0:
		to.rowsToCome += p.Rows
		return 0
	case chunks == p.Table.FullChunks():
		to.rowsToCome += p.Table.PartFull()
	}
	to.fullChunksCome = true
	return chunks
}

// Receive moves a part's rows here from the Writer of another world. The first chunks of the
// part's table change hands; other rows are copied. It calls renamed, never per row, with the old
// ids of entities and their ids here.
func (r *Writer) Receive(from *Writer, p *Part, transition *table.Transition, chunks int, renamed func(old,
	to []entity.ID)) {
	tx := &r.tx
	arrive := func(b table.Run) {
		r.moveManaged(from, transition, b)
		r.rename(from, b, renamed)
	}
	if chunks > 0 {
		for pos := range chunks {
			from.died(p.Table, p.Table.At(pos, 0), p.Table.Store.RowsOf(pos))
		}
		start, n := transition.MoveChunks(chunks, arrive)
		r.born(transition.To, start, n)
		tx.Note(TableRange{transition.To, start, n})
	}
	runs := p.Backward()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		start := transition.To.Store.Len()
		from.died(p.Table, p.Table.At(pos, row), n)
		transition.Copy(pos, row, n, func(b table.Run, _ store.Row) {
			if p.Whole { // its chunks come as chunks, cut otherwise
				transition.Inherit(b, pos)
			}
			arrive(b)
		})
		p.takeOut(pos, row, n)
		r.born(transition.To, start, n)
		tx.Note(TableRange{transition.To, start, n})
	}
}

// moveManaged gives slots of this world to the managed values of rows that have come.
func (r *Writer) moveManaged(from *Writer, transition *table.Transition, b table.Run) {
	for _, c := range transition.To.Managed() {
		old := from.tables.Managed(transition.Number(table.TypeID(c.Key)))
		r.tables.Managed(table.TypeID(c.Key)).Move(old, value.SlotsAt(b.At, c, len(b.IDs)))
	}
}

// rename ends the entities of new rows in the other world, and gives the rows new entities here.
func (r *Writer) rename(from *Writer, b table.Run, renamed func(old, to []entity.ID)) {
	if r.old == nil {
		r.old = new([256]entity.ID)
	}
	old := r.old
	for ids, at := b.IDs, b.Loc; len(ids) > 0; {
		n := copy(old[:], ids)
		r.ids.TakeRows(at, ids[:n])
		renamed(old[:n], ids[:n])
		from.ids.FreeIDs(old[:n])
		ids, at = ids[n:], at+table.Location(n)
	}
}

// CopyTable fills an empty table with copies of all rows of a table in another world, of which this
// world is to become a copy. Entities keep their indices and get tag. CopyTable calls copied with
// each run of rows. The error is from the universe; then no row has come.
func (r *Writer) CopyTable(transition *table.Transition, tag entity.Tag, copied func(b table.Run)) error {
	from := transition.From
	if err := transition.To.MakeRoom(from.Len(), false); err != nil {
		return err
	}
	for pos := range from.Store.Chunks() {
		transition.Copy(pos, 0, from.Store.RowsOf(pos), func(b table.Run, _ store.Row) {
			transition.Inherit(b, pos)
			for i := range b.IDs {
				b.IDs[i] = b.IDs[i].In(tag)
			}
			r.ids.MoveRows(b.IDs, b.Loc)
			copied(b)
		})
	}
	r.born(transition.To, 0, from.Len())
	return nil
}
