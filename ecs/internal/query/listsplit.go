package query

import (
	"unsafe"

	"quarry/asm"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Listed is one place of a list of entities: the row that its entity has.
type Listed struct {
	Row   int // the entity's row in the rows of the call
	Index int // in the list
}

// ListSplit is a list of entities cut by chunk: a range of rows for each chunk that has rows of the
// list, in the order in which the list comes to the chunks, and the places of the list that are
// about it, in the order of the list. So it depends on the list and on where its entities lie.
//
//	list     e1   e7   e2   e7   e4        e1, e2 in rows 3 and 70 of one chunk, e7 in row 5 of another
//	Ranges   0..71     0..6                e4 is dead, or of an archetype that does not match
//	Listed   {3 0} {70 2}     {5 1} {5 3}
type ListSplit struct {
	Ranges []RowRange
	Starts []int    // of the places of each range in Listed; one more than there are ranges
	Listed []Listed // by range; rows count from the beginning of the range

	bindings []int32  // by archetype: its index in the borrow's bindings plus one; 0: it does not match
	groups   []int32  // by the first row block of a chunk: its range plus one; kept all zero
	blocks   []uint32 // the first row block of each range
	places   []place  // by place in the list
}

// place is where the entity of a place in the list lies.
type place struct{ group, row int32 }

// foreignGroup is the group of a placeholder, and of an entity of another world. That of others
// that are left out is -1.
const foreignGroup = -2

// askAhead is how many entities ahead of the look-ups records are asked for, and values ahead of
// the bodies.
const askAhead = 32

// SplitList cuts a list of entities, and returns the index of the first that is a placeholder or of
// another world, or -1. The borrow must be out, and the ranges are valid while it is.
func (b *Borrow) SplitList(s *ListSplit, op string, list []entity.ID) (foreign int) {
	b.checkRows(op)
	w := b.World
	s.Ranges, s.Starts, s.Listed = s.Ranges[:0], s.Starts[:0], s.Listed[:0]
	s.blocks, s.places = s.blocks[:0], s.places[:0]
	s.bind(b)
	defer s.forget()
	view := w.IDs.View()
	var lines [askAhead]uintptr
	for i, e := range list {
		if i%askAhead == 0 {
			next := list[min(i+askAhead, len(list)):]
			n := min(len(next), askAhead)
			for k, e := range next[:n] {
				lines[k] = uintptr(unsafe.Pointer(view.Record(e))) // Safe because the address is only a number.
			}
			asm.Prefetch(lines[:n])
		}
		p := s.find(b, e)
		if p.group == foreignGroup {
			return i
		}
		s.places = append(s.places, p)
	}
	s.sort()
	return -1
}

// bind notes which archetypes match.
func (s *ListSplit) bind(b *Borrow) {
	if n := len(b.World.Archetypes.List); len(s.bindings) < n {
		s.bindings = make([]int32, n+n/2)
	}
	clear(s.bindings)
	for i := range b.own.Bindings {
		s.bindings[b.own.Bindings[i].Archetype.Table.Index] = int32(i + 1)
	}
}

// find returns where an entity lies, and begins a range for the chunk if it is the first of it.
func (s *ListSplit) find(b *Borrow, e entity.ID) place {
	w := b.World
	r := w.Find(e)
	if r == nil {
		if e.IsPlaceholder() || e != world.Null && e.Tag() != w.IDs.Tag() {
			return place{group: foreignGroup}
		}
		return place{group: -1}
	}
	o := w.Tables.OwnerOf(r.Location)
	binding := s.bindings[o.Table()]
	if binding == 0 {
		return place{group: -1}
	}
	row := o.Row(r.Location)
	block := uint32(r.Location-entity.Location(row)) >> entity.RowBits
	if int(block) >= len(s.groups) {
		s.groups = append(s.groups, make([]int32, int(block)+1-len(s.groups))...)
	}
	g := s.groups[block]
	if g == 0 {
		n := uint32(0)
		if b.chunks {
			n = uint32(w.ArchetypeAt(o).Table.Store.RowsOf(o.Pos()))
		}
		s.Ranges = append(s.Ranges, RowRange{uint32(binding - 1), uint32(o.Pos()), 0, n})
		s.Starts = append(s.Starts, 0)
		s.blocks = append(s.blocks, block)
		g = int32(len(s.Ranges))
		s.groups[block] = g
	}
	s.Ranges[g-1].N = max(s.Ranges[g-1].N, uint32(row+1))
	s.Starts[g-1]++ // how many, until sort
	return place{g - 1, int32(row)}
}

// sort puts the places of the list in the order of their ranges.
func (s *ListSplit) sort() {
	total := 0
	for i, n := range s.Starts {
		s.Starts[i] = total
		total += n
	}
	if cap(s.Listed) < total {
		s.Listed = make([]Listed, 0, total+total/4)
	}
	s.Listed = s.Listed[:total]
	for i, p := range s.places {
		if p.group >= 0 {
			s.Listed[s.Starts[p.group]] = Listed{Row: int(p.row), Index: i}
			s.Starts[p.group]++
		}
	}
	// Each start is now that of the next range.
	s.Starts = append(s.Starts, total)
	copy(s.Starts[1:], s.Starts[:len(s.Starts)-1])
	s.Starts[0] = 0
}

// forget clears the ranges of the row blocks.
func (s *ListSplit) forget() {
	for _, block := range s.blocks {
		s.groups[block] = 0
	}
}

// Of returns the places of a range.
func (s *ListSplit) Of(i int) []Listed { return s.Listed[s.Starts[i]:s.Starts[i+1]] }

// Ask prefetches the values of a range's places, in the columns that the query declares.
func (r *Accessor) Ask(p RowRange, listed []Listed) {
	t := &r.Borrow.own.Bindings[p.Binding]
	at := t.Archetype.Table.Store.Row(int(p.Pos), 0)
	var lines [askAhead]uintptr
	for i, c := range t.Columns {
		if c.Flags()&(world.MayRead|world.MayWrite|world.BarrierWrite) == 0 {
			continue
		}
		size := uint32(r.Borrow.World.Types.List[int(t.Lowest)+i].Size)
		if size == 0 {
			continue
		}
		for list := listed; len(list) > 0; {
			n := min(len(list), len(lines))
			for k := range list[:n] {
				at.Row = list[k].Row
				lines[k] = uintptr(at.Element(c.Offset, size)) // Safe because the address is only a number.
			}
			asm.Prefetch(lines[:n])
			list = list[n:]
		}
	}
}

// Matching returns the places whose rows match, in place.
func (r Rows) Matching(listed []Listed) []Listed {
	if r.Scan.Dense {
		return listed
	}
	mask, n := r.Mask(), 0
	for _, l := range listed {
		if mask[l.Row/64]>>(l.Row%64)&1 != 0 {
			listed[n] = l
			n++
		}
	}
	return listed[:n]
}
