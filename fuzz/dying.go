package fuzz

import (
	"fmt"

	"quarry/ecs"
)

// Cleanup types, CleanupEntity and groups.

// members returns a list in which each entity is followed by the entities that its group names,
// each once. A dying entity takes no others along.
func (d *world) members(list []ecs.Entity) []ecs.Entity {
	var all []ecs.Entity
	for _, e := range list {
		all = append(all, e)
		x := d.m.entities[e]
		if linked, ok := d.valueOf(e, linkedKind).([]ecs.LinkedEntity); ok && !x.group.set.has(cleanupEntityKind) {
			for _, l := range linked {
				all = append(all, l.Entity)
			}
		}
	}
	return d.alone(all)
}

// ends reports whether entities that get this form are gone.
func (f form) ends() bool { return f.set.has(cleanupEntityKind) && f.set&cleanupKinds == 0 }

// left returns the form that Destroy leaves to an entity of form f.
func (f form) left() form {
	if !f.set.has(cleanupEntityKind) {
		f.set = f.set&cleanupKinds | 1<<cleanupEntityKind
	}
	return f
}

// destroyOne destroys an entity and the members of its group: each ends or gets the tag
// CleanupEntity. If the entity has the tag already, nothing happens. It returns false if there was
// no room.
func (d *world) destroyOne(e ecs.Entity) (bool, error) {
	if len(d.members([]ecs.Entity{e})) > 1 {
		return d.endAll([]ecs.Entity{e}, func() int {
			if d.w.Destroy(e) {
				return oneOrMore
			}
			return 0
		})
	}
	x := d.m.entities[e]
	f := x.group.form.left()
	if f.ends() {
		return true, d.endOne(e, func() (bool, error) { return d.w.Destroy(e), nil })
	}
	to := d.m.groupOf(f)
	if to == x.group {
		if destroyed, err := tried(func() bool { return d.w.Destroy(e) }); destroyed || err != nil {
			return false, fmt.Errorf("Destroy(%v), which has the tag CleanupEntity: got %v, %w", e, destroyed, err)
		}
		return true, nil
	}
	err := d.moveOne(e, x, to, func() (bool, error) { return tried(func() bool { return d.w.Destroy(e) }) })
	return x.group == to, err
}

// oneOrMore is the result of a call that does not count.
const oneOrMore = -1

// destroyAgain gives an entity with the tag CleanupEntity a group, and destroys the entity again:
// the members of the group stay.
func (d *world) destroyAgain(e ecs.Entity, x *entity, r record) error {
	if !d.active.has(linkedKind) {
		return nil
	}
	c := d.list[linkedKind]
	if x.values[linkedKind] == nil {
		v := c.zero()
		if err := d.change(e, x, linkedKind, v, func() (bool, error) { return c.add(e, v) }); err != nil {
			return err
		}
	}
	if x.values[linkedKind] != nil { // there was room
		if err := d.appendSome(e, x, linkedKind, r, 1); err != nil {
			return err
		}
	}
	if r.n&4 == 0 {
		_, err := d.endAll([]ecs.Entity{e}, func() int { return d.w.DestroyList([]ecs.Entity{e}) })
		return err
	}
	_, err := d.destroyOne(e)
	return err
}

// bury removes the cleanup types from an entity with the tag CleanupEntity, which ends the entity.
func (d *world) bury(e ecs.Entity, x *entity) error {
	c := change{remove: cleanupKinds}
	if d.burial == nil {
		d.make(&c, record{})
		d.burial = c.c
	}
	if ok, err := d.burial.Apply(e); !ok || err != nil {
		return fmt.Errorf("remove the cleanup types of %v, which has the tag CleanupEntity: got %v, %w", e, ok, err)
	}
	d.m.destroy(e)
	return d.compare(e, nil)
}

// misuseDying tries to add and to remove CleanupEntity.
func (d *world) misuseDying(r record) error {
	if len(d.list) <= cleanupEntityKind {
		return nil
	}
	c := d.list[cleanupEntityKind]
	e, x := d.pick(r.who)
	for _, f := range []func(){
		func() { ecs.NewArchetype(d.w, c.Type()) },
		func() { ecs.NewChange(d.w, ecs.Add(c.Type())) },
		func() { ecs.NewChange(d.w, ecs.Remove(c.Type())) },
	} {
		if err := panics("ecs: ", f); err != nil {
			return err
		}
	}
	if x == nil {
		return nil
	}
	if x.group.set.has(cleanupEntityKind) {
		return panics("ecs: ", func() { _, _ = c.remove(e) })
	}
	return panics("ecs: ", func() { _, _ = c.add(e, c.zero()) })
}
