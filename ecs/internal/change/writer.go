package change

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/store"
)

// Structural change. All rows of a world come, move and go here. The functions below write rows,
// records and the metadata of chunks, and call three others:
//
//	Create Copy CreateN CreateHeld Repeat CopyTable   -> born   rows have come, for new entities
//	MoveOne Swap send moveChunks Refit promote        -> moved  rows of entities are elsewhere
//	EndOne end                                        -> died   rows are about to go, with their entities
//	Receive                                           -> died in the other world, born here
//	Rebuild                                           -> all three
//
// A change of many rows is a Tx (tx.go). Calls about one entity need no Tx: once there is room for
// an id and a row, they call Create, MoveOne and EndOne.
//
// Invariants, checked by Verify:
//
//	C1 Between two changes no rows are coming to a table, and no block is kept.
//	C2 Created - Destroyed is the number of rows of all tables (W4, checked by package world).

// Writer writes the rows of a world for structural changes. It belongs to the world's owner.
type Writer struct {
	Epoch     uint64 // number of structural changes; a change of many rows may count more than once
	Created   uint64 // entities ever
	Destroyed uint64 // entities ever

	ids           *entity.Store
	tables        *table.Tables
	buffers       *value.Buffers
	calls         Calls
	forget        func(ids []entity.ID) // see OnEnd
	destroy       func(ids []entity.ID) // see OnDestroy
	cleanupEntity table.TypeID          // the type that entities get which are destroyed and stay, for destroy
	tx            Tx                    // under way, or the last one
	old           *[256]entity.ID       // scratch of rename; nil: no rows came from another world yet
}

// Calls are the functions of the world that structural changes call. None is called per row.
type Calls struct {
	TableAt func(index uint32) *table.Table // the table with an Index
	// Called when ids are refused: frees reserves and returns the number of chunks.
	Trim    func() int
	Records func() // the records of ids may have moved
}

// Open initializes a zero Writer.
func (r *Writer) Open(ids *entity.Store, tables *table.Tables, buffers *value.Buffers, calls Calls) {
	*r = Writer{ids: ids, tables: tables, buffers: buffers, calls: calls}
	r.tx.writer = r
}

// OnEnd sets the function that is called with entities that end, while they are still alive, for
// rows of one chunk at a time. It is not called for entities that go to another world, which
// Receive renames, nor for those that Rebuild ends. A world that keeps nothing by entity sets none.
func (r *Writer) OnEnd(forget func(ids []entity.ID)) { r.forget = forget }

// OnDestroy sets the function that is called with entities that get a type: the tag of those that
// are destroyed and do not end yet. It is called for rows of one chunk at a time, when they have
// moved.
func (r *Writer) OnDestroy(cleanupEntity table.TypeID, destroyed func(ids []entity.ID)) {
	r.cleanupEntity, r.destroy = cleanupEntity, destroyed
}

// CopyFrom prepares a new Writer for a world that is to be a copy of another: the same ids are in
// use. CopyTable then copies the rows. The error is from the store of ids.
func (r *Writer) CopyFrom(other *Writer) error {
	r.Created, r.Destroyed = other.Destroyed, other.Destroyed
	r.Epoch++
	return r.ids.CopyFrom(other.ids)
}

// Every structural change ends in one of three functions, which count entities and changes, and
// report those that are destroyed and stay (OnDestroy).

// lastRow stands for the index of a table's last row, if one row has come.
const lastRow = -1

// born counts n new entities whose rows, starting with index start, have come to a table, with
// their ids. The caller may still have to write values: Uninitialized columns, spilled buffers, and
// links.
func (r *Writer) born(t *table.Table, start, n int) {
	r.Created += uint64(n)
	r.Epoch++
}

// moved notes that n rows have moved along a transition, from location at in its source to index
// start in its target, which may be the same table. The caller may still have to write the columns
// that only the target has.
func (r *Writer) moved(transition *table.Transition, at table.Location, start, n int) {
	r.Epoch++
	if r.destroy != nil {
		r.tellDestroyed(transition, start, n)
	}
}

// tellDestroyed calls destroy for n rows of a transition's target, from index start on, if it leads
// to the tag of destroyed entities; start may be lastRow.
func (r *Writer) tellDestroyed(transition *table.Transition, start, n int) {
	t := transition.To
	if !t.Sig.Has(r.cleanupEntity) || transition.From.Sig.Has(r.cleanupEntity) {
		return
	}
	if start == lastRow {
		start = t.Len() - 1
	}
	for pos, row := t.Store.Find(start); n > 0; pos, row = pos+1, 0 {
		k := min(n, t.Store.RowsOf(pos)-row)
		r.destroy(table.IDs(t.Store.Row(pos, 0).Base, row+k)[row:])
		n -= k
	}
}

// died counts the entities of n rows, starting with a location in one chunk of a table. The rows
// still exist and are about to go.
func (r *Writer) died(t *table.Table, at table.Location, n int) {
	r.Destroyed += uint64(n)
	r.Epoch++
}

// One entity. The caller has made room for an id and a row.

// Create makes an entity with a zero row of a table.
func (r *Writer) Create(t *table.Table) entity.ID {
	if r.tables.Past() != nil {
		r.keepBirth(t)
	}
	at := t.Store.Tail()
	e := r.ids.Take(t.Metadata.LastAt() + table.Location(at.Row))
	*table.IDAt(at) = e
	store.ClearRows(at, 1, t.Store.Columns())
	t.Store.Push(1)
	t.Metadata.MarkLast(at.Row, r.tables.Version)
	for _, slot := range t.Metadata.Toggling() {
		t.Metadata.Bits(slot, t.Store.LastChunk()).Set(at.Row, true)
	}
	r.born(t, lastRow, 1)
	return e
}

// Copy makes an entity whose row is a copy of one row, which transition leads from. It copies
// columns and enable bits. The target's rows must own nothing, and it must have no column that the
// source lacks.
func (r *Writer) Copy(transition *table.Transition, pos int, from store.Row) entity.ID {
	t := transition.To
	if r.tables.Past() != nil {
		r.keepBirth(t)
	}
	at := t.Store.Tail()
	e := r.ids.Take(t.Metadata.LastAt() + table.Location(at.Row))
	*table.IDAt(at) = e
	transition.CopyRow(at, pos, from)
	t.Store.Push(1)
	t.Metadata.MarkLast(at.Row, r.tables.Version)
	r.born(t, lastRow, 1)
	return e
}

// MoveOne moves entity e of table t along a transition from t. record is e's, and o says which
// table and chunk hold its row. The caller writes the columns that only the target has.
func (r *Writer) MoveOne(t *table.Table, transition *table.Transition, e entity.ID, record *entity.Record,
	o table.Owner) {
	at := record.Location
	if r.tables.Past() != nil {
		transition.To.KeepTail()
		r.keepLeave(t, e, o.RowAt(at))
	}
	t.MoveOne(transition, e, record, o)
	r.moved(transition, at, lastRow, 1)
}

// Swap exchanges the rows of entities a and b of table t, so each has the other's values and enable
// bits. The records are theirs.
func (r *Writer) Swap(t *table.Table, a, b entity.ID, of, with *entity.Record) {
	at, to := of.Location, with.Location
	if r.tables.Past() != nil {
		r.ids.Keep(a)
		r.ids.Keep(b)
	}
	r.assignRow(t, a, to, at)
	r.assignRow(t, b, at, to)
	of.Location, with.Location = to, at
}

// assignRow gives a row, at location to of the table, to entity e, which was at location from.
func (r *Writer) assignRow(t *table.Table, e entity.ID, to, from table.Location) {
	o := r.tables.OwnerOf(to)
	row := o.RowAt(to)
	t.KeepRows(o.Pos(), row.Row, 1)
	*table.IDAt(row) = e
	t.Metadata.Mark(o.Pos(), row.Row, 1, r.tables.Version)
	r.moved(&table.Transition{From: t, To: t}, from, t.Store.Chunks()[o.Pos()].Start+row.Row, 1)
}

// EndOne ends entity e of table t. record is e's, and o says which table and chunk hold its row.
func (r *Writer) EndOne(t *table.Table, e entity.ID, record *entity.Record, o table.Owner) {
	if r.forget != nil {
		r.forgetRows(record.Location, 1)
	}
	if r.tables.Past() != nil {
		r.keepLeave(t, e, o.RowAt(record.Location))
	}
	r.died(t, record.Location, 1)
	t.MoveOne(nil, e, record, o)
	r.ids.FreeID(e, record)
}

// forgetRows reports to the world that the entities of n rows of a chunk end.
func (r *Writer) forgetRows(l table.Location, n int) {
	at := r.tables.OwnerOf(l).RowAt(l)
	r.forget(table.IDs(at.Base, at.Row+n)[at.Row:])
}

// While snapshots are alive, what calls about one entity write is kept first: keepBirth what Create
// and Copy write, keepLeave what MoveOne and EndOne write in the source. Calls about many rows have
// what they write kept by the functions of package table and of the store of ids.

//go:noinline
func (r *Writer) keepBirth(t *table.Table) {
	t.KeepTail()
	r.ids.KeepNext()
}

//go:noinline
func (r *Writer) keepLeave(t *table.Table, e entity.ID, at store.Row) {
	r.ids.Keep(e)
	t.KeepLeave(at)
}

// Many rows. The caller has made room for them, and for new ids.

// CreateN makes n entities with rows of a table, zero except for the columns in unset.
func (r *Writer) CreateN(t *table.Table, n int, unset *table.Signature) TableRange {
	start := t.Store.Len()
	for left := n; left > 0; {
		b := t.Tail(left)
		r.ids.TakeRows(b.Loc, b.IDs)
		clearBut(t, unset, b.At, len(b.IDs))
		r.fresh(t, b)
		left -= len(b.IDs)
	}
	r.born(t, start, n)
	return TableRange{t, start, n}
}

// CreateHeld makes entities with ids that the store holds, in the order of ids, with zero rows of a
// table. RoomHeld has made room.
func (r *Writer) CreateHeld(t *table.Table, ids []entity.ID) TableRange {
	r.ids.Revive(ids)
	start, n := t.Store.Len(), len(ids)
	for len(ids) > 0 {
		b := t.Tail(len(ids))
		copy(b.IDs, ids)
		r.ids.MoveRows(b.IDs, b.Loc)
		store.ClearRows(b.At, len(b.IDs), t.Store.Columns())
		r.fresh(t, b)
		ids = ids[len(b.IDs):]
	}
	r.born(t, start, n)
	return TableRange{t, start, n}
}

// fresh adds a run of new rows to its table, with all types enabled.
func (r *Writer) fresh(t *table.Table, b table.Run) {
	t.Push(b)
	t.Metadata.EnableRows(b.Pos, b.At.Row, len(b.IDs))
}

// clearBut zeroes n rows in all columns except those in a set.
func clearBut(t *table.Table, set *table.Signature, at store.Row, n int) {
	columns := t.Store.Columns()
	for i := range columns {
		if !set.Has(table.TypeID(columns[i].Key)) {
			store.ClearRows(at, n, columns[i:i+1])
		}
	}
}

// Repeat makes n entities whose rows are copies of one row, which transition leads from, and
// appends their ids. It copies managed values. Spilled buffers still have the headers of the source
// row, which the caller must replace.
func (r *Writer) Repeat(transition *table.Transition, pos, row, n int, ids []entity.ID) ([]entity.ID, TableRange) {
	t := transition.To
	start := t.Store.Len()
	for left := n; left > 0; {
		b := t.Tail(left)
		transition.Repeat(b, pos, row)
		r.ids.TakeRows(b.Loc, b.IDs)
		ids = append(ids, b.IDs...)
		for _, c := range t.Managed() {
			r.tables.Managed(table.TypeID(c.Key)).Clone(value.SlotsAt(b.At, c, len(b.IDs)))
		}
		t.Push(b)
		left -= len(b.IDs)
	}
	r.born(t, start, n)
	return ids, TableRange{t, start, n}
}

// send moves n rows of a chunk along a transition. The source's rows remain counted, with contents
// that nobody may read, until the caller removes them.
func (r *Writer) send(transition *table.Transition, pos, row, n int) TableRange {
	start := transition.To.Store.Len()
	transition.Send(pos, row, n)
	return r.sent(transition, pos, row, start, n)
}

// sendChunk is send for all rows of a chunk that goes to the target as a chunk, with its values.
func (r *Writer) sendChunk(transition *table.Transition, pos int) TableRange {
	start, n := transition.To.Store.Len(), transition.From.Store.RowsOf(pos)
	transition.SendChunk(pos)
	return r.sent(transition, pos, 0, start, n)
}

func (r *Writer) sent(transition *table.Transition, pos, row, start, n int) TableRange {
	r.moved(transition, transition.From.At(pos, row), start, n)
	return TableRange{transition.To, start, n}
}

// moveChunks hands the first chunks of a transition's source to its target.
func (r *Writer) moveChunks(transition *table.Transition, chunks int) TableRange {
	at := transition.From.At(0, 0)
	start, n := transition.MoveChunks(chunks, nil)
	r.moved(transition, at, start, n)
	return TableRange{transition.To, start, n}
}

// end ends the entities of n rows of a chunk, and what the rows own. The rows stay, void, until the
// caller removes them.
func (r *Writer) end(t *table.Table, pos, row, n int) {
	at, l := t.Store.Row(pos, row), t.At(pos, row)
	if r.forget != nil {
		r.forgetRows(l, n)
	}
	r.died(t, l, n)
	t.Release(at, n)
	r.ids.FreeIDs(table.IDs(at.Base, row+n)[row:])
}

// Refit moves the rows of a table's last chunk to a smaller chunk if they fit one, and frees the
// reserve.
func (r *Writer) Refit(t *table.Table) {
	if t.Store.Len() == 0 {
		t.Refit()
		return
	}
	last, at := t.Store.Chunks()[t.Store.LastChunk()], t.Metadata.LastAt()
	t.Refit()
	if now := t.Store.Chunks()[t.Store.LastChunk()]; now.First != last.First {
		r.moved(&table.Transition{From: t, To: t}, at, last.Start, t.Store.Len()-last.Start)
	}
}

// promote ends the outgrown chunk of a table that has made more room.
func (r *Writer) promote(t *table.Table) {
	if pos, outgrown := t.Store.Leaving(); outgrown {
		start, at, n := t.Store.Chunks()[pos].Start, t.At(pos, 0), t.Store.RowsOf(pos)
		t.Promote()
		r.moved(&table.Transition{From: t, To: t}, at, start, n)
	}
}
