package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Copies of entities: one, many, and groups.

// copyCounts are the numbers of copies per call.
var copyCounts = [...]int{1, 2, 0, 7, 64, 200}

// copying is a call that makes n copies of each member.
type copying struct {
	members []ecs.Entity
	to      []*group // for the copies of each
	n       int
}

func (d *world) instantiate(r record) error {
	e, x := d.pick(r.who)
	n := copyCounts[r.bits(0, 8)%uint32(len(copyCounts))]
	switch {
	case x == nil || x.group.set.has(cleanupEntityKind):
		return d.misuseCopy(e)
	case r.kind&3 == 0:
		return d.copyGroup(r, e, n)
	case r.kind&3 == 1:
		n = 1
	}
	members := slices.DeleteFunc(d.members([]ecs.Entity{e}), func(m ecs.Entity) bool {
		return d.m.entities[m].group.set.has(cleanupEntityKind)
	})
	if len(d.m.alive)+n*len(members) > d.most {
		return d.endRows(r)
	}
	c := d.copying(members, n)
	if r.kind&3 != 1 {
		return d.makeCopies(c, r, func() (ecs.Batch, error) { return d.w.InstantiateN(e, n) })
	}
	var one ecs.Entity
	done, err := d.attempt(d.copyNeed(c), func() (err error) {
		if r.n&256 == 0 {
			return ecs.Try(func() { one = d.w.Instantiate(e) })
		}
		err = ecs.Try(func() { one = d.w.Instantiate(e) })
		return err
	})
	if !done {
		return err
	}
	ids, err := d.takeCopies(c)
	if err == nil && one != ids[0] {
		err = fmt.Errorf("copy of %v: got %v want %v", e, one, ids[0])
	}
	return err
}

// misuseCopy copies entities that cannot be copied.
func (d *world) misuseCopy(e ecs.Entity) error {
	before := d.w.Hash()
	for _, f := range []func(){
		func() { d.w.Instantiate(e) },
		func() { _, _ = d.w.InstantiateN(e, 3) },
		func() { _, _ = d.w.InstantiateGroup([]ecs.Entity{e}, 1) },
		func() { _, _ = d.w.InstantiateGroup(nil, -1) },
	} {
		if err := panics("ecs: ", f); err != nil {
			return fmt.Errorf("copy of %v: %w", e, err)
		}
	}
	if got := d.w.Hash(); got != before {
		return fmt.Errorf("copies of %v that were refused changed the world's hash", e)
	}
	return nil
}

// copyGroup copies e and some other entities.
func (d *world) copyGroup(r record, e ecs.Entity, n int) error {
	list := []ecs.Entity{e}
	for i := range r.bits(8, 3) {
		if f, x := d.pick(uint16(mix(uint64(r.n + i)))); x != nil && !x.group.set.has(cleanupEntityKind) {
			list = append(list, f)
		}
	}
	if len(d.alone(list)) < len(list) {
		if err := panics("ecs: ", func() { _, _ = d.w.InstantiateGroup(list, n) }); err != nil {
			return err
		}
		list = d.alone(list)
	}
	if len(d.m.alive)+n*len(list) > d.most {
		return d.endRows(r)
	}
	return d.makeCopies(d.copying(list, n), r, func() (ecs.Batch, error) { return d.w.InstantiateGroup(list, n) })
}

func (d *world) makeCopies(c copying, r record, call func() (ecs.Batch, error)) error {
	var batch ecs.Batch
	done, err := d.attempt(d.copyNeed(c), func() (err error) {
		batch, err = call()
		return err
	})
	if !done {
		return err
	}
	ids, err := d.takeCopies(c)
	if err != nil {
		return err
	}
	if got := batch.Entities(nil); !slices.Equal(got, ids) {
		return fmt.Errorf("copies of %v: got %v want %v", c.members, got, ids)
	}
	return d.compareBatch(batch, len(ids), uint64(r.n), kinds(mix(uint64(r.n))))
}

func (d *world) copying(members []ecs.Entity, n int) copying {
	c := copying{members: members, n: n}
	for _, e := range members {
		f := d.m.entities[e].group.form
		f.set &^= cleanupKinds | 1<<prefabKind
		c.to = append(c.to, d.m.groupOf(f))
	}
	return c
}

// copyNeed is the need of the copies: ids, rows, and blocks for buffers.
func (d *world) copyNeed(c copying) need {
	arrivals := map[*group]int{}
	for _, g := range c.to {
		arrivals[g] += c.n
	}
	want := d.idsNeed(c.n * len(c.members))
	want.blocks, want.entries = true, true
	for g, n := range arrivals {
		rows := d.rowsNeed(g, n, false)
		want.run, want.chunks = max(want.run, rows.run), want.chunks+rows.chunks
	}
	for i, e := range c.members {
		more := c.n * d.blocksNeed(d.m.entities[e], c.to[i].set)
		want.run, want.chunks = max(want.run, more), want.chunks+more
	}
	return want
}

// blocksNeed is the most chunks that an entity's buffers of some kinds need.
func (d *world) blocksNeed(x *entity, of kinds) (chunks int) {
	for k, c := range d.list {
		if b := c.buffer(); b != nil && of.has(k) && x.spilled.has(k) {
			chunks += (max(b.length(x.values[k]), b.inlined()+1)*b.elementBytes() + 1<<14 - 1) >> 14
		}
	}
	return chunks
}

// takeCopies adds the copies that the world has made to the model, and returns them: the copies of
// the first member, then of the second, and so on.
func (d *world) takeCopies(c copying) ([]ecs.Entity, error) {
	fresh := d.strangers()
	ids := make([]ecs.Entity, 0, c.n*len(c.members))
	for i := range c.members {
		rows := fresh[c.to[i]]
		if len(rows) < c.n {
			return nil, fmt.Errorf("%d copies of %v: got %d new rows", c.n, c.members[i], len(rows))
		}
		ids, fresh[c.to[i]] = append(ids, rows[:c.n]...), rows[c.n:]
	}
	for g, rows := range fresh {
		if len(rows) > 0 {
			return nil, fmt.Errorf("%v: got %d new rows more than copies", g.a, len(rows))
		}
	}
	for i, e := range c.members {
		for n, id := range ids[i*c.n : (i+1)*c.n] {
			x, err := d.m.create(id, c.to[i])
			if err != nil {
				return nil, err
			}
			d.inherit(id, x, d.m.entities[e], func(named ecs.Entity) ecs.Entity {
				if m := slices.Index(c.members, named); m >= 0 {
					return ids[m*c.n+n]
				}
				return named
			})
		}
	}
	for i, e := range ids {
		if i < 50 || i > len(ids)-10 {
			if err := d.compare(e, d.m.entities[e]); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// strangers returns the entities that the model does not know, by group, in order, and binds groups
// that have got their archetypes.
func (d *world) strangers() map[*group][]ecs.Entity {
	fresh := map[*group][]ecs.Entity{}
	for rows := range d.all.q.Rows() {
		var g *group
		for _, e := range rows.Entities() {
			if d.m.entities[e] != nil {
				continue
			}
			if g == nil {
				g = d.m.groupOf(d.formOf(e))
				d.bind(g, rows.Archetype())
			}
			fresh[g] = append(fresh[g], e)
		}
	}
	return fresh
}

// formOf returns the form of an entity according to the world.
func (d *world) formOf(e ecs.Entity) (f form) {
	for k, c := range d.list {
		if !c.has(e) {
			continue
		}
		f.set |= 1 << k
		if s := c.shared(); s != nil {
			f.values[k-firstShared] = s.get(e)
		}
	}
	return f
}

// inherit gives a new entity the other's values, with the entities in them renamed.
func (d *world) inherit(e ecs.Entity, x, from *entity, to func(ecs.Entity) ecs.Entity) {
	for k, c := range d.list {
		if !x.group.set.has(k) || c.shared() != nil {
			continue
		}
		x.values[k] = renamed(from.values[k], to)
		if from.off.has(k) {
			x.off |= 1 << k
		}
		if b := c.buffer(); b != nil {
			d.m.spill(x, k, b.length(x.values[k]) > b.inlined())
		}
	}
	if n := from.entry; n != nil {
		d.m.gain(e, x, sparseLink{to(n.v.Of), n.v.N})
		x.entry.off = n.off
	}
}

// renamed returns a value with the entities in it renamed.
func renamed(v any, to func(ecs.Entity) ecs.Entity) any {
	switch v := v.(type) {
	case link:
		return link{to(v.Of)}
	case []hit:
		return each(v, func(h hit) hit { return hit{to(h.By), h.Damage} })
	case []note:
		return each(v, func(n note) note { return note{to(n.To), n.Text} })
	case []ecs.LinkedEntity:
		return each(v, func(l ecs.LinkedEntity) ecs.LinkedEntity { return ecs.LinkedEntity{Entity: to(l.Entity)} })
	}
	return v
}

func each[T any](list []T, f func(T) T) []T {
	now := make([]T, len(list))
	for i, v := range list {
		now[i] = f(v)
	}
	return now
}
