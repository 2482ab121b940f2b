package ecs

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Change is a structural change of components: types that entities get and types
// that they lose, in one move. Make it once and apply it often. What entities have
// already is not added, what they lack is not removed; components that come are
// zero, and enabled.
type Change struct {
	w      *World
	add    signature
	remove signature
	adds   bool            // add is not empty
	put    []*value.Shared // that entities get in place of theirs
	given  []*value.Shared // that entities get who have none
	into   *Archetype      // set: entities become exactly that
	dies   bool            // entities become what Destroy leaves of them
	paths  []*path         // by index of the source archetype, found so far; nil: not yet
}

// Part is a part of a change: Add, Put or Remove.
type Part struct {
	types  []Type
	remove bool
	put    bool
}

// Add is the part of a change that gives entities some types. Of a shared type it takes a
// value too, which entities get that have none; the type alone stands for its zero value.
func Add(types ...Type) Part { return Part{types: types} }

// Remove is the part of a change that takes types from entities.
func Remove(types ...Type) Part { return Part{types: types, remove: true} }

// Put is the part of a change that gives entities shared values, whether they had another
// or none.
func Put(values ...SharedValue) Part {
	types := make([]Type, len(values))
	for i, v := range values {
		types[i] = v
	}
	return Part{types: types, put: true}
}

// NewChange makes a change. It panics for a type that is given twice, added and
// removed included, and for one of another world.
func NewChange(w *World, parts ...Part) *Change {
	w.checkNew("NewChange")
	c := &Change{w: w}
	for _, p := range parts {
		for _, t := range p.types {
			id := w.idOf("NewChange", t)
			switch {
			case id == dyingID:
				panic("ecs: NewChange: Dying comes with World.Destroy and goes with the last Cleanup type; it cannot be added or removed")
			case c.add.Has(id) != c.remove.Has(id) && c.remove.Has(id) != p.remove:
				panic(fmt.Sprintf("ecs: NewChange: %s is added and removed", w.types.list[id].name))
			case c.add.Has(id) || c.remove.Has(id):
				panic(fmt.Sprintf("ecs: NewChange: %s is given twice", w.types.list[id].name))
			case p.remove:
				c.remove.Add(id)
			default:
				c.add.Add(id)
				c.adds = true
			}
			if s, ok := t.(SharedValue); ok {
				c.take(s, p)
			}
		}
	}
	return c
}

// take notes a shared value of a part.
func (c *Change) take(v SharedValue, p Part) {
	switch {
	case p.remove:
		panic(fmt.Sprintf("ecs: NewChange: Remove(%v): name the type, entities lose any value of it", v))
	case p.put:
		c.put = append(c.put, v.v)
	default:
		c.given = append(c.given, v.v)
	}
}

// World returns the change's world.
func (c *Change) World() *World { return c.w }

// String lists what the change adds and removes.
func (c *Change) String() string {
	if c.w == nil {
		return "change of no world"
	}
	if c.into != nil {
		return "change into " + c.into.String()
	}
	if c.dies {
		return "destruction"
	}
	text := "change"
	for id, t := range c.w.types.list {
		put, given := valueIn(c.put, typeID(id)), valueIn(c.given, typeID(id))
		switch {
		case put != nil:
			text += " " + t.textOf(put)
		case given != nil:
			text += " +" + t.textOf(given)
		case c.add.Has(typeID(id)):
			text += " +" + t.name
		case c.remove.Has(typeID(id)):
			text += " -" + t.name
		}
	}
	return text
}

// pathFrom returns the path that the change leads from an archetype; its target is a
// itself when nothing changes. It makes the target when there is none.
func (c *Change) pathFrom(a *Archetype) (*path, error) {
	for int(a.table.Index) >= len(c.paths) {
		c.paths = append(c.paths, nil)
	}
	if p := c.paths[a.table.Index]; p != nil && p.From == &a.table.Table && !p.To.Closed {
		return p, nil
	}
	var err error
	to := c.into
	if to != nil && to.table.Closed {
		if to, err = to.again(); err != nil {
			return nil, err
		}
		c.into = to
	}
	if to == nil || a.table.Sig.Has(dyingID) {
		sig := c.typesOf(a)
		if sig.Has(dyingID) && !sig.Meets(&c.w.types.cleanup) || c.dies && !a.lasting {
			return &theEnd, nil
		}
		put := c.put
		if c.into != nil {
			put = c.into.values
		}
		if to, err = c.w.archetypeOf(sig, c.w.valuesFor(&sig, put, a, c.given)); err != nil {
			return nil, err
		}
	}
	if a.differs(to) {
		return a.table.Sideways(&to.table.Table), nil
	}
	c.paths[a.table.Index] = a.table.To(&to.table.Table)
	return c.paths[a.table.Index], nil
}

// Target returns the archetype that the change makes of an archetype's entities: a itself
// when nothing changes, nil when they end. It makes the archetype when there is none, which
// goes like others without rows; the error is a *LimitError. It panics during iteration.
func (c *Change) Target(a *Archetype) (*Archetype, error) {
	const op = "Change.Target"
	c.w.checkUnlocked(op)
	if a == nil || a.w != c.w {
		panic("ecs: " + op + ": the archetype is nil or belongs to another world")
	}
	a, err := a.again()
	if err != nil {
		return nil, during(op, err)
	}
	path, err := c.pathFrom(a)
	if err != nil {
		return nil, during(op, err)
	}
	return c.w.archetypeOn(path.To), nil
}

// typesOf returns the types that an entity of a has after the change.
func (c *Change) typesOf(a *Archetype) signature {
	sig := a.table.Sig
	switch {
	case c.into != nil:
		sig = c.into.table.Sig
		sig.Add(dyingID)
	case c.dies && !a.table.Sig.Has(dyingID):
		for i := range sig {
			sig[i] &= c.w.types.cleanup[i]
		}
		sig.Add(dyingID)
	}
	for i := range sig {
		sig[i] = sig[i]&^c.remove[i] | c.add[i]
	}
	return sig
}

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

// take moves one entity along a path and clears what it gets. On an error archetypes beyond
// before are forgotten.
func (w *World) take(op string, path *path, e Entity, r *entity.Record, before int) (bool, error) {
	if path.To.Grid.Full() {
		if err := path.To.Grow(1); err != nil {
			w.forget(before)
			return false, during(op, refused(err))
		}
		if path.IsSideways() {
			path.Find() // its end may have its own layout now, which tells only the transitions that it knows
		}
	}
	w.moveOne(w.archetypeOn(path.From), path, e, r, w.tables.OwnerOf(r.Location))
	alloc.ClearRows(path.To.Grid.LastRow(), 1, path.Fresh)
	return true, nil
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
