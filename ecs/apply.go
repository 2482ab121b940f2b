package ecs

import "fmt"

// Applying changes: to one entity, or to many, of which all are changed or none. Finding paths and
// room can fail and comes first; then rows move.

// Apply changes one entity. changed is false when it has what is added and lacks
// what is removed, or is dead and the change only removes. It panics when e is dead
// and the change adds, during iteration, and for an entity of another world. An error
// is a *LimitError; nothing has changed then.
func (c *Change) Apply(e Entity) (changed bool, err error) {
	return c.applyOne("Change.Apply", e)
}

func (c *Change) applyOne(op string, e Entity) (changed bool, err error) {
	w := c.w
	w.checkChange(op)
	r := w.recordOf(op, e)
	if r == nil {
		if c.gives() {
			panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot apply %v", op, e, c))
		}
		return false, nil
	}
	a := w.archetypeAt(w.tables.OwnerOf(r.Location))
	before := len(w.archetypes.list)
	path, err := c.pathFrom(a)
	if err != nil {
		w.forget(before)
		return false, during(op, err)
	}
	switch path.To {
	case &a.table.Table:
		return false, nil
	case nil:
		w.endOne(a, e, r, w.tables.OwnerOf(r.Location))
		return true, nil
	}
	return w.take(op, path, e, r, before)
}

// gives reports whether dead entities are a mistake: they cannot get anything.
func (c *Change) gives() bool { return c.adds || c.into != nil }

// ApplyQuery changes every entity that matches q. All are changed or none: an error
// is a *LimitError. Rows stay together: columns are copied chunk by chunk, and where the
// whole archetype matches and its rows lie as those of the target, chunks change hands
// without a copy: where only tags differ, or a target without rows can take over the
// layout, in which types that were removed are holes for a quarter of the rows at most.
// The batch is the rows that moved, in their new places, for the caller to fill. It
// panics during iteration and for a query of another world. Changed and Ordered terms
// of q compare with its Since, which stays.
func (c *Change) ApplyQuery(q *Query) (Batch, error) {
	return c.applyQuery("Change.ApplyQuery", q)
}

// ApplyList changes the entities of a list, in any order, as ApplyQuery. An entity
// that is in the list twice is changed once. Dead entities are passed by when the
// change only removes; when it adds they panic, as does an entity of another world,
// and nothing is changed.
func (c *Change) ApplyList(list []Entity) (Batch, error) {
	return c.applyList("Change.ApplyList", list)
}

func (c *Change) applyQuery(op string, q *Query) (Batch, error) {
	c.w.checkChange(op)
	c.w.checkQuery(op, q)
	return c.applyTo(op, q.pick())
}

func (c *Change) applyList(op string, list []Entity) (Batch, error) {
	c.w.checkChange(op)
	return c.applyTo(op, c.w.pickList(op, list, c.gives()))
}

// applyTo makes room for all rows that are picked, then moves them.
func (c *Change) applyTo(op string, p *pick) (Batch, error) {
	b, _, err := c.applyPicked(op, p)
	return b, err
}

// applyPicked is applyTo that also says how many entities ended.
func (c *Change) applyPicked(op string, p *pick) (b Batch, ended int, err error) {
	w := c.w
	before := len(w.archetypes.list)
	if err := c.prepare(p); err != nil {
		w.forget(before)
		return Batch{}, 0, during(op, err)
	}
	w.call.moved = w.call.moved[:0]
	for i := range p.picks {
		if s := &p.picks[i]; s.path != nil {
			s.relabel()
		}
	}
	n := 0
	for i := range p.picks {
		if s := &p.picks[i]; s.path != nil {
			n += s.rows
			s.send()
		}
	}
	for i := range p.picks {
		if s := &p.picks[i]; s.ends {
			ended += s.rows
			s.end()
		}
	}
	w.destroyed += uint64(ended)
	if n+ended > 0 {
		w.epoch++
	}
	return Batch{w: w, spans: w.call.moved, n: n, epoch: w.epoch}, ended, nil
}

// prepare finds the paths of all rows that are picked and makes room at their ends. On
// an error everything is as before, but for archetypes that are new.
func (c *Change) prepare(p *pick) error {
	w := c.w
	w.call.targets = w.call.targets[:0]
	var err error
	for i := range p.picks {
		s := &p.picks[i]
		var path *path
		if path, err = c.pathFrom(s.a); err != nil {
			break
		}
		switch path.To {
		case &s.a.table.Table:
		case nil:
			s.ends = true
		default:
			s.path = path
			w.aim(w.archetypeOn(path.To))
		}
	}
	if err == nil {
		for i := range p.picks {
			p.picks[i].plan()
		}
	}
	return w.makeRoom(err, 0)
}

// Setting an archetype: whatever an entity has, it becomes one of exactly these
// types. Those that both have keep their values.

func (a *Archetype) into() *Change {
	if a.dying {
		refuseDying("Archetype.Adopt")
	}
	if a.adopt == nil {
		a.adopt = &Change{w: a.w, into: a}
	}
	return a.adopt
}

// Adopt makes e an entity of exactly the archetype's types, in one move: types that
// it lacks are added, zero and enabled, and others are removed. changed is false when
// it is one already. It panics and returns errors like Change.Apply.
func (a *Archetype) Adopt(e Entity) (changed bool, err error) {
	return a.into().applyOne("Archetype.Adopt", e)
}

// AdoptQuery is Adopt of every entity that matches q; see Change.ApplyQuery.
func (a *Archetype) AdoptQuery(q *Query) (Batch, error) {
	return a.into().applyQuery("Archetype.AdoptQuery", q)
}

// AdoptList is Adopt of the entities of a list; see Change.ApplyList.
func (a *Archetype) AdoptList(list []Entity) (Batch, error) {
	return a.into().applyList("Archetype.AdoptList", list)
}
