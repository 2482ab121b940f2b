package delta

import (
	"errors"
	"iter"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// A delta leads from an older state of a world to a newer one:
//
//	ids       versions that differ, the word at hand, blocks        entity.Difference
//	tables    of each archetype that differs:
//	            rows       where each newer row was:                0..99 of itself, 7 of table 2, new
//	            columns    bytes that differ from those rows        runs, see runs.go
//	            flips      enable bits that differ
//	            buffers    elements that differ
//	            chunks     values of chunk types, all if any differs
//	sparse    entries that differ, by their place in the set
//	names     of each text whose entities differ, all entities
//	roster    the archetypes and their order, if they differ        roster.go
//
// A row that moved is recorded by its old place, not by its bytes. An archetype without differences
// is not recorded. All replaced bytes have a checksum, so a delta fits only the older state.

// ErrDelta is wrapped by the errors of deltas that do not fit, and of worlds that cannot be
// compared.
var ErrDelta = errors.New("delta refused")

// Delta is ecs.Delta.
type Delta struct {
	Older, Newer *world.World // nil in a delta that was read

	tag        entity.Tag
	types      []world.Description
	Created    [2]uint64 // entities ever, in the older and the newer state
	Destroyed  [2]uint64
	IDs        *entity.Difference
	Tables     []deltaTable
	untouched  int // archetypes with rows that are not in tables
	Sparse     []deltaSparse
	Names      []deltaName
	namedCount [2]int
	Roster     *deltaRoster // nil: both states have the same archetypes, in the same order
}

// deltaTable is an archetype that differs.
type deltaTable struct {
	types        []int // in Delta.types
	values       [][]byte
	older, newer int    // rows
	idSum        uint32 // of the entities of the older rows
	skip         int    // archetypes that have rows, do not differ and come just before this one
	rows         []rowsFrom
	ids          []entity.ID // of new rows, in order
	columns      []deltaColumn
	flips        []deltaBits
	buffers      []deltaBuffers
	chunks       []deltaChunks

	a, old *world.Archetype // in the newer and the older world; nil where there is none
}

// rowsFrom is consecutive new rows and the older table that they come from.
type rowsFrom struct {
	from   int // in Delta.Tables; newRows: they are of new entities
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
	of           int
	older, newer int       // entries
	ids          deltaRuns // of the entities, 8 bytes each
	values       deltaRuns
	flips        deltaFlips
}

// deltaName is a text and the entities that it names, in the order in which they were named.
type deltaName struct {
	text  string
	older []entity.ID
	newer []entity.ID
}

// CheckWalk panics unless there are worlds to walk.
func (d *Delta) CheckWalk(op string) {
	if d == nil || d.Newer == nil || d.Newer.Closed || d.Older.Closed {
		panic("ecs: " + op + ": the delta is the zero value, or one of its snapshots is closed")
	}
}

// Born is ecs.Delta.Born.
func (d *Delta) Born() iter.Seq[entity.ID] {
	d.CheckWalk("Delta.Born")
	return func(yield func(entity.ID) bool) {
		for i := range d.Tables {
			for _, e := range d.Tables[i].ids {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Died is ecs.Delta.Died.
func (d *Delta) Died() iter.Seq[entity.ID] {
	d.CheckWalk("Delta.Died")
	return func(yield func(entity.ID) bool) {
		for i := range d.Tables {
			old := d.Tables[i].old
			if old == nil {
				continue
			}
			for pos := range old.Table.Store.Chunks() {
				for _, e := range world.Entities(old.Table.Store.Row(pos, 0).Base, old.Table.Store.RowsOf(pos)) {
					if d.Newer.Find(e) == nil && !yield(e) {
						return
					}
				}
			}
		}
	}
}

// EachMoved calls visit with the entities that Moved yields, until it returns false, and returns
// what it returned last.
func (d *Delta) EachMoved(visit func(e entity.ID, from, to *world.Archetype) bool) bool {
	for i := range d.Tables {
		t, at := &d.Tables[i], 0
		for _, r := range t.rows {
			if r.from >= 0 && r.from != i {
				for row := at; row < at+r.n; row++ {
					if !visit(entityAt(t.a, row), d.Tables[r.from].old, t.a) {
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
func entityAt(a *world.Archetype, index int) entity.ID {
	pos, row := a.Table.Store.Find(index)
	return world.Entities(a.Table.Store.Row(pos, 0).Base, row+1)[row]
}

// Renamed is ecs.Delta.Renamed.
func (d *Delta) Renamed() iter.Seq2[entity.ID, string] {
	d.CheckWalk("Delta.Renamed")
	return func(yield func(entity.ID, string) bool) {
		for i := range d.Names {
			n := &d.Names[i]
			for _, e := range n.older {
				if now := e; d.Newer.Alive(now) && d.Newer.Name(now) == "" && !yield(now, "") {
					return
				}
			}
			for _, e := range n.newer {
				now := e
				if (!d.Older.Alive(now) || d.Older.Name(now) != n.text) && !yield(now, n.text) {
					return
				}
			}
		}
	}
}
