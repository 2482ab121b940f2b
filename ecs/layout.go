package ecs

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/table"
	"quarry/layout"
)

// Layouts. An archetype begins with the plan of its own types. Where a batch takes a
// type from all rows of another archetype and they come to this one, which has none,
// this one takes over the other's layout, and the chunks change hands as they are; the
// place of the type that went is a hole:
//
//	[Position Health Velocity]   | Entity | Position | Health | Velocity |
//	[Position Health]            | Entity | Position | Health | (hole)   |
//
// When the type comes again the layouts are alike still, so nothing is copied either
// way, in all batches but the first. A hole is room that rows could have, so it may
// take a quarter of them at most, and ordinary creation in an empty archetype goes back
// to its own plan. An archetype without rows has no chunks, so all that knows of its
// offsets is its places, its ways and the sights of queries.

// layOut plans the chunk of an archetype that is new.
func (a *Archetype) layOut() error {
	w, n := a.w, len(a.types)
	plan, err := w.planFor(a)
	if err != nil {
		return err
	}
	if n > 0 {
		a.place = make([]place, a.types[n-1]+1)
	}
	stored, toggling := make([]column, 0, n), []uint16(nil)
	for slot, id := range a.types {
		t := w.types[id]
		a.place[id] = place{use: useOf(slot, mayRead|mayWrite)}
		if t.size > 0 {
			a.place[id].offset = offsetIn(&plan, slot) // a tag's may be the chunk's very end: it points inside
			stored = append(stored, a.columnOf(id))
		}
		if t.owns() {
			a.own(a.columnOf(id))
		}
		if t.enableable {
			toggling = append(toggling, uint16(slot))
		}
	}
	a.books = table.NewBooks(n, toggling, &w.spare)
	a.dying = a.sig.Has(dyingID)
	a.lasting = a.sig.Meets(&w.cleanupTypes) || a.sig.Has(linkedID)
	a.ownRows = plan.Rows
	a.grid = alloc.MakeGrid(w.u, w.shelf, &plan, stored, w.growth, alloc.MaxGridOrder)
	return nil
}

// planFor is ownPlan that remembers the plans of archetypes with values: of one set of types
// there may be very many.
func (w *World) planFor(a *Archetype) (layout.Plan, error) {
	if len(a.values) == 0 {
		return a.ownPlan()
	}
	plan, ok := w.plans[a.sig]
	if !ok {
		var err error
		if plan, err = a.ownPlan(); err != nil {
			return plan, err
		}
		w.plans[a.sig] = plan
	}
	return plan, nil
}

// offsetIn returns the offset of a type in a plan of the archetype's own, as places have
// it: an eighth, for columns are in small chunks as in large ones.
func offsetIn(plan *layout.Plan, slot int) uint32 {
	return uint32(plan.Places[slot+1].Offset) >> alloc.UnitOrder
}

// ownPlan lays out a unit for the archetype's types.
func (a *Archetype) ownPlan() (layout.Plan, error) {
	types := make([]*typeInfo, len(a.types))
	for slot, id := range a.types {
		types[slot] = a.w.types[id]
	}
	return planOf(types...)
}

// planOf lays out a unit for entities of some types. Columns start on cache lines, so
// the order of types with wide and narrow alignment does not matter.
func planOf(types ...*typeInfo) (layout.Plan, error) {
	columns := make([]layout.Column, 1, 1+len(types))
	columns[0] = layout.Column{Name: "Entity", Size: int(unsafe.Sizeof(Entity{})), Align: int(unsafe.Alignof(Entity{}))}
	for _, t := range types {
		columns = append(columns, t.planned())
	}
	plan, err := layout.New(columns, layout.Options{})
	if errors.Is(err, layout.ErrTooBig) {
		return plan, limit("bytes of columns a chunk", layout.ChunkSize, err)
	}
	if err != nil {
		panic("ecs: NewArchetype: " + err.Error()) // sizes and alignments come from Go types
	}
	return plan, nil
}

// planned describes a type for plans.
func (t *typeInfo) planned() layout.Column {
	return layout.Column{Name: t.name, Size: t.size, Align: t.align, Enableable: t.enableable}
}

// columnOf returns the column of a type with storage.
func (a *Archetype) columnOf(id typeID) column {
	return column{Offset: a.place[id].offset, Size: uint32(a.w.types[id].size), Key: uint32(id)}
}

// adopts reports whether the target of the way, which has no rows, should take over the
// layout of all rows that go it: they have all of its columns, would fill a unit at least,
// and the holes take no more than a quarter of the rows that a unit could have.
func (w *way) adopts() bool {
	return len(w.fresh) == 0 && w.from.grid.Len() >= w.from.grid.PerUnit() && 4*w.from.grid.PerUnit() >= 3*w.to.ownRows
}

// lieAs gives an archetype without rows the layout of one that has all of its columns. One of
// another world has other numbers for the types, ids by slot; else they are nil.
func (a *Archetype) lieAs(from *Archetype, ids []typeID) {
	offsets, tags := []int{0}, []layout.Column(nil) // entities lie at 0
	for slot, id := range a.types {
		if a.w.types[id].size == 0 {
			tags = append(tags, a.w.types[id].planned())
			continue
		}
		there := id
		if ids != nil {
			there = ids[slot]
		}
		a.place[id].offset = from.place[there].offset
		offsets = append(offsets, int(a.place[id].offset)<<alloc.UnitOrder)
	}
	plan := from.Plan().Narrow(offsets, tags)
	a.lent = &plan
	a.replan(plan.Rows, &from.grid)
}

// lieAlone gives an archetype without rows its own layout again, when that has more
// rows.
func (a *Archetype) lieAlone() {
	if len(a.grid.Chunks()) > 0 || a.grid.PerUnit() >= a.ownRows {
		return
	}
	plan, err := a.ownPlan()
	if err != nil {
		panic(err) // it was made before
	}
	for slot, id := range a.types {
		if a.w.types[id].size > 0 {
			a.place[id].offset = offsetIn(&plan, slot)
		}
	}
	a.lent = nil
	a.replan(plan.Rows, nil)
}

// replan tells all that knows of offsets of an archetype without rows, after its places
// have changed; rows is how many a unit has, like the grid whose chunks will come, or nil.
func (a *Archetype) replan(rows int, like *alloc.Grid) {
	columns := make([]column, 0, len(a.types))
	for _, id := range a.types {
		if a.w.types[id].size > 0 {
			columns = append(columns, a.columnOf(id))
		}
	}
	a.grid.Replan(rows, columns, like)
	for i := range a.owning {
		a.owning[i] = a.columnOf(typeID(a.owning[i].Key))
	}
	for _, w := range a.ways {
		w.find()
	}
	a.w.replanned++
	a.w.changeMatches()
}

// verifyLayout checks W9.
func (a *Archetype) verifyLayout() error {
	plan, columns := a.Plan(), 1 // that of the entities
	for _, p := range plan.Places {
		if !p.Hole && p.Size > 0 {
			columns--
		}
	}
	for _, c := range a.grid.Columns() {
		columns++
		if id := typeID(c.Key); c != a.columnOf(id) || a.w.types[id].owns() != slices.Contains(a.owning, c) {
			return fmt.Errorf("ecs: W9: %s of %v is at %d, its column at %d, its owning ones are %v", a.w.types[id].name, a, a.place[id].offset, c.Offset, a.owning)
		}
	}
	if columns != 0 || plan.Rows > a.ownRows || 4*plan.Rows < 3*a.ownRows {
		return fmt.Errorf("ecs: W9: %v has %d columns beyond its plan of %d rows; %d would fit alone\n%v", a, columns, plan.Rows, a.ownRows, plan)
	}
	for _, w := range a.ways {
		want := way{from: w.from, to: w.to}
		want.find()
		if !slices.Equal(w.fresh, want.fresh) || !slices.Equal(w.ending, want.ending) || !w.row.Equal(&want.row) || w.relabel != want.relabel {
			return fmt.Errorf("ecs: W9: the way from %v to %v is %+v, want %+v", w.from, w.to, *w, want)
		}
	}
	return nil
}
