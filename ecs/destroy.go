package ecs

// Destroy ends an entity and everything it holds. It returns false, and does
// nothing, when e is not alive: destroying twice, or Null, is no error. It
// panics during iteration and for an entity of another world.
func (w *World) Destroy(e Entity) bool {
	w.checkUnlocked("World.Destroy")
	r := w.records.find(e, w.tag)
	if r == nil {
		w.checkWorld("World.Destroy", e)
		return false
	}
	o := w.ownerOf(r.location)
	a := w.archetypeAt(o)
	w.moveOne(a, nil, e, r, o)
	index := e.ref & indexMask
	if w.names != nil {
		w.forgetName(index)
	}
	if w.records.owns(index) {
		w.records.give(index, r)
	} else {
		w.records.giveLent(index)
	}
	w.destroyed++
	return true
}

// DestroyQuery ends every entity that matches q and returns how many. It panics during
// iteration and for a query of another world. Changed and Ordered terms of q compare
// with its Since, which stays. Cost: per chunk, but for the ids, where all rows of an
// archetype match.
func (w *World) DestroyQuery(q *Query) int {
	w.checkUnlocked("World.DestroyQuery")
	w.checkQuery("World.DestroyQuery", q)
	return w.destroyPicked(q.pick())
}

// DestroyList ends the entities of a list, in any order, and returns how many.
// Those that are dead, or twice in the list, are passed by. It panics for an entity of
// another world, and destroys nothing then.
func (w *World) DestroyList(list []Entity) int {
	w.checkUnlocked("World.DestroyList")
	return w.destroyPicked(w.pickList("World.DestroyList", list, false))
}

func (w *World) destroyPicked(p *pick) (n int) {
	for i := range p.picks {
		s := &p.picks[i]
		n += s.rows
		s.end()
	}
	if n > 0 {
		w.destroyed += uint64(n)
		w.epoch++
	}
	return n
}

// Clear ends every entity, those of hidden ones included. Types, archetypes and
// queries stay, as do versions: handles from before are dead, and the indices are
// given again from the lowest on. It panics during iteration.
func (w *World) Clear() {
	w.checkUnlocked("World.Clear")
	p := w.newPick()
	for _, a := range w.archetypes {
		if n := a.grid.Len(); n > 0 {
			s := p.add(a)
			s.rows, s.whole = n, true
		}
	}
	w.destroyPicked(p)
	w.records.endLease()
}
