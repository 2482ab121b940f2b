package ecs

import (
	"quarry/alloc"
	"quarry/ecs/internal/table"
)

// way is how rows go from one archetype to another.
type way struct {
	from, to *Archetype
	row      alloc.RowCopy // columns that both have
	fresh    []column      // columns that only to has
	added    column        // the last of fresh; without one, at the start of the chunk
	ending   []column      // owning columns that only from has: what their rows own ends
	bits     []table.Slots // enable bits that both have
	on       []uint16      // slots of to whose bits from lacks: new ones are enabled
	rare     bool          // there are bits, on or ending: sendRare
	more     bool          // that, or row.Others
	relabel  bool          // what both have lies alike: whole chunks can change hands
	own      bool          // both have the same types, each in its own layout
}

// theEnd is the way of entities that end: Dying ones that lose the last Cleanup type.
var theEnd way

const (
	edgeAdds = 1 << 16 // of Archetype.edgeKey
	noEdge   = 1 << 17
)

// edge is the way to the archetype that differs by one type.
type edge struct {
	id  typeID // the type that is added or removed
	way *way
}

// wayTo returns the way from a to another archetype. There is one for all who ask, so
// that a new layout of either end is told to all; but for those to another value of a
// shared type, see sideways.
func (a *Archetype) wayTo(to *Archetype) *way {
	if a.differs(to) {
		return a.sideways(to)
	}
	known := a.ways
	if len(to.ways) < len(known) {
		known = to.ways
	}
	for _, w := range known {
		if w.from == a && w.to == to {
			return w
		}
	}
	w := &way{from: a, to: to}
	w.find()
	a.ways = append(a.ways, w)
	if to != a {
		to.ways = append(to.ways, w)
	}
	return w
}

// differs reports whether two archetypes have different values of one type.
func (a *Archetype) differs(b *Archetype) bool {
	for _, v := range a.values {
		if other := b.valueOf(v.t.id); other != nil && other != v {
			return true
		}
	}
	return false
}

// sideways returns the way to an archetype of another value, good until it is asked for
// another: of a thousand values there may be a million. Where types and layouts are the
// same, which is the rule, only its end differs from the last one's.
func (a *Archetype) sideways(to *Archetype) *way {
	s := a.side
	if s != nil && s.own && to.lent == nil && a.lent == nil && a.sig == to.sig {
		s.to = to
		return s
	}
	if s == nil {
		s = new(way)
		a.side = s
	}
	s.from, s.to = a, to
	s.find()
	s.own = to.lent == nil && a.lent == nil && a.sig == to.sig
	return s
}

// find looks up what the way does, from the layouts and types of its ends.
func (w *way) find() {
	from, to := w.from, w.to
	*w = way{from: from, to: to, row: w.row.Emptied(), relabel: from.grid.PerUnit() == to.grid.PerUnit() && from.grid.IsSkewed() == to.grid.IsSkewed()}
	for _, c := range to.grid.Columns() {
		if !from.sig.Has(typeID(c.Key)) {
			w.fresh, w.added = append(w.fresh, c), c
			continue
		}
		at := from.place[c.Key].offset
		w.row.Add(at, c.Offset, c.Size)
		w.relabel = w.relabel && at == c.Offset
	}
	for _, c := range from.owning {
		if !to.sig.Has(typeID(c.Key)) {
			w.ending = append(w.ending, c)
		}
	}
	for _, slot := range to.books.Toggling() {
		if id := to.types[slot]; from.sig.Has(id) {
			w.bits = append(w.bits, table.Slots{From: from.place[id].slot(), To: slot})
		} else {
			w.on = append(w.on, slot)
		}
	}
	w.rare = len(w.bits)+len(w.on)+len(w.ending) > 0
	w.more = w.rare || w.row.Others
}
