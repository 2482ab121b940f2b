package fuzz

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// Operations on one entity.

// pick returns the entity that a record means, and its model or nil: mostly an entity that is
// alive, else a dead one, whose index may be in use again, or Null.
func (d *world) pick(who uint16) (ecs.Entity, *entity) {
	m := d.m
	switch {
	case who>>13 == 7 && len(m.dead) > 0:
		return m.dead[int(who)%len(m.dead)], nil
	case who%61 == 60 || len(m.alive) == 0:
		return ecs.Null, nil
	}
	e := m.alive[int(who)%len(m.alive)]
	return e, m.entities[e]
}

// pickKind returns one of the kinds in use.
func (d *world) pickKind(n uint8) (int, kind) {
	for i := 0; ; i++ {
		if k := (int(n) + i) % len(d.list); d.active.has(k) {
			return k, d.list[k]
		}
	}
}

// types lists a set's types, starting at any of them.
func (d *world) types(set kinds, first int) []ecs.Type {
	var types []ecs.Type
	for i := range d.list {
		if k := (first + i) % len(d.list); set.has(k) {
			types = append(types, d.list[k].Type())
		}
	}
	return types
}

// archetype names an archetype that may exist by its types in another order: it must be the same
// one.
func (d *world) archetype(r record) error {
	g := d.group(d.sets[r.who%8]^kinds(r.n)&kinds(r.n>>16)&d.active, 0)
	if n := len(d.m.groups); r.kind>>4 == 0 {
		if h := d.m.groups[int(r.n>>8)%n]; !h.set.has(cleanupEntityKind) {
			g = h
			d.pin(g)
		}
	}
	if a := ecs.NewArchetype(d.w, d.typesOf(g.form, int(r.kind))...); a != g.a {
		return fmt.Errorf("NewArchetype: got %v at %p want the one at %p", a, a, g.a)
	}
	return nil
}

// create makes an entity; while the tide goes out, it mostly destroys some instead.
func (d *world) create(r record) error {
	if d.ebb && r.bits(28, 2) != 0 || len(d.m.alive) >= d.most {
		return d.endRows(r)
	}
	return d.createOne(r)
}

func (d *world) createOne(r record) error {
	g := d.group(d.sets[r.kind%8], uint64(r.n))
	return d.createIn(g, g.a, r)
}

// createIn makes an entity of a group through an archetype, which the world may have given up
// meanwhile.
func (d *world) createIn(g *group, a *ecs.Archetype, r record) error {
	var e ecs.Entity
	done, err := d.attempt(d.rowsNeed(g, 1, true), func() (err error) {
		if r.n&1 == 0 {
			err = ecs.Try(func() { e = a.Create() })
			return err
		}
		return ecs.Try(func() { e = a.Create() })
	})
	if !done {
		return err
	}
	d.bindOf(e, g)
	x, err := d.m.create(e, g)
	if err != nil {
		return err
	}
	return errors.Join(d.m.follow(e), d.compare(e, x))
}

// destroy ends an entity; while the tide comes in, it mostly makes one instead.
func (d *world) destroy(r record) error {
	if !d.ebb && r.bits(28, 2) != 0 && len(d.m.alive) < d.most {
		return d.createOne(r)
	}
	e, x := d.pick(r.who)
	if x == nil {
		if d.w.Destroy(e) {
			return fmt.Errorf("Destroy(%v): got true want false", e)
		}
		return d.compare(e, nil)
	}
	if x.group.set.has(cleanupEntityKind) && r.n&1 == 0 {
		return d.bury(e, x)
	}
	if _, err := d.destroyOne(e); err != nil {
		return err
	}
	if x = d.m.entities[e]; x != nil && x.group.set.has(cleanupEntityKind) {
		if err := d.destroyAgain(e, x, r); err != nil {
			return err
		}
	}
	return d.compare(e, d.m.entities[e])
}

func (d *world) add(r record) error {
	e, x := d.pick(r.who)
	k, c := d.pickKind(r.kind)
	at, _ := d.pick(uint16(r.n >> 16))
	v := c.value(uint64(r.n), at)
	if x == nil {
		return panics("ecs: ", func() { c.add(e, v) })
	}
	if x.values[k] != nil {
		added, err := c.add(e, v)
		if added || err != nil {
			return fmt.Errorf("add %v to %v, which has it: got %v, %w", c.Type(), e, added, err)
		}
		return d.compare(e, x)
	}
	return d.change(e, x, k, v, func() (bool, error) { return c.add(e, v) })
}

func (d *world) remove(r record) error {
	e, x := d.pick(r.who)
	k, c := d.pickKind(r.kind)
	if x == nil || x.values[k] == nil {
		removed, err := c.remove(e)
		if removed || err != nil {
			return fmt.Errorf("remove %v from %v, which lacks it: got %v, %w", c.Type(), e, removed, err)
		}
		return d.compare(e, x)
	}
	return d.change(e, x, k, nil, func() (bool, error) { return c.remove(e) })
}

// change makes a call that adds kind k with value v to e, or removes it.
func (d *world) change(e ecs.Entity, x *entity, k int, v any, call func() (bool, error)) error {
	f := x.group.form
	f.set ^= 1 << k
	if f.ends() {
		return d.endOne(e, call)
	}
	if d.list[k].shared() != nil {
		f.values[k-firstShared] = v
	}
	to := d.m.groupOf(f)
	if err := d.moveOne(e, x, to, call); err != nil {
		return fmt.Errorf("add or remove %v: %w", d.list[k].Type(), err)
	}
	if x.group == to && v != nil {
		x.values[k] = v
	}
	return d.compare(e, x)
}

// endOne makes a call that takes the last cleanup type from e, which has the tag CleanupEntity.
func (d *world) endOne(e ecs.Entity, call func() (bool, error)) error {
	if ok, err := call(); !ok || err != nil {
		return fmt.Errorf("a change that ends %v: got %v, %w", e, ok, err)
	}
	d.m.destroy(e)
	return d.compare(e, nil)
}

// moveOne makes a call that moves e to a group, or fails: e's row goes to the end, the last row
// fills the gap.
func (d *world) moveOne(e ecs.Entity, x *entity, to *group, call func() (bool, error)) error {
	want := d.rowsNeed(to, 1, false)
	want.entries = true // if the call is a change
	done, err := d.attempt(want, func() error {
		ok, err := call()
		if ok != (err == nil) {
			return fmt.Errorf("a change of %v: got %v, %v", e, ok, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	if done {
		d.bindOf(e, to)
		d.m.moveTo(e, x, to)
	}
	return nil
}

func (d *world) set(r record) error {
	e, x := d.pick(r.who)
	k, c := d.pickKind(r.kind)
	at, _ := d.pick(uint16(r.n >> 16))
	v := c.value(uint64(r.n), at)
	switch {
	case c.shared() != nil:
		return d.setShared(e, x, k, v)
	case k == chunkMarksKind:
		return d.setChunkMarks(e, x, uint64(r.n), r.n&1 == 0)
	}
	has := x != nil && x.values[k] != nil
	if got := c.set(e, v, r.n&1 == 0); got != has {
		return fmt.Errorf("set %v of %v: got %v want %v", c.Type(), e, got, has)
	}
	if has {
		if c.buffer() == nil {
			x.values[k] = v
		}
		d.m.touch(x, k)
	}
	return d.compare(e, x)
}

// look looks up one entity in every way, and an entity of another world.
func (d *world) look(r record) error {
	foreign, err := elsewhere()
	if err != nil {
		return err
	}
	if d.w.Alive(foreign) {
		return fmt.Errorf("an entity of another world is alive")
	}
	e, x := d.pick(r.who)
	return d.compare(e, x)
}

// toggle enables or disables one component.
func (d *world) toggle(r record) error {
	e, x := d.pick(r.who)
	k, c := d.pickKind(r.kind)
	t := c.toggles()
	if t == nil {
		return nil
	}
	return d.toggleOne(e, x, k, t, r.n&1 == 0)
}

func (d *world) toggleOne(e ecs.Entity, x *entity, k int, t toggler, on bool) error {
	has := x != nil && x.values[k] != nil
	got := false
	if on {
		got = t.Enable(e)
	} else {
		got = t.Disable(e)
	}
	if got != has {
		return fmt.Errorf("enable (%v) kind %d of %v: got %v want %v", on, k, e, got, has)
	}
	if !has {
		return nil
	}
	x.off &^= 1 << k
	if !on {
		x.off |= 1 << k
	}
	d.m.touch(x, k)
	if t.Enabled(e) != on {
		return fmt.Errorf("Enabled(%v), kind %d: got %v want %v", e, k, !on, on)
	}
	return nil
}

// trim gives the reserves back, and compares with the universe's counters.
func (d *world) trim(record) error {
	live, reserve := d.u.Stats().LiveChunks, d.w.Stats().Reserve
	gone := d.w.Trim()
	if gone < reserve {
		return fmt.Errorf("in Trim: got %d want %d at least", gone, reserve)
	}
	if s := d.w.Stats(); s.Reserve != 0 {
		return fmt.Errorf("after Trim: got %+v want no reserve", s)
	}
	if len(d.snapshotModels) > 0 {
		return nil // chunks may have to stay
	}
	if got := d.u.Stats().LiveChunks; got > live-gone || got < live-gone && !d.m.set.known { // sets are not counted
		return fmt.Errorf("after Trim: got %d chunks in use, want %d - %d", got, live, gone)
	}
	return nil
}

// advance begins a change version and remembers the previous one.
func (d *world) advance(record) error {
	if err := d.tend(); err != nil {
		return err
	}
	d.sinces = append(d.sinces, d.m.version)
	if len(d.sinces) > 20 {
		d.sinces = d.sinces[10:]
	}
	d.m.version++
	if got := d.w.Advance(); got != d.m.version {
		return fmt.Errorf("in Advance: got %d want %d", got, d.m.version)
	}
	return nil
}
