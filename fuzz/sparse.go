package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// A sparse type beside the kinds, and the model of its set: each entity may have an entry, and the
// entries have an order. The type is registered by the first operation about it, so a stream
// without such an operation runs in a world without sparse types.

// sparseLink is sparse, with bits; it names an entity.
type sparseLink struct {
	Of ecs.Entity
	N  int64
}

// entry is what an entity has of the sparse type.
type entry struct {
	v     sparseLink
	off   bool   // disabled
	wrote uint32 // change version of the last write
}

// on reports whether an entity has an entry that is enabled.
func (n *entry) on() bool { return n != nil && !n.off }

// set is the model of a sparse type's set.
type set struct {
	known   bool         // the type is registered
	order   []ecs.Entity // of the entries
	loose   bool         // calls about many entities ended or made entries in an order that is read from the world
	opened  uint32       // change version at which all entries were last opened for writing
	touched uint32       // change version of the last write, addition or removal anywhere
}

// sparseLinks returns the handle of the sparse type, which it registers.
func (d *world) sparseLinks() ecs.Sparse[sparseLink] {
	if !d.m.set.known {
		d.sparseLink, d.m.set.known = ecs.RegisterSparse[sparseLink](d.w, ecs.Enableable), true
	}
	return d.sparseLink
}

// gain gives an entity an entry, at the end of the order.
func (m *model) gain(e ecs.Entity, x *entity, v sparseLink) {
	x.entry = &entry{v: v}
	m.set.order = append(m.set.order, e)
	m.mark(x)
}

// lose ends an entity's entry, if it has one: the last entry takes its place.
func (m *model) lose(e ecs.Entity, x *entity) {
	if x.entry == nil {
		return
	}
	s := &m.set
	last := len(s.order) - 1
	s.order[slices.Index(s.order, e)] = s.order[last]
	s.order, s.touched = s.order[:last], m.version
	x.entry = nil
}

// mark records a write of an entity's entry.
func (m *model) mark(x *entity) { x.entry.wrote, m.set.touched = m.version, m.version }

// markAll records that all entries were opened for writing.
func (m *model) markAll() { m.set.opened, m.set.touched = m.version, m.version }

// newer reports whether an entity's entry was written after since.
func (s *set) newer(x *entity, since uint32) bool {
	return x.entry != nil && max(x.entry.wrote, s.opened) > since
}

// compareEntry compares what one entity has of the sparse type; x is nil when it is dead.
func (d *world) compareEntry(e ecs.Entity, x *entity) error {
	if !d.m.set.known {
		return nil
	}
	var want *entry
	if x != nil {
		want = x.entry
	}
	got := d.sparseLink.Get(e)
	if has := d.sparseLink.Has(e); has != (want != nil) || (got != nil) != has {
		return fmt.Errorf("%v: Has(%v): got %v, Get %v; want %+v", d.sparseLink, e, has, got, want)
	}
	if on := d.sparseLink.Enabled(e); on != want.on() {
		return fmt.Errorf("%v: Enabled(%v): got %v; want %+v", d.sparseLink, e, on, want)
	}
	if want != nil && *got != want.v {
		return fmt.Errorf("%v has a %v: got %v want %v", e, d.sparseLink, *got, want.v)
	}
	for _, since := range d.sinces {
		is := d.sparseLink.Changed(e, since)
		if must := x != nil && d.m.set.newer(x, since); must && !is || is && d.m.set.touched <= since {
			return fmt.Errorf("%v: Changed(%v) since %d: got %v; want %+v; the last write anywhere was at %d",
				d.sparseLink, e, since, is, want, d.m.set.touched)
		}
	}
	return nil
}

// compareSet compares the whole set: its order, values and bits.
func (d *world) compareSet() error {
	s := &d.m.set
	if !s.known {
		return nil
	}
	ids, values := d.sparseLink.Entities(), d.sparseLink.Values()
	if len(ids) != len(s.order) || len(values) != len(ids) || d.sparseLink.Len() != len(ids) {
		return fmt.Errorf("%v: got %d entities, %d values, Len %d; want %d",
			d.sparseLink, len(ids), len(values), d.sparseLink.Len(), len(s.order))
	}
	seen := map[ecs.Entity]bool{}
	for i, e := range ids {
		x := d.m.entities[e]
		switch {
		case x == nil || x.entry == nil || seen[e]:
			return fmt.Errorf("%v: entry %d is of %v (seen before: %v), which has none", d.sparseLink, i, e, seen[e])
		case !s.loose && s.order[i] != e:
			return fmt.Errorf("%v: entry %d is of %v, want %v", d.sparseLink, i, e, s.order[i])
		case values[i] != x.entry.v || d.sparseLink.Enabled(e) == x.entry.off:
			return fmt.Errorf("%v: entry %d, of %v: got %v want %+v", d.sparseLink, i, e, values[i], x.entry)
		}
		seen[e] = true
	}
	copy(s.order, ids)
	s.loose = false
	return nil
}

// compareSparseLinks compares the values of the rows of a loop by row, and writes some of those
// that match.
func (d *world) compareSparseLinks(q *query, rows ecs.Rows, want chunk) error {
	if q.sparseLinkAccess == 0 {
		if !d.m.set.known {
			return nil
		}
		return panics("ecs: ", func() { d.sparseLink.Column(rows) })
	}
	column := d.sparseLink.Column(rows)
	for i, e := range want.rows {
		n, got := d.m.entities[e].entry, column.At(i)
		if (got != nil) != (n != nil) {
			return fmt.Errorf("row %d, %v: %v: got %v; want %+v", i, e, d.sparseLink, got, n)
		}
		if n != nil && *got != n.v {
			return fmt.Errorf("row %d, %v: %v: got %v want %v", i, e, d.sparseLink, *got, n.v)
		}
	}
	if q.sparseLinkAccess == mayWrite { // taking the column counts as a write
		d.m.markAll()
	}
	return nil
}

// writeSparseLinks writes the values of matching rows.
func (d *world) writeSparseLinks(q *query, rows ecs.Rows, want chunk, seed uint64) {
	if q.sparseLinkAccess != mayWrite {
		return
	}
	column := d.sparseLink.Column(rows)
	for i := range rows.Each() {
		if p := column.At(i); p != nil {
			*p = sparseLink{want.rows[0], int64(mix(seed + uint64(i)))}
			d.m.entities[want.rows[i]].entry.v = *p
		}
	}
	d.m.markAll()
}

// sparseLinkTerm gives a query a term over the sparse type, or none. An operand of Any is returned
// instead, with its group.
func (d *world) sparseLinkTerm(q *query, n uint64) (terms []ecs.Term, operand ecs.Operand, group int) {
	if !d.m.set.known || n&1 == 0 {
		return nil, nil, 0
	}
	may := uint8(n>>8) % 3
	operand = operandOf(d.sparseLink, may)
	q.sparseLink, q.sparseLinkAccess = termKind(1+n>>1%uint64(anyTerm+1)), may
	switch q.sparseLink {
	case readTerm:
		q.sparseLinkAccess, terms = mayRead, []ecs.Term{ecs.Read(d.sparseLink)}
	case writeTerm:
		q.sparseLinkAccess, terms = mayWrite, []ecs.Term{ecs.Write(d.sparseLink)}
	case withTerm:
		q.sparseLinkAccess, terms = 0, []ecs.Term{ecs.With(d.sparseLink)}
	case withoutTerm:
		q.sparseLinkAccess, terms = 0, []ecs.Term{ecs.Without(d.sparseLink)}
	case absentTerm:
		q.sparseLinkAccess, terms = 0, []ecs.Term{ecs.Absent(d.sparseLink)}
	case optionalTerm:
		terms = []ecs.Term{ecs.Optional(operand)}
	case presentTerm:
		terms = []ecs.Term{ecs.Present(operand)}
	case disabledTerm:
		terms = []ecs.Term{ecs.Disabled(operand)}
	default:
		return nil, operand, int(q.sparseLink - anyTerm)
	}
	return terms, nil, 0
}
