package ecs

import (
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Change is a structural change of components: it adds and removes types in one move. Create it
// once and apply it often. Adding a type that an entity already has, or removing one that it lacks,
// has no effect. Added components are zero, and enabled. Sparse types are added and removed after
// rows have moved; an entity that was destroyed and is kept by Cleanup types gets none.
type Change struct{ core edit.Change }

func (c *Change) inner() *edit.Change { return (*edit.Change)(unsafe.Pointer(c)) } // Safe because a Change is its core.

// Part is a part of a change: Add, Put or Remove.
type Part struct{ part edit.Part }

// givenBy returns what types of a part name.
func givenBy(types []Type) []edit.Given {
	list := make([]edit.Given, len(types))
	for i, t := range types {
		list[i].Type = infoOf("NewChange", t)
		if v, ok := t.(SharedValue); ok {
			list[i].Value = v.core.Value
		}
	}
	return list
}

// Add is the part of a change that adds types to entities. A shared type may be given by a value,
// which only entities without a value get; the type alone stands for its zero value.
func Add(types ...Type) Part { return Part{edit.Part{Types: givenBy(types)}} }

// Remove is the part of a change that removes types from entities.
func Remove(types ...Type) Part { return Part{edit.Part{Types: givenBy(types), Remove: true}} }

// Put is the part of a change that gives entities shared values, whether or not they had values
// before.
func Put(values ...SharedValue) Part {
	list := make([]edit.Given, len(values))
	for i, v := range values {
		list[i] = edit.Given{Type: v.core.Type, Value: v.core.Value}
	}
	return Part{edit.Part{Types: list, Put: true}}
}

// NewChange creates a change. It panics for a type that is given twice, also if it is both added
// and removed, and for a type of another world.
func NewChange(w *World, parts ...Part) *Change {
	w.inner().CheckNew("NewChange")
	c := &Change{core: edit.Change{World: w.inner()}}
	for i := range parts {
		c.inner().TakePart(&parts[i].part)
	}
	return c
}

// Into returns the change that moves entities, whatever their types, into the archetype a in one
// move. Types that an entity lacks are added, zero and enabled; types that a lacks are removed;
// components of types in both keep their values. Into panics if a has the tag CleanupEntity.
func Into(a *Archetype) *Change {
	if a == nil || a.core.World == nil {
		panic("ecs: Into: " + world.Unmade["Archetype"])
	}
	if a.core.CleanupOnly {
		world.RefuseDying("Into")
	}
	c, ok := a.core.Into.(*Change)
	if !ok {
		c = &Change{core: edit.Change{World: a.core.World, Into: a.inner()}}
		a.core.Into = c
	}
	return c
}

// String lists what the change adds and removes.
func (c *Change) String() string { return c.inner().String() }

// Apply applies the change to one entity. changed is false if the entity already has what is added
// and lacks what is removed, or if it is dead and the change only removes. Apply panics if e is
// dead and the change adds, inside a loop over rows, and for an entity of another world. An error
// is a *LimitError; nothing has changed then.
func (c *Change) Apply(e Entity) (changed bool, err error) { return c.inner().Apply(entity.ID(e)) }

// ApplyQuery applies the change to every entity that matches q. Either all are changed or none; an
// error is a *LimitError. The batch holds the rows that moved, in their new places, for the caller
// to fill.
//
// Rows stay together: columns are copied chunk by chunk. If a whole archetype matches and its
// layout equals the target's, its chunks change hands without a copy. That is so if only tags
// differ, or if the target has no rows and can use the layout; there, removed types leave holes
// that cost at most a quarter of the rows.
//
// ApplyQuery panics inside a loop over rows and for a query of another world. Changed and Ordered
// terms of q compare with its Since, which does not advance.
func (c *Change) ApplyQuery(q *Query) (Batch, error) {
	const op = "Change.ApplyQuery"
	c.core.World.CheckChange(op)
	edit.CheckQuery(c.core.World, op, q.inner())
	b, _, err := c.inner().ApplyTo(op, edit.SelectRows(q.inner(), op))
	return Batch{b}, err
}

// ApplyList applies the change to the entities of a list, in any order, as ApplyQuery does. An
// entity that is in the list twice is changed once. Dead entities are skipped if the change only
// removes. ApplyList panics for a dead entity if the change adds, and for an entity of another
// world; nothing has changed then.
func (c *Change) ApplyList(list []Entity) (Batch, error) {
	const op = "Change.ApplyList"
	c.core.World.CheckChange(op)
	b, _, err := c.inner().ApplyList(op, idsOf(list))
	return Batch{b}, err
}

// SwapComponents exchanges all components of two entities of one archetype: values, buffers,
// managed values and enable bits. It sorts rows, or lets two entities trade places, without a move
// from archetype to archetype. It returns false, and changes nothing, if one of them is not alive.
// It is a structural change: it panics inside a loop over rows, for entities of different
// archetypes, and for an entity of another world. Names and references go on naming the same
// entity, so facts kept elsewhere about the two become untrue: swapping members of a hierarchy
// breaks it until its Sweep, and a group follows its LinkedEntity. Cost: no value is copied, since
// the entities change rows: two records and two ids are written, whatever the types.
func (w *World) SwapComponents(a, b Entity) bool {
	return edit.SwapComponents(w.inner(), entity.ID(a), entity.ID(b))
}
