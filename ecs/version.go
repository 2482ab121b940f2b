package ecs

import "sync/atomic"

// Versions. Per chunk and type there is the world's version when the type was last
// opened for writing, enabled or disabled, or rows came in; and one for all rows,
// when rows last came, went or changed places. A row that fills a gap brings the
// versions of its chunk along, so no write is ever missed; rows that only go mark no
// type. Versions are compared by their signed
// distance, so the counter may wrap; 0 stands for "never" and is skipped.

// newer reports whether a version is after since.
func newer(version, since uint32) bool { return since == 0 || int32(version-since) > 0 }

// Version returns the change version that writes are marked with now.
func (w *World) Version() uint32 { return w.version }

// Advance begins a new change version and returns it: what is written from now
// on counts as changed since every earlier version. It wraps after 2^32 calls,
// skipping 0; comparisons are right within half of that. It panics while the world
// is shared.
func (w *World) Advance() uint32 {
	w.checkUnshared("World.Advance")
	w.version++
	if w.version == 0 {
		w.version = 1
	}
	return w.version
}

// changedOf returns where the version of a type in a chunk is.
func (a *Archetype) changedOf(slot uint16, pos int) *uint32 {
	return &a.changed[pos*len(a.types)+int(slot)]
}

// changedIn returns the versions of all types in a chunk, by slot.
func (a *Archetype) changedIn(pos int) []uint32 {
	n := len(a.types)
	return a.changed[pos*n : pos*n+n]
}

// changedAt returns the version of a type in a chunk; goroutines that toggle in a
// shared world write it.
func (a *Archetype) changedAt(slot uint16, pos int) uint32 {
	return atomic.LoadUint32(a.changedOf(slot, pos))
}

// stamp is what a chunk has beside the versions of its types.
type stamp struct {
	marked  uint32 // version at which all types were marked at once
	ordered uint32 // version at which rows last came, went or changed places
}

// turn looks up the last stamp after there are others.
func (a *Archetype) turn() {
	a.last = nil
	if n := len(a.stamps); n > 0 {
		a.last = &a.stamps[n-1]
	}
}

// markRows notes that rows came into a chunk: every type and the order changed.
func (a *Archetype) markRows(pos int) {
	s, v := &a.stamps[pos], a.w.version
	if s.marked == v {
		return
	}
	*s = stamp{v, v}
	changed := a.changedIn(pos)
	for slot := range changed {
		changed[slot] = v
	}
}

// carryVersions notes that rows of chunk from came to fill gaps in chunk pos: what
// was written in them shall not be missed there. The rows' values did not change, so
// no type is marked beyond that.
func (a *Archetype) carryVersions(pos, from int) {
	s, v := &a.stamps[pos], a.w.version
	s.ordered = v
	if pos == from || s.marked == v {
		return
	}
	changed := a.changedIn(pos)
	for slot, written := range a.changedIn(from) {
		if int32(written-changed[slot]) > 0 {
			changed[slot] = written
		}
	}
}

// Ordered reports whether rows came into the rows' chunk, went or changed places
// since a version; since version 0 they have.
func (r Rows) Ordered(since uint32) bool {
	s := r.check("Rows.Ordered")
	return newer(s.t.a.stamps[s.pos].ordered, since)
}

// Peek is Slice without marking the column changed: for loops over a column that
// the query declares Write which only read it, or write seldom and call Mark then.
func (c Component[T]) Peek(rows Rows) []T {
	p, ok := rows.placeOf(c.t, "Component.Peek")
	if !ok {
		return nil
	}
	return sliceOf[T](rows, rows.s.columnAt(rows.base, p))
}
