package ecs

import (
	"errors"
	"iter"

	"quarry/bitmask"
	"quarry/ecs/internal/entity"
)

// Deltas. A delta is what leads from an older state of a world to a newer one:
//
//	ids       versions that differ, the lease, blocks               entity.Difference
//	tables    of each archetype that differs:
//	            rows       where each newer row was:                0..99 of itself, 7 of table 2, new
//	            columns    bytes that differ from those rows        runs, see deltaruns.go
//	            flips      enable bits that differ
//	            buffers    elements that differ
//	            chunks     values of chunk types, all if any differs
//	sparse    entries that differ, by their place in the set
//	names     of each text whose entities differ, all entities
//
// So rows that moved are not in a delta, only where they come from, and an archetype in which
// nothing differs is not named. What is replaced has a checksum, so a delta fits only where the
// bytes are those of the older state.

// errors.md, Errors: `ErrDelta` | `ApplyDelta` was given what is no delta, one that is damaged, of
// another format, or of another state than the world's; or `Diff` met values that cannot be
// written. The text says which. The world is as before. | Send the state whole, or the deltas in
// order; register the types that the text names.

// ErrDelta is wrapped by the errors of deltas that do not fit, and of worlds that cannot be
// compared.
var ErrDelta = errors.New("delta refused")

// Delta is what differs between two states of a world. It reads both when it is walked, so walks
// panic once one of the snapshots is closed or renewed. A Delta is not changed by walking, and its
// bytes, which EncodeDelta writes without the snapshots, are those of the moment at which it was
// made.
type Delta struct {
	older, newer *World // nil in a delta that was read

	tag        entity.Tag
	types      []deltaType
	created    [2]uint64 // entities ever, in the older and the newer state
	destroyed  [2]uint64
	ids        *entity.Difference
	tables     []deltaTable
	untouched  int // archetypes with rows that are not in tables
	sparse     []deltaSparse
	names      []deltaName
	namedCount [2]int
}

// deltaTable is an archetype that differs.
type deltaTable struct {
	types   []int // in Delta.types
	values  [][]byte
	was, is int    // rows
	idSum   uint32 // of the entities of the older rows
	skip    int    // archetypes with rows in neither table that lie between the table before and this one
	rows    []deltaRun
	ids     []entity.ID // of new rows, in order
	columns []deltaColumn
	flips   []deltaBits
	buffers []deltaBuffers
	chunks  []deltaChunks

	a, old *Archetype // in the newer and the older world; nil where there is none
}

// deltaRun is rows of a table: those that were rows of a table, or new ones.
type deltaRun struct {
	from   int // in Delta.tables; newRows: they are of new entities
	row, n int
}

const newRows = -1

// The parts of a deltaTable, each of a type in Delta.types.
type (
	deltaColumn struct {
		of int
		deltaRuns
	}
	deltaBits struct {
		of int
		deltaFlips
	}
	deltaBuffers struct {
		of    int
		sum   uint32 // of the old elements of the rows that differ
		edits []byte // see editsWriter
	}
	deltaChunks struct {
		of     int
		rows   []int  // of each chunk of the newer table
		values []byte // of each, one after the other
	}
)

// deltaSparse is what differs in the set of a sparse type.
type deltaSparse struct {
	of      int
	was, is int       // entries
	ids     deltaRuns // of the entities, 8 bytes each
	values  deltaRuns
	flips   deltaFlips
}

// deltaName is a text and the entities that it names, from the one that was named first to the one
// that was named last.
type deltaName struct {
	text string
	was  []entity.ID
	is   []entity.ID
}

// IsEmpty reports whether the two states are the same.
func (d *Delta) IsEmpty() bool {
	return len(d.tables) == 0 && len(d.ids.Steps) == 0 && d.ids.From == d.ids.To && len(d.ids.Promised) == 0 &&
		len(d.sparse) == 0 && len(d.names) == 0 && d.created[0] == d.created[1] && d.destroyed[0] == d.destroyed[1]
}

// checkWalk panics unless there are worlds to walk.
func (d *Delta) checkWalk(op string) {
	if d == nil || d.newer == nil || d.newer.closed || d.older.closed {
		// errors.md, Snapshots: `the delta is the zero value, or one of its snapshots is closed` |
		// A walk of a delta after `Close` or `Renew` of a snapshot of which `Diff` made it. | Walk
		// it first; `EncodeDelta` does not need the snapshots.
		panic("ecs: " + op + ": the delta is the zero value, or one of its snapshots is closed")
	}
}

// Born yields the entities that are alive in the newer state only, in order of archetypes and rows.
func (d *Delta) Born() iter.Seq[Entity] {
	d.checkWalk("Delta.Born")
	return func(yield func(Entity) bool) {
		for i := range d.tables {
			for _, e := range d.tables[i].ids {
				if !yield(Entity(e)) {
					return
				}
			}
		}
	}
}

// Died yields the entities that are alive in the older state only, in order of archetypes and rows.
func (d *Delta) Died() iter.Seq[Entity] {
	d.checkWalk("Delta.Died")
	return func(yield func(Entity) bool) {
		for i := range d.tables {
			old := d.tables[i].old
			if old == nil {
				continue
			}
			for pos := range old.table.Store.Chunks() {
				for _, e := range entities(old.table.Store.Row(pos, 0).Base, old.table.Store.RowsOf(pos)) {
					if d.newer.find(e) == nil && !yield(e) {
						return
					}
				}
			}
		}
	}
}

// Moved yields the entities that are alive in both states and have other types or shared values in
// the newer one, with both archetypes: Archetype.Components tells which types came and went.
func (d *Delta) Moved() iter.Seq2[Entity, [2]*Archetype] {
	d.checkWalk("Delta.Moved")
	return func(yield func(Entity, [2]*Archetype) bool) {
		for i := range d.tables {
			t, at := &d.tables[i], 0
			for _, r := range t.rows {
				if r.from >= 0 && r.from != i {
					for row := at; row < at+r.n; row++ {
						if !yield(t.a.entityAt(row), [2]*Archetype{d.tables[r.from].old, t.a}) {
							return
						}
					}
				}
				at += r.n
			}
		}
	}
}

// entityAt returns the entity of a row by its index in the archetype.
func (a *Archetype) entityAt(index int) Entity {
	pos, row := a.table.Store.Find(index)
	return entities(a.table.Store.Row(pos, 0).Base, row+1)[row]
}

// Changed yields each entity that is alive in the newer state, once, with each type of which it has
// other bytes, elements or another enable bit than before; a type that it did not have before
// counts as zero and enabled. Values of chunk types are not among them, nor values that are shared.
// The types are handles as those of ComponentInfo.Type, of the world that took the snapshots.
func (d *Delta) Changed() iter.Seq2[Entity, Type] {
	d.checkWalk("Delta.Changed")
	return func(yield func(Entity, Type) bool) {
		for i := range d.tables {
			if !d.changedIn(&d.tables[i], yield) {
				return
			}
		}
		for i := range d.sparse {
			if !d.changedEntries(&d.sparse[i], yield) {
				return
			}
		}
	}
}

// changedIn yields what Changed does for one table.
func (d *Delta) changedIn(t *deltaTable, yield func(Entity, Type) bool) bool {
	more := true
	of := func(id int) func(first, n int) {
		handle := d.types[id].t.handle()
		return func(first, n int) {
			for row := first; more && row < first+n; row++ {
				more = yield(t.a.entityAt(row), handle)
			}
		}
	}
	for i := range t.columns {
		c := &t.columns[i]
		c.rowSpans(d.types[c.of].t.size, t.is, of(c.of))
	}
	for i := range t.buffers {
		b, visit := &t.buffers[i], of(t.buffers[i].of)
		b.each(t.is, d.types[b.of].t.shape.Element, func(e bufferEdit) { visit(e.row, 1) })
	}
	for i := range t.flips {
		visit, valued := of(t.flips[i].of), d.valued(t, t.flips[i].of)
		t.flips[i].each(t.is, func(at, n int, _ bool) {
			for row := at; row < at+n; row++ {
				if valued == nil || !valued.Has(row) {
					visit(row, 1)
				}
			}
		})
	}
	return more
}

// valued returns the rows of a table that have other values or elements of a type, so that those
// with another enable bit too do not come twice; nil if there are none.
func (d *Delta) valued(t *deltaTable, of int) (rows bitmask.Bits) {
	mark := func(first, n int) {
		if rows == nil {
			rows = make(bitmask.Bits, (t.is+63)/64)
		}
		rows.SetRange(first, n)
	}
	for i := range t.columns {
		if c := &t.columns[i]; c.of == of {
			c.rowSpans(d.types[of].t.size, t.is, mark)
		}
	}
	for i := range t.buffers {
		if b := &t.buffers[i]; b.of == of {
			b.each(t.is, d.types[of].t.shape.Element, func(e bufferEdit) { mark(e.row, 1) })
		}
	}
	return rows
}

// changedEntries yields what Changed does for one sparse type: entities whose entry is new, has
// other bytes, or is another entry than before.
func (d *Delta) changedEntries(s *deltaSparse, yield func(Entity, Type) bool) bool {
	more, t := true, d.types[s.of].t
	older := d.older.sparseLike(t)
	handle := t.handle()
	for at, e := range t.sparse.IDs() {
		entry := sparseEntry(at + 1)
		was := sparseEntry(0)
		if older != nil {
			was = older.Find(e)
		}
		same := was != 0 && t.sparse.Enabled(entry) == older.Enabled(was) &&
			string(t.bytesAt(t.sparse.Value(entry))) == string(t.bytesAt(older.Value(was)))
		if !same && more {
			more = yield(Entity(e), handle)
		}
	}
	return more
}

// Renamed yields the entities that are alive in the newer state and have another name than before,
// with the name, which is "" where it was removed.
func (d *Delta) Renamed() iter.Seq2[Entity, string] {
	d.checkWalk("Delta.Renamed")
	return func(yield func(Entity, string) bool) {
		for i := range d.names {
			n := &d.names[i]
			for _, e := range n.was {
				if now := Entity(e); d.newer.Alive(now) && d.newer.Name(now) == "" && !yield(now, "") {
					return
				}
			}
			for _, e := range n.is {
				now := Entity(e)
				if (!d.older.Alive(now) || d.older.Name(now) != n.text) && !yield(now, n.text) {
					return
				}
			}
		}
	}
}
