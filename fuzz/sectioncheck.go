package fuzz

import (
	"errors"
	"fmt"

	"quarry/ecs"
	"quarry/ecs/scene"
)

// compare compares the world with the model when nothing is under way.
func (d *sectionRun) compare() error {
	if err := errors.Join(d.w.Verify(), d.host.Verify()); err != nil {
		return err
	}
	want := 0
	for _, i := range d.instances {
		if got, want := i.Len(), len(i.values); got != want {
			return fmt.Errorf("instance %d has a file of %d entities, want %d", i.Number(), got, want)
		}
		for k, v := range i.values {
			e := i.EntityOf(scene.Identity{Object: k.object, Sub: k.sub})
			if i.dead[k] {
				if e != ecs.Null {
					return fmt.Errorf("instance %d: %v was destroyed, and is there", i.Number(), k)
				}
				continue
			}
			want++
			if err := d.compareEntity(i, v, e); err != nil {
				return fmt.Errorf("instance %d of %s, variant %d: %v: %w",
					i.Number(), sectionName(i.section), i.variant, k, err)
			}
		}
		for e, x := range i.copies {
			want++
			if p := d.h.spot.Get(e); p == nil || p.X != x {
				return fmt.Errorf("instance %d: a copy has %v, want %v", i.Number(), p, x)
			}
		}
	}
	q := ecs.NewQuery(d.w, ecs.With(d.h.identity), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	if got := q.Count(); got != want {
		return fmt.Errorf("there are %d entities of sections, want %d", got, want)
	}
	return nil
}

func (d *sectionRun) compareEntity(i *loading, v *sectionValue, e ecs.Entity) error {
	p := d.h.spot.Get(e)
	switch {
	case e == ecs.Null || p == nil:
		return errors.New("it is not there")
	case p.X != v.x:
		return fmt.Errorf("its place is %v, want %v", p.X, v.x)
	case d.h.lamp.Has(e) != v.lit:
		return fmt.Errorf("it is lit: %v, want %v", d.h.lamp.Has(e), v.lit)
	case d.h.next.Has(e) != (v.next != sectionKey{}), d.h.over.Has(e) != (v.over != sectionKey{}):
		return errors.New("it has other links")
	}
	if m := d.h.mark.Get(e); (m != nil) != (v.mark != 0) || m != nil && m.N != v.mark {
		return fmt.Errorf("its mark is %v, want %v", m, v.mark)
	}
	if d.h.hasLate {
		if m := d.h.late.Get(e); (m != nil) != (v.late != 0) || m != nil && m.N != v.late {
			return fmt.Errorf("its late component is %v, want %v", m, v.late)
		}
	}
	if n := d.h.next.Get(e); n != nil {
		if got, want := d.alive(n.To), i.of(v.next); got != want {
			return fmt.Errorf("it leads to %v, want %v", got, want)
		}
	}
	if o := d.h.over.Get(e); o != nil {
		return d.compareOver(v, d.alive(o.To))
	}
	return nil
}

// alive returns e if it lives, and Null otherwise.
func (d *sectionRun) alive(e ecs.Entity) ecs.Entity {
	if e != ecs.Null && d.w.Owns(e) && d.w.Alive(e) {
		return e
	}
	return ecs.Null
}

// of returns the entity of a key, as the instance knows it.
func (i *loading) of(k sectionKey) ecs.Entity {
	return i.EntityOf(scene.Identity{Object: k.object, Sub: k.sub})
}

// compareOver checks a link to another section. It may lead to any of its instances that has the
// entity: which, follows from what came and went. It must lead somewhere if the first has it.
func (d *sectionRun) compareOver(v *sectionValue, got ecs.Entity) error {
	first := true
	for _, i := range d.instances {
		if i.section != v.to {
			continue
		}
		want := i.of(v.over)
		if got != ecs.Null && got == want {
			return nil
		}
		if first && got == ecs.Null && want != ecs.Null {
			return fmt.Errorf("it leads to none, and %v of instance %d is there", v.over, i.Number())
		}
		first = false
	}
	if got != ecs.Null {
		return fmt.Errorf("it leads to %v, which no instance has", got)
	}
	return nil
}

// end settles or closes what is under way, and looks for memory that is lost.
func (d *sectionRun) end(sudden bool) error {
	if !sudden {
		if err := d.settle(); err != nil {
			return err
		}
		for len(d.instances) > 0 {
			if err := d.unload(record{}); err != nil {
				return err
			}
		}
		if err := d.settle(); err != nil {
			return err
		}
	}
	if err := errors.Join(d.host.Close(), d.w.Verify(), d.w.Close()); err != nil {
		return err
	}
	if n := d.u.Stats().LiveChunks; n != 0 {
		return fmt.Errorf("%d chunks are left", n)
	}
	return d.u.Close()
}
