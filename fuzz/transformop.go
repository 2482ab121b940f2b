package fuzz

import (
	"errors"
	"fmt"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/job"
	"quarry/ecs/transform"
)

// Operations on transforms.

// setLocal writes a Local, or some that follow one another.
func (d *transforms) setLocal(r record) error {
	for i := range 1 + r.kind>>6 {
		e, b := d.pick(r.who + uint16(i))
		has := b != nil && b.local != nil
		v := localOf(r)
		if got := d.t.LocalType().Set(e, v); got != has {
			return fmt.Errorf("setting a Local of %v: got %v want %v", e, got, has)
		}
		if has {
			*b.local = v
			d.changed()
		}
	}
	return nil
}

// setPost writes a Post through a pointer.
func (d *transforms) setPost(r record) error {
	e, b := d.pick(r.who)
	p := d.t.PostType().Mut(e)
	if has := b != nil && b.post != nil; (p != nil) != has {
		return fmt.Errorf("writing the Post of %v: got %v want %v", e, p != nil, has)
	}
	if p != nil {
		p.Matrix = postOf(r)
		*b.post = p.Matrix
		d.changed()
	}
	return nil
}

// giveMatrix writes the matrix of an entity that has no Local.
func (d *transforms) giveMatrix(r record) error {
	e, b := d.pick(r.who)
	if b == nil || b.local != nil || b.matrix == nil {
		return nil
	}
	l := localOf(r)
	*b.matrix = l.Matrix()
	d.t.MatrixType().Set(e, transform.LocalToWorld{Matrix: *b.matrix})
	d.changed()
	return nil
}

// switchLocal takes a Local off or puts one on. Without it the matrix stays as it is.
func (d *transforms) switchLocal(r record) error {
	e, b := d.pick(r.who)
	switch {
	case b == nil:
		return nil
	case b.local != nil:
		b.local = nil
		d.t.LocalType().Remove(e)
	default:
		l := localOf(r)
		b.local = &l
		d.t.LocalType().Add(e, l)
	}
	d.changed()
	return nil
}

func (d *transforms) switchPost(r record) error {
	e, b := d.pick(r.who)
	switch {
	case b == nil:
		return nil
	case b.post != nil:
		b.post = nil
		d.t.PostType().Remove(e)
	default:
		m := postOf(r)
		b.post = &m
		d.t.PostType().Add(e, transform.Post{Matrix: m})
	}
	d.changed()
	return nil
}

func (d *transforms) switchMatrix(r record) error {
	e, b := d.pick(r.who)
	switch {
	case b == nil:
		return nil
	case b.matrix != nil:
		b.matrix = nil
		d.t.MatrixType().Remove(e)
	default:
		b.matrix = &transform.Mat4{}
		d.t.MatrixType().Add(e, transform.LocalToWorld{})
	}
	d.changed()
	return nil
}

// moveRow gives an entity a type that transforms do not look at, or takes it.
func (d *transforms) moveRow(r record) error {
	e, b := d.pick(r.who)
	if b == nil {
		return nil
	}
	if r.kind&1 != 0 {
		if !d.spots.Remove(e) {
			d.spots.Add(e, filler{})
		}
	} else if !d.disabled.Remove(e) {
		d.disabled.Add(e, ecs.DisabledEntity{})
	}
	d.changed()
	return nil
}

// setParent links two entities.
func (d *transforms) setParent(r record) error {
	e, _ := d.pick(r.who)
	parent, _ := d.pick(uint16(r.n))
	return d.link(e, parent)
}

// link sets a parent, and checks what is refused.
func (d *transforms) link(e, parent ecs.Entity) error {
	err := d.h.SetParent(e, parent)
	b := d.m.bodies[e]
	var want error
	switch {
	case b == nil || parent != ecs.Null && d.m.bodies[parent] == nil:
		want = hierarchy.ErrDead
	case parent != ecs.Null && d.m.isBelow(parent, e):
		want = hierarchy.ErrCycle
	}
	if !errors.Is(err, want) || want == nil && err != nil {
		return fmt.Errorf("SetParent(%v, %v): got %w want %v", e, parent, err, want)
	}
	if err == nil {
		b.parent = parent
		d.changed()
		if got := d.h.Parent(e); got != parent {
			return fmt.Errorf("Parent(%v): got %v want %v", e, got, parent)
		}
	}
	return nil
}

func (d *transforms) orphan(r record) error {
	e, _ := d.pick(r.who)
	return d.link(e, ecs.Null)
}

// destroy ends an entity, whose children become roots.
func (d *transforms) destroy(r record) error {
	e, b := d.pick(r.who)
	if got := d.w.Destroy(e); got != (b != nil) {
		return fmt.Errorf("Destroy(%v): got %v want %v", e, got, b != nil)
	}
	delete(d.m.bodies, e)
	d.changed()
	return nil
}

// destroyTree ends an entity with all below it.
func (d *transforms) destroyTree(r record) error {
	e, b := d.pick(r.who)
	var gone []ecs.Entity
	if b != nil {
		for x := range d.m.bodies {
			if d.m.isBelow(x, e) {
				gone = append(gone, x)
			}
		}
	}
	if len(gone) > 6 && r.kind > 8 {
		return nil // else there would be no large trees
	}
	if got := d.h.Destroy(e); got != len(gone) {
		return fmt.Errorf("Destroy(%v) of the hierarchy: got %d want %d", e, got, len(gone))
	}
	for _, x := range gone {
		delete(d.m.bodies, x)
	}
	d.changed()
	return nil
}

// sweep mends what destroy left behind.
func (d *transforms) sweep(record) error {
	if _, err := d.h.Sweep(); err != nil {
		return err
	}
	d.changed()
	for e, b := range d.m.bodies {
		if b.parent != ecs.Null && d.m.parentOf(e) == ecs.Null {
			b.parent = ecs.Null
		}
	}
	return d.h.Verify()
}

// parallel switches the workers on or off.
func (d *transforms) parallel(r record) error {
	if d.jobs != nil {
		d.t.Parallel(nil)
		err := d.jobs.Close()
		d.jobs = nil
		return err
	}
	d.jobs = job.NewScheduler(d.w, job.Workers(1+int(r.kind%3)))
	d.t.Parallel(d.jobs)
	return nil
}

// snapshot keeps the moment.
func (d *transforms) snapshot(record) error {
	if d.saved != nil {
		d.saved.Close()
	}
	d.saved, d.then = d.w.Snapshot(), d.m.clone()
	return nil
}

// restore goes back to it.
func (d *transforms) restore(record) error {
	if d.saved == nil {
		return nil
	}
	if err := d.w.Restore(d.saved); err != nil {
		return err
	}
	d.m = d.then.clone()
	d.changed()
	return d.compare()
}
