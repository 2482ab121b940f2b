package fuzz

import (
	"fmt"

	"quarry/ecs"
)

// Names of entities.

// texts are the names in use; several entities may have the same one.
var texts = [...]string{"", "door", "gate", "wall", "a name that is a little longer than others, \x00 and ü"}

// setName names one entity, or sometimes a handful.
func (d *world) setName(r record) error {
	for i := range 1 + r.bits(3, 3) {
		e, x := d.pick(r.who + uint16(i)*uint16(r.kind))
		text := texts[(r.n+i)%uint32(len(texts))]
		if got := d.w.SetName(e, text); got != (x != nil) {
			return fmt.Errorf("SetName(%v, %q): got %v want %v", e, text, got, x != nil)
		}
		if x != nil {
			d.m.rename(e, x, text)
		}
		if err := d.compareName(e, x); err != nil {
			return err
		}
	}
	return d.compareNames()
}

func (d *world) compareName(e ecs.Entity, x *entity) error {
	want := ""
	if x != nil {
		want = x.name
	}
	if got := d.w.Name(e); got != want {
		return fmt.Errorf("Name(%v): got %q want %q", e, got, want)
	}
	return nil
}

// compareNames compares the entities that each name leads to.
func (d *world) compareNames() error {
	for _, text := range texts {
		want := ecs.Null
		if list := d.m.named[text]; len(list) > 0 {
			want = list[len(list)-1]
		}
		if got, ok := d.w.Named(text); got != want || ok != (want != ecs.Null) {
			return fmt.Errorf("Named(%q): got %v, %v want %v", text, got, ok, want)
		}
	}
	return nil
}
