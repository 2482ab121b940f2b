package ecs

import (
	"fmt"
	"math/bits"
)

// Enabling and disabling by query and by list: whole words of bits.

// EnableQuery switches the component on for every entity that matches q and has it,
// and returns how many those are. Rows that do not match stay as they are: to switch
// all on, ask for ecs.Present or ecs.Disabled of the component. It may be called inside
// a loop, whose masks do not change, but not while the world is shared. It panics when
// the type is not Enableable. Cost: per 64 rows.
func (c Component[T]) EnableQuery(q *Query) int {
	return c.w.toggleQuery("Component.EnableQuery", q, c.id, true)
}

// DisableQuery switches the component off; see EnableQuery.
func (c Component[T]) DisableQuery(q *Query) int {
	return c.w.toggleQuery("Component.DisableQuery", q, c.id, false)
}

// EnableList switches the component on for the entities of a list that are alive and
// have it, and returns how many those are, each counted once. It panics like
// EnableQuery, and for an entity of another world, before anything changes.
func (c Component[T]) EnableList(list []Entity) int {
	return c.w.toggleList("Component.EnableList", list, c.id, true)
}

// DisableList switches the component off; see EnableList.
func (c Component[T]) DisableList(list []Entity) int {
	return c.w.toggleList("Component.DisableList", list, c.id, false)
}

// EnableQuery is Component.EnableQuery for a buffer.
func (b Buffer[T]) EnableQuery(q *Query) int {
	return b.w.toggleQuery("Buffer.EnableQuery", q, b.id, true)
}

// DisableQuery is Component.DisableQuery for a buffer.
func (b Buffer[T]) DisableQuery(q *Query) int {
	return b.w.toggleQuery("Buffer.DisableQuery", q, b.id, false)
}

// EnableList is Component.EnableList for a buffer.
func (b Buffer[T]) EnableList(list []Entity) int {
	return b.w.toggleList("Buffer.EnableList", list, b.id, true)
}

// DisableList is Component.DisableList for a buffer.
func (b Buffer[T]) DisableList(list []Entity) int {
	return b.w.toggleList("Buffer.DisableList", list, b.id, false)
}

func (w *World) toggleQuery(op string, q *Query, id typeID, on bool) int {
	w.checkToggle(op, id)
	w.checkQuery(op, q)
	return q.pick().toggle(id, on)
}

func (w *World) toggleList(op string, list []Entity, id typeID, on bool) int {
	w.checkToggle(op, id)
	return w.pickList(op, list, false).toggle(id, on)
}

// checkToggle panics unless bits of the type may be switched in bulk.
func (w *World) checkToggle(op string, id typeID) {
	if w == nil || w.closed {
		w.refuse(op)
	}
	if w.phase != nil {
		panic("ecs: " + op + ": the world is shared: until Phase.End bits are switched entity by entity")
	}
	if !w.types[id].enableable {
		panic(fmt.Sprintf("ecs: %s: %s was not registered with ecs.Enableable", op, w.types[id].name))
	}
}

// toggle switches the bits of the picked rows that have a type, and marks it changed
// in their chunks.
func (p *pick) toggle(id typeID, on bool) (n int) {
	for i := range p.picks {
		s := &p.picks[i]
		if !s.a.sig.has(id) {
			continue
		}
		n += s.rows
		slot := s.a.place[id].slot()
		if s.whole || s.mask != nil {
			for pos := range s.a.grid.Chunks() {
				s.toggleChunk(slot, pos, on)
			}
			continue
		}
		for _, row := range s.list {
			pos, at := s.a.grid.Find(int(uint32(row)))
			s.a.setBit(slot, pos, at, on)
			*s.a.changedOf(slot, pos) = s.a.w.version
		}
	}
	return n
}

// toggleChunk switches the bits of the picked rows of one chunk.
func (s *picked) toggleChunk(slot uint16, pos int, on bool) {
	a, rows := s.a, s.a.grid.RowsOf(pos)
	words := a.enabled[slot][pos][:(rows+63)/64]
	if s.whole {
		a.clearBits(slot, pos, 0, rows)
		if on {
			a.setBits(slot, pos, 0, rows)
		}
		*a.changedOf(slot, pos) = a.w.version
		return
	}
	count, some := 0, uint64(0)
	for i, mask := range s.maskOf(pos) {
		some |= mask
		if on {
			words[i] |= mask
		} else {
			words[i] &^= mask
		}
		count += bits.OnesCount64(words[i])
	}
	if some != 0 {
		a.on[slot][pos] = int32(count)
		*a.changedOf(slot, pos) = a.w.version
	}
}
