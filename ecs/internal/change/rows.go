package change

import (
	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// Structural change. All rows of a world come, move and go here. The verbs below write rows,
// records and the books of chunks, and each calls one of three functions, or two where rows change
// worlds:
//
//	Create CreateN CreateHeld Repeat CopyTable    -> born   rows have come, for new entities
//	MoveOne send give Refit promote               -> moved  rows of entities are elsewhere
//	EndOne end                                    -> died   rows are about to go, with their entities
//	Receive                                       -> died in the other world, born here
//
// A change of many rows is a Tx (tx.go). Calls about one entity have no Tx: with an id and a row at
// hand they call the verbs Create, MoveOne and EndOne.
//
// Invariants, checked by Verify:
//
//	C1 Between two changes nothing is coming to a table, and no block is kept.
//	C2 Created - Destroyed is the number of rows of all tables (W4, checked by package ecs).

// Rows are the rows of a world as structural changes write them. They belong to the world's owner.
type Rows struct {
	Epoch     uint64 // structural changes so far; more than one for a change of many rows
	Created   uint64 // entities ever
	Destroyed uint64 // entities ever

	ids     *entity.Store
	tables  *table.Tables
	buffers *value.Buffers
	calls   Calls
	forget  func(ids []entity.ID) // see OnEnd
	tx      Tx                    // the one that is under way, or the last one
}

// Calls are the functions of the world that structural changes call, never for each row.
type Calls struct {
	TableAt func(index uint32) *table.Table // the table with an Index
	Trim    func() int                      // frees reserves, when ids are refused, and returns how many chunks
	Records func()                          // the records of ids may have moved
}

// Open makes zero Rows ready.
func (r *Rows) Open(ids *entity.Store, tables *table.Tables, buffers *value.Buffers, calls Calls) {
	*r = Rows{ids: ids, tables: tables, buffers: buffers, calls: calls}
	r.tx.rows = r
}

// OnEnd has forget called with entities that end, rows of a chunk at a time, while they are alive;
// not with those that go to another world, which Receive renames. A world that keeps nothing by
// entity has none.
func (r *Rows) OnEnd(forget func(ids []entity.ID)) { r.forget = forget }

// Become makes new Rows those of a world that is to be a copy of another: the same ids are in use.
// CopyTable brings the rows. An error is that of the store of ids.
func (r *Rows) Become(other *Rows) error {
	r.Created, r.Destroyed = other.Destroyed, other.Destroyed
	r.Epoch++
	return r.ids.Become(other.ids)
}

// The three functions that every structural change ends in: what is kept for rows beside their
// tables, as observers, marks of snapshots or bounds, is kept up here. Rows that leave a table
// leave a gap, which the table's last rows fill (Table.CloseGap): moved and died say what left, so
// they say that too.

// lastRow stands for the index of a table's last row, where one row has come.
const lastRow = -1

// born counts n entities whose rows, from index start on, have come to a table, with their ids. The
// caller may still have values to write: of Uninitialized columns, of buffers that have spilled,
// and of links.
func (r *Rows) born(t *table.Table, start, n int) {
	r.Created += uint64(n)
	r.Epoch++
}

// moved notes that n rows have come along a path, from a location on in its source to index start
// on in its target, which may be the same table. The caller may still have the columns to write
// that only the target has.
func (r *Rows) moved(path *table.Transition, at table.Location, start, n int) { r.Epoch++ }

// died counts entities of n rows, from a location on in one chunk of a table, that are there still
// and about to go.
func (r *Rows) died(t *table.Table, at table.Location, n int) {
	r.Destroyed += uint64(n)
	r.Epoch++
}

// One entity. There is room for an id and a row.

// Create makes an entity with a row of a table, all zero.
func (r *Rows) Create(t *table.Table) entity.ID {
	at := t.Store.Tail()
	e := r.ids.Take(t.Books.LastAt() + table.Location(at.Row))
	*table.IDAt(at) = e
	alloc.ClearRows(at, 1, t.Store.Columns())
	t.Store.Push(1)
	t.Books.MarkLast(r.tables.Version)
	for _, slot := range t.Books.Toggling() {
		t.Books.Bits(slot, t.Store.LastChunk()).Set(at.Row, true)
	}
	r.born(t, lastRow, 1)
	return e
}

// Copy makes an entity with a row that is a copy of one row, which path leads from. It copies
// columns and enable bits: the target has nothing that its rows own, and no column that the source
// lacks.
func (r *Rows) Copy(path *table.Transition, pos int, from alloc.StoreRow) entity.ID {
	t := path.To
	at := t.Store.Tail()
	e := r.ids.Take(t.Books.LastAt() + table.Location(at.Row))
	*table.IDAt(at) = e
	path.CopyRow(at, pos, from)
	t.Store.Push(1)
	t.Books.MarkLast(r.tables.Version)
	r.born(t, lastRow, 1)
	return e
}

// MoveOne moves an entity of a table, whose record and owner are given, along a path from there.
// The caller writes the columns that only the target has.
func (r *Rows) MoveOne(t *table.Table, path *table.Transition, e entity.ID, record *entity.Record, o table.Owner) {
	at := record.Location
	t.MoveOne(path, e, record, o)
	r.moved(path, at, lastRow, 1)
}

// EndOne ends an entity of a table, whose record and owner are given.
func (r *Rows) EndOne(t *table.Table, e entity.ID, record *entity.Record, o table.Owner) {
	if r.forget != nil {
		r.forgetRows(record.Location, 1)
	}
	r.died(t, record.Location, 1)
	t.MoveOne(nil, e, record, o)
	r.ids.Give(e, record)
}

// forgetRows tells the world that the entities of n rows of a chunk end.
func (r *Rows) forgetRows(l table.Location, n int) {
	at := r.tables.OwnerOf(l).RowAt(l)
	r.forget(table.IDs(at.Base, at.Row+n)[at.Row:])
}

// Many rows. There is room for them, and for the ids that come.

// CreateN makes n entities with rows of a table, all zero but for the columns of unset.
func (r *Rows) CreateN(t *table.Table, n int, unset *table.Signature) Span {
	start := t.Store.Len()
	for left := n; left > 0; {
		b := t.Tail(left)
		r.ids.TakeRows(b.Loc, b.IDs)
		clearBut(t, unset, b.At, len(b.IDs))
		r.fresh(t, b)
		left -= len(b.IDs)
	}
	r.born(t, start, n)
	return Span{t, start, n}
}

// CreateHeld makes entities of ids that the store holds, in the order of ids, with rows of a table,
// all zero. RoomHeld has made room.
func (r *Rows) CreateHeld(t *table.Table, ids []entity.ID) Span {
	r.ids.Revive(ids)
	start, n := t.Store.Len(), len(ids)
	for len(ids) > 0 {
		b := t.Tail(len(ids))
		copy(b.IDs, ids)
		r.ids.MoveRows(b.IDs, b.Loc)
		alloc.ClearRows(b.At, len(b.IDs), t.Store.Columns())
		r.fresh(t, b)
		ids = ids[len(b.IDs):]
	}
	r.born(t, start, n)
	return Span{t, start, n}
}

// fresh adds a run of new rows to their table, with its types enabled.
func (r *Rows) fresh(t *table.Table, b table.Run) {
	t.Push(b)
	t.Books.EnableRows(b.Pos, b.At.Row, len(b.IDs))
}

// clearBut zeroes n rows in all columns but those of a set.
func clearBut(t *table.Table, set *table.Signature, at alloc.StoreRow, n int) {
	columns := t.Store.Columns()
	for i := range columns {
		if !set.Has(table.TypeID(columns[i].Key)) {
			alloc.ClearRows(at, n, columns[i:i+1])
		}
	}
}

// Repeat makes n entities with rows that are copies of one row, which path leads from, and appends
// their ids. Managed values are copied; buffers that have spilled have the headers of the row
// still, for the caller to replace.
func (r *Rows) Repeat(path *table.Transition, pos, row, n int, ids []entity.ID) ([]entity.ID, Span) {
	t := path.To
	start := t.Store.Len()
	for left := n; left > 0; {
		b := t.Tail(left)
		path.Repeat(b, pos, row)
		r.ids.TakeRows(b.Loc, b.IDs)
		ids = append(ids, b.IDs...)
		for _, c := range t.Managed() {
			r.tables.Managed(table.TypeID(c.Key)).Clone(value.SlotsAt(b.At, c, len(b.IDs)))
		}
		t.Push(b)
		left -= len(b.IDs)
	}
	r.born(t, start, n)
	return ids, Span{t, start, n}
}

// send moves n rows of a chunk along a path. The rows stay behind, void, for the caller to remove.
func (r *Rows) send(path *table.Transition, pos, row, n int) Span {
	start := path.To.Store.Len()
	path.Send(pos, row, n)
	r.moved(path, path.From.At(pos, row), start, n)
	return Span{path.To, start, n}
}

// give hands the first chunks of a path's source over to its target.
func (r *Rows) give(path *table.Transition, chunks int) Span {
	at := path.From.At(0, 0)
	start, n := path.Give(chunks, nil)
	r.moved(path, at, start, n)
	return Span{path.To, start, n}
}

// end ends the entities of n rows of a chunk and what the rows own. The rows stay behind, void, for
// the caller to remove.
func (r *Rows) end(t *table.Table, pos, row, n int) {
	at, l := t.Store.Row(pos, row), t.At(pos, row)
	if r.forget != nil {
		r.forgetRows(l, n)
	}
	r.died(t, l, n)
	t.Release(at, n)
	r.ids.GiveRows(table.IDs(at.Base, row+n)[row:])
}

// Refit moves the rows of the last chunk of a table to a smaller chunk when they fit one, and frees
// the reserve.
func (r *Rows) Refit(t *table.Table) {
	if t.Store.Len() == 0 {
		t.Refit()
		return
	}
	last, at := t.Store.Chunks()[t.Store.LastChunk()], t.Books.LastAt()
	t.Refit()
	if now := t.Store.Chunks()[t.Store.LastChunk()]; now.First != last.First {
		r.moved(&table.Transition{From: t, To: t}, at, last.Start, t.Store.Len()-last.Start)
	}
}

// promote ends the outgrown chunk of a table that has made room for more.
func (r *Rows) promote(t *table.Table) {
	if pos, outgrown := t.Store.Leaving(); outgrown {
		start, at, n := t.Store.Chunks()[pos].Start, t.At(pos, 0), t.Store.RowsOf(pos)
		t.Promote()
		r.moved(&table.Transition{From: t, To: t}, at, start, n)
	}
}
