package ecs

import (
	"errors"
	"iter"

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
//	roster    the archetypes and their order, if they differ      deltaroster.go
//
// So rows that moved are not in a delta, only where they come from, and an archetype in which
// nothing differs is not named. What is replaced has a checksum, so a delta fits only where the
// bytes are those of the older state.

// errors.md, Errors: `ErrDelta` | `ApplyDelta` or `DecodeDelta` was given what is no delta, one
// that is damaged, of another format, or of another state than the world's; or `Diff` met values
// that cannot be written. The text says which. The world is as before. | Send the state whole, or
// the deltas in order; register the types that the text names.

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
	roster     *deltaRoster // nil: both states have the same archetypes, in the same order
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

// IsEmpty reports whether the two states are the same, and have the same archetypes in the same
// order, those without rows too.
func (d *Delta) IsEmpty() bool {
	return len(d.tables) == 0 && len(d.ids.Steps) == 0 && d.ids.From == d.ids.To && len(d.ids.Promised) == 0 &&
		len(d.sparse) == 0 && len(d.names) == 0 && d.roster == nil && d.created[0] == d.created[1] && d.destroyed[0] == d.destroyed[1]
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
// the newer one, with both archetypes; Gained and Lost tell which types came and went.
func (d *Delta) Moved() iter.Seq2[Entity, [2]*Archetype] {
	d.checkWalk("Delta.Moved")
	return func(yield func(Entity, [2]*Archetype) bool) {
		d.eachMoved(func(e Entity, from, to *Archetype) bool { return yield(e, [2]*Archetype{from, to}) })
	}
}

// eachMoved calls visit with the entities that Moved yields, until it returns false, and returns
// what it returned last.
func (d *Delta) eachMoved(visit func(e Entity, from, to *Archetype) bool) bool {
	for i := range d.tables {
		t, at := &d.tables[i], 0
		for _, r := range t.rows {
			if r.from >= 0 && r.from != i {
				for row := at; row < at+r.n; row++ {
					if !visit(t.a.entityAt(row), d.tables[r.from].old, t.a) {
						return false
					}
				}
			}
			at += r.n
		}
	}
	return true
}

// entityAt returns the entity of a row by its index in the archetype.
func (a *Archetype) entityAt(index int) Entity {
	pos, row := a.table.Store.Find(index)
	return entities(a.table.Store.Row(pos, 0).Base, row+1)[row]
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
