package command

import (
	"fmt"

	"quarry/ecs"
)

// Orders about a sparse type, and what a test compares.

// recordAim gives an order about the sparse type to a buffer.
func (o order) recordAim(y *yard, cb Recorder, e, other ecs.Entity) {
	switch o.what {
	case doAddAim:
		AddSparse(cb, e, y.aim, aim{other, int32(o.n)})
	case doPutAim:
		PutSparse(cb, e, y.aim, aim{other, int32(o.n)})
	case doPutAimList:
		PutSparse(cb, []ecs.Entity{e, other}, y.aim, aim{N: int32(o.n)})
	case doRemoveAim:
		cb.writer().Remove(e, y.aim)
	}
}

// doAim is do of the orders about the sparse type. They fail for an entity that was destroyed and
// is kept by its Cleanup types.
func (o order) doAim(y *yard, e, other ecs.Entity) (failed int) {
	v, targets := aim{other, int32(o.n)}, []ecs.Entity{e}
	switch o.what {
	case doRemoveAim:
		if e == ecs.Null {
			return 1
		}
		y.aim.Remove(e)
		return 0
	case doPutAimList:
		v, targets = aim{N: int32(o.n)}, append(targets, other)
	default:
		if other == ecs.Null {
			return 1
		}
	}
	for _, e := range targets {
		switch {
		case !y.w.Alive(e), y.dying(e):
			failed++
		case !y.aim.Add(e, v) && o.what != doAddAim:
			y.aim.Set(e, v)
		}
	}
	return failed
}

// describe returns all components of an entity, with entities in them by their numbers.
func (y *yard) describe(e ecs.Entity, number func(ecs.Entity) string) string {
	if !y.w.Alive(e) {
		return "dead"
	}
	place, _ := y.w.Locate(e)
	text := place.Archetype.String()
	if v := y.pos.Get(e); v != nil {
		text += fmt.Sprint(" pos", *v)
	}
	if v := y.ptr.Get(e); v != nil {
		text += fmt.Sprint(" ptr", number(v.To), v.N)
	}
	if v := y.walk.Get(e); v != nil {
		text += fmt.Sprint(" walk", *v, y.walk.Enabled(e))
	}
	if v := y.socket.Get(e); v != nil {
		text += fmt.Sprint(" socket", *v)
	}
	if v := y.aim.Get(e); v != nil {
		text += fmt.Sprint(" aim", number(v.At), v.N, y.aim.Enabled(e))
	}
	for _, h := range y.hits.Slice(e) {
		text += fmt.Sprint(" hit", number(h.By), h.N)
	}
	if y.notes.Has(e) {
		text += fmt.Sprint(" notes", y.notes.Slice(e))
	}
	for _, l := range y.group.Slice(e) {
		text += fmt.Sprint(" linked", number(l.Entity))
	}
	return text
}

// describeAll returns what the entities have that a test knows, and the number of the others.
func (y *yard) describeAll(known []ecs.Entity) (lines []string) {
	numbers := map[ecs.Entity]int{}
	for i, e := range known {
		if e != ecs.Null && y.w.Alive(e) {
			numbers[e] = i
		}
	}
	number := func(e ecs.Entity) string {
		if e.IsPlaceholder() {
			return "placeholder"
		}
		if n, ok := numbers[e]; ok {
			return fmt.Sprint("#", n)
		}
		return "nobody"
	}
	for i, e := range known {
		lines = append(lines, fmt.Sprint(i, ": ", y.describe(e, number)))
	}
	return append(lines, fmt.Sprint("alive ", y.w.Stats().Alive))
}
