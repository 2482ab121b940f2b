package ecs

import (
	"unsafe"

	"quarry/ecs/internal/edit"
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
	if a.core.Dying {
		world.RefuseDying("Into")
	}
	c, ok := a.core.Into.(*Change)
	if !ok {
		c = &Change{core: edit.Change{World: a.core.World, Into: a.inner()}}
		a.core.Into = c
	}
	return c
}

// World returns the change's world.
func (c *Change) World() *World { return worldFrom(c.core.World) }

// String lists what the change adds and removes.
func (c *Change) String() string { return c.inner().String() }
