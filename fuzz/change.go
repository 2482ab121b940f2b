package fuzz

import (
	"errors"
	"fmt"
	"slices"

	"quarry/ecs"
)

// Changes and adoption: of one entity, by query and by list.

// change is a change of a world and the model's record of it.
type change struct {
	c           *ecs.Change // nil: adoption
	into        *group      // adoption by an archetype of this form
	destroys    bool        // it does what Destroy does
	clears      bool        // it does what Clear does
	add, remove kinds
	put         kinds // the part of add that sets shared values of all entities, not only of those that have none
	given       [sharedKinds]any
	entry       int8 // of the sparse type: 1 adds one, -1 removes it
}

// of returns the form that entities of a form get; the result may mean that they end.
func (c change) of(f form) form {
	switch {
	case c.clears:
		return form{set: 1 << cleanupEntityKind}
	case c.destroys:
		return f.left()
	case c.into != nil:
		into := c.into.form
		into.set |= f.set & (1 << cleanupEntityKind)
		return into
	}
	for i, v := range c.given {
		if k := firstShared + i; c.put.has(k) || c.add.has(k) && !f.set.has(k) {
			f.values[i] = v
		}
	}
	f.set = f.set&^c.remove | c.add
	return f
}

// gives reports whether it is a mistake to list dead entities.
func (c change) gives() bool { return c.into != nil || c.add != 0 || c.entry > 0 }

func (c change) one(e ecs.Entity) (bool, error) {
	if c.into != nil {
		return ecs.Into(c.into.a).Apply(e)
	}
	return c.c.Apply(e)
}

func (c change) query(q *ecs.Query) (ecs.Batch, error) {
	if c.into != nil {
		return ecs.Into(c.into.a).ApplyQuery(q)
	}
	return c.c.ApplyQuery(q)
}

func (c change) list(list []ecs.Entity) (ecs.Batch, error) {
	if c.into != nil {
		return ecs.Into(c.into.a).ApplyList(list)
	}
	return c.c.ApplyList(list)
}

const (
	maxChanges = 12  // of a world
	manyGroups = 150 // from then on entities go to existing sets
)

// pickChange returns one of the world's changes, a new one, or an adoption.
func (d *world) pickChange(r record) change {
	n := mix(uint64(r.n) + uint64(r.kind)<<32)
	switch {
	case n&3 == 0:
		return change{into: d.group(d.sets[n>>8&7], 0)}
	case len(d.m.groups) > manyGroups:
		g := d.m.groups[n>>8%uint64(len(d.m.groups))]
		if g.set.has(cleanupEntityKind) {
			return change{into: d.group(d.sets[n>>8&7], 0)}
		}
		if g.goes() {
			d.pin(g)
		}
		return change{into: g}
	case len(d.changes) == maxChanges:
		return d.changes[n>>8%maxChanges]
	}
	few := kinds(mix(n)) & kinds(mix(n+1)) & d.active
	switch n >> 2 & 3 {
	case 0:
		few = kinds(mix(n)) & d.active & bare // chunks may move unchanged
	case 1:
		few = kinds(mix(n)) & d.active & (bare | small) // it looks as if chunks might
	}
	c := change{add: few & kinds(mix(n+2)), remove: few &^ kinds(mix(n+2))}
	d.give(&c, mix(n+3))
	if d.m.set.known {
		c.entry = [4]int8{0, 1, -1, 0}[mix(n+4)&3]
	}
	d.make(&c, r)
	d.changes = append(d.changes, c)
	return c
}

// give chooses the shared values that a change gives.
func (d *world) give(c *change, n uint64) {
	for i := range c.given {
		if k := firstShared + i; c.add.has(k) && n>>(4*i)&7 != 0 {
			c.given[i] = d.someValue(k, n+uint64(i))
			c.put |= kinds(n>>(4*i+3)&1) << k
		}
	}
}

// make creates the world's change that the model's change describes.
func (d *world) make(c *change, r record) {
	var parts []ecs.Part
	if add := c.add &^ c.put; add != 0 {
		parts = append(parts, ecs.Add(d.typesOf(form{add, c.given}, int(r.kind))...))
	}
	for i, v := range c.given {
		if k := firstShared + i; c.put.has(k) {
			parts = append(parts, ecs.Put(d.list[k].shared().of(v)))
		}
	}
	if c.remove != 0 {
		parts = append(parts, ecs.Remove(d.types(c.remove, 0)...))
	}
	switch {
	case c.entry > 0:
		parts = append(parts, ecs.Add(d.sparseLinks()))
	case c.entry < 0:
		parts = append(parts, ecs.Remove(d.sparseLinks()))
	}
	c.c = ecs.NewChange(d.w, parts...)
}

// turn does to an entity's entry what a change does, and reports whether that was anything.
func (m *model) turn(e ecs.Entity, x *entity, c change) bool {
	switch {
	case x.group.set.has(cleanupEntityKind):
	case c.entry > 0 && x.entry == nil:
		m.gain(e, x, sparseLink{})
		return true
	case c.entry < 0 && x.entry != nil:
		m.lose(e, x)
		return true
	}
	return false
}

// applyRows takes a type from all rows of an archetype, mostly the one with the most rows, or gives
// it to them: chunks may move with a hole, or with a hole filled.
func (d *world) applyRows(r record) error {
	if len(d.m.groups) == 0 {
		return nil
	}
	g := d.m.groups[int(r.who)%len(d.m.groups)]
	for _, h := range d.m.groups {
		if r.n&3 != 0 && len(h.rows) > len(g.rows) {
			g = h
		}
	}
	k := int(r.kind) % len(d.list)
	for !d.active.has(k) {
		k = (k + 1) % len(d.list)
	}
	one := kinds(1) << k
	c := change{add: one &^ g.set, remove: one & g.set}
	if d.list[k].shared() != nil && r.n&12 != 0 {
		c = change{add: one}
		d.give(&c, mix(uint64(r.n)))
	}
	d.make(&c, r)
	list := slices.Clone(g.rows)
	return d.applyAll(r, list, c, func() (ecs.Batch, error) { return c.list(list) })
}

// applyOne changes one entity: its row goes to the end, the last row fills the gap.
func (d *world) applyOne(r record) error {
	e, x := d.pick(r.who)
	c := d.pickChange(r)
	if x == nil {
		if c.gives() {
			return panics("ecs: ", func() { _, _ = c.one(e) })
		}
		if changed, err := c.one(e); changed || err != nil {
			return fmt.Errorf("a change that only removes, of %v, which is dead: got %v, %w", e, changed, err)
		}
		return nil
	}
	f := c.of(x.group.form)
	if f.ends() {
		return d.endOne(e, func() (bool, error) { return c.one(e) })
	}
	to := d.m.groupOf(f)
	if to == x.group {
		changed := false
		done, err := d.attempt(need{entries: true}, func() (err error) {
			changed, err = c.one(e)
			return err
		})
		if done && changed != d.m.turn(e, x, c) {
			return fmt.Errorf("a change of %v that has all its kinds: got %v", e, changed)
		}
		return errors.Join(err, d.compare(e, x))
	}
	if err := d.moveOne(e, x, to, func() (bool, error) { return c.one(e) }); err != nil {
		return err
	}
	if c.entry != 0 { // a change with a sparse type goes by a list of one entity, which may be its whole archetype
		if err := d.tendMany(); err != nil {
			return err
		}
	}
	if x.group == to {
		d.m.turn(e, x, c)
	}
	return d.compare(e, x)
}

func (d *world) applyQuery(r record) error {
	q := d.pickQuery(r)
	if r.bits(27, 2) == 0 { // archetypes as a whole, so that chunks may move unchanged
		q = d.all
	}
	list, err := d.matched(q)
	if err != nil {
		return err
	}
	c := d.pickChange(r)
	return d.applyAll(r, list, c, func() (ecs.Batch, error) { return c.query(q.q) })
}

func (d *world) applyList(r record) error {
	list, c := d.someList(r), d.pickChange(r)
	alive := d.alone(list)
	if r.kind>>5 == 0 {
		if err := d.misuseList(list, func(list []ecs.Entity) { _, _ = c.list(list) }); err != nil {
			return err
		}
	}
	dead := false
	for _, e := range list {
		dead = dead || d.m.entities[e] == nil
	}
	if dead && c.gives() {
		before := d.w.Hash()
		if err := panics("ecs: ", func() { _, _ = c.list(list) }); err != nil {
			return err
		}
		if d.w.Hash() != before {
			return fmt.Errorf("a list with dead entities changed the world's hash")
		}
		list = alive
	}
	return d.applyAll(r, alive, c, func() (ecs.Batch, error) { return c.list(list) })
}

// misuseList passes a list with an entity of another world: nothing may change.
func (d *world) misuseList(list []ecs.Entity, call func(list []ecs.Entity)) error {
	foreign, err := elsewhere()
	if err != nil {
		return err
	}
	before := d.w.Hash()
	if err := panics("ecs: ", func() { call(append(list[:len(list):len(list)], foreign)) }); err != nil {
		return err
	}
	if d.w.Hash() != before {
		return fmt.Errorf("a list with an entity of another world changed the world's hash")
	}
	return nil
}

// applyAll makes a call that changes the entities of a list, which are alive and listed once. All
// are changed or none. The model does not predict the order of the rows.
func (d *world) applyAll(r record, list []ecs.Entity, c change, call func() (ecs.Batch, error)) error {
	s := d.foresee(list, c)
	var batch ecs.Batch
	done, err := d.attempt(s.need, func() (err error) {
		batch, err = call()
		return err
	})
	if err != nil {
		return fmt.Errorf("%d entities: %w", len(s.moved), err)
	}
	if !done {
		return nil
	}
	if err := d.tendMany(); err != nil {
		return err
	}
	for _, e := range list {
		d.m.turn(e, d.m.entities[e], c)
	}
	if err := d.fulfil(s); err != nil {
		return err
	}
	inside := map[ecs.Entity]bool{}
	for _, e := range s.moved {
		inside[e] = true
	}
	for _, e := range batch.Entities(nil) {
		if !inside[e] {
			return fmt.Errorf("batch: got %v, which did not move, or twice", e)
		}
		delete(inside, e)
	}
	return d.compareBatch(batch, len(s.moved), uint64(r.n), kinds(mix(uint64(r.n))))
}

// compareBatch compares the rows of a batch, whose entities are in the model, and writes some
// columns.
func (d *world) compareBatch(batch ecs.Batch, n int, seed uint64, write kinds) error {
	seen := 0
	for rows := range batch.Rows() {
		ids := rows.Entities()
		g := d.m.entities[ids[0]].group
		if rows.Archetype() != g.a || !rows.Dense() {
			return fmt.Errorf("batch: got rows of %v, want %v", rows.Archetype(), g.a)
		}
		for k, c := range d.list {
			if !g.set.has(k) {
				continue
			}
			if err := c.compare(rows, func(i int) any { return d.m.entities[ids[i]].values[k] }); err != nil {
				return fmt.Errorf("batch: %w", err)
			}
			if !write.has(k) || c.buffer() != nil {
				continue
			}
			c.fill(rows, func(i int) any {
				v := c.value(mix(seed+uint64(seen+i)), ids[i])
				d.m.entities[ids[i]].values[k] = v
				return v
			})
		}
		seen += rows.Len()
	}
	if seen != n || batch.Len() != n {
		return fmt.Errorf("batch: got %d rows, length %d, want %d", seen, batch.Len(), n)
	}
	return d.markBatch(batch, seed, write)
}
