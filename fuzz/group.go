package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// The model's archetypes.

// form identifies an archetype: its types, and for each shared type a value, else nil.
type form struct {
	set    kinds
	values [sharedKinds]any
}

// group is the entities of one form: the model's archetype.
type group struct {
	form   form
	set    kinds          // form.set
	a      *ecs.Archetype // nil: no entity has had the form yet
	rows   []ecs.Entity
	pinned bool // the driver has it from NewArchetype: it stays without rows

	stirred uint32 // change version at which rows last came, went or moved
}

// goes reports whether the world may have given the archetype up since it last had rows: the model
// does not know when, only that all such archetypes are gone after Shrink.
func (g *group) goes() bool { return !g.pinned && len(g.rows) == 0 && g.set&sharing != 0 }

// norm returns a form as a key: equal for forms with the same values.
func (m *model) norm(f form) form {
	for i, v := range f.values {
		switch k := firstShared + i; {
		case !f.set.has(k):
			f.values[i] = nil
		case v == nil:
			f.values[i] = m.list[k].zero()
		default:
			f.values[i] = m.list[k].shared().norm(v)
		}
	}
	return f
}

// groupOf returns the group of a form. The world has an archetype for it once bind has recorded
// one.
func (m *model) groupOf(f form) *group {
	key := m.norm(f)
	g := m.byForm[key]
	if g == nil {
		for i, v := range f.values {
			if k := firstShared + i; !f.set.has(k) {
				f.values[i] = nil
			} else if v == nil {
				f.values[i] = m.list[k].zero()
			}
		}
		g = &group{form: f, set: f.set}
		m.byForm[key] = g
	}
	return g
}

// group returns the group of a set, with shared values that n decides. Its archetype exists from
// now on. Few groups are pinned by NewArchetype.
func (d *world) group(set kinds, n uint64) *group {
	base := d.m.groupOf(form{set: set})
	d.pin(base)
	if set&sharing == 0 || n&3 == 0 || d.inLoop > 0 {
		return base
	}
	f := form{set: set}
	var given []ecs.SharedValue
	for i := range f.values {
		if k := firstShared + i; set.has(k) && mix(n)>>i&1 != 0 {
			f.values[i] = d.someValue(k, mix(n+uint64(i)))
			given = append(given, d.list[k].shared().of(f.values[i]))
		}
	}
	g := d.m.groupOf(f)
	d.bind(g, base.a.With(given...))
	return g
}

// pin gets a group's archetype with NewArchetype, so that the world keeps it.
func (d *world) pin(g *group) {
	if !g.pinned {
		d.bind(g, ecs.NewArchetype(d.w, d.typesOf(g.form, 0)...))
		g.pinned = true
	}
}

// typesOf lists the types and values of a form, starting at any of them.
func (d *world) typesOf(f form, first int) []ecs.Type {
	types := d.types(f.set, first)
	for i, t := range types {
		for j, v := range f.values {
			if k := firstShared + j; v != nil && k < len(d.list) && d.list[k].Type() == t &&
				(first&1 == 0 || v != d.list[k].zero()) {
				types[i] = d.list[k].shared().of(v)
			}
		}
	}
	return types
}

// bind records a group's archetype, which the world has just made or used. It may differ from the
// previous one if the world had given that up.
func (d *world) bind(g *group, a *ecs.Archetype) {
	if g.a == a {
		return
	}
	if g.a != nil {
		if !g.goes() {
			panic(fmt.Sprintf("%v at %p: want the one at %p", a, a, g.a))
		}
		d.m.groups = slices.DeleteFunc(d.m.groups, func(h *group) bool { return h == g })
	}
	for k, c := range d.list {
		if a.Has(c.Type()) != g.set.has(k) {
			panic(fmt.Sprintf("%v: Has(%v): got %v", a, c.Type(), !g.set.has(k)))
		}
	}
	g.a = a
	d.m.groups = append(d.m.groups, g)
	if d.m.strays > 0 && g.set.has(cleanupEntityKind) {
		d.m.strays = min(d.m.strays, max(0, d.w.Stats().Archetypes-len(d.m.groups)))
	}
}

// bindOf records the archetype of a group after a call that moved entity e there.
func (d *world) bindOf(e ecs.Entity, g *group) {
	at, _ := d.w.Locate(e)
	d.bind(g, at.Archetype)
}

// archetypes returns the number of archetypes in the world. n is the world's own count: only the
// world knows about some archetypes without rows.
func (m *model) archetypes(n int) int {
	least := len(m.groups) // strays may have shared values, and be swept
	for _, g := range m.groups {
		if g.goes() {
			least--
		}
	}
	return min(max(n, least), len(m.groups)+m.strays)
}

// retire forgets the groups without rows that are not pinned, as Shrink does, and returns them.
// Those of the newest snapshot, which may be nil, stay.
func (m *model) retire(newest *snapshotModel) (gone []*group) {
	return m.retireOf(newest, func(*group) bool { return true })
}

// retireSince forgets the groups that came after a moment, as a restore does.
func (m *model) retireSince(t, newest *snapshotModel) {
	m.retireOf(newest, func(g *group) bool { return !slices.Contains(t.m.groups, g) })
}

// retireOf is retire for the groups for which goes returns true.
func (m *model) retireOf(newest *snapshotModel, goes func(*group) bool) (gone []*group) {
	m.groups = slices.DeleteFunc(m.groups, func(g *group) bool {
		if len(g.rows) > 0 || g.pinned || newest != nil && slices.Contains(newest.m.groups, g) || !goes(g) {
			return false
		}
		delete(m.byForm, m.norm(g.form))
		gone = append(gone, g)
		return true
	})
	return gone
}
