package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// The model's archetypes.

// group is one set of types: the model's archetype.
type group struct {
	set    kinds
	a      *ecs.Archetype // nil: entities have not had the set yet
	rows   []ecs.Entity
	pinned bool // the driver has it from NewArchetype: it stays without rows
}

// groupOf returns the group of a set. The world has its archetype once bind has it.
func (m *model) groupOf(set kinds) *group {
	g := m.bySet[set]
	if g == nil {
		g = &group{set: set}
		m.bySet[set] = g
	}
	return g
}

// group returns the group of a set, whose archetype exists from now on.
func (d *world) group(set kinds) *group {
	g := d.m.groupOf(set)
	d.pin(g)
	return g
}

// pin asks the world for a group's archetype, which stays then.
func (d *world) pin(g *group) {
	if !g.pinned {
		d.bind(g, ecs.NewArchetype(d.w, d.types(g.set, 0)...))
		g.pinned = true
	}
}

// bind notes a group's archetype, which the world has just made or used.
func (d *world) bind(g *group, a *ecs.Archetype) {
	if g.a == a {
		return
	}
	if g.a != nil {
		panic(fmt.Sprintf("%v at %p: want the one at %p", a, a, g.a))
	}
	for k, c := range d.list {
		if a.Has(c.Type()) != g.set.has(k) {
			panic(fmt.Sprintf("%v: Has(%v): got %v", a, c.Type(), !g.set.has(k)))
		}
	}
	g.a = a
	d.m.groups = append(d.m.groups, g)
}

// bindOf notes the archetype of an entity's group after a call that brought it there.
func (d *world) bindOf(e ecs.Entity, g *group) {
	seat, _ := d.w.Locate(e)
	d.bind(g, seat.Archetype)
}

// retire forgets the groups without rows that the driver does not have from NewArchetype,
// as Shrink does, and returns them.
func (m *model) retire() (gone []*group) {
	m.groups = slices.DeleteFunc(m.groups, func(g *group) bool {
		if len(g.rows) > 0 || g.pinned {
			return false
		}
		delete(m.bySet, g.set)
		gone = append(gone, g)
		return true
	})
	return gone
}
