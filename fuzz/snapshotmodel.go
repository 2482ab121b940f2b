package fuzz

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"quarry/ecs"
)

// The model of a snapshot: a copy of the model, and the way back to it.
//
// A restore brings back everything but what by the docs is never set back:
//
//	entities, values, rows, ids, names, entries, reserved ids    as they were
//	archetypes that came since                                   go, unless pinned or of the newest snapshot
//	types, queries, the world's version                          stay
//	versions of a group of which rows came, went or moved        now, for all kinds and the order
//	versions of other groups                                     now where values differ, else they stay

// snapshotModel is a snapshot and the model as it was then.
type snapshotModel struct {
	s           *ecs.Snapshot
	version     uint32
	hash        uint64
	lost        bool // noticed by world.lose
	serial      int  // snapshots taken before
	shorter     int  // serial of the first snapshot that may have fewer blocks of ids, 0: none
	m           *model
	rows        map[*group][]ecs.Entity
	chunks      map[*group][]int // where the rows lay
	pinned      map[*group]bool
	chunkModels map[*ecs.Archetype]*holding
	next        []ecs.Entity // ids that single creations got after the moment, in order
}

// sequence follows the ids that come after a moment, as long as only single creations change them.
type sequence struct {
	of                 *snapshotModel
	n                  int // ids so far
	created, destroyed uint64
	lendable           int
}

// clone returns a copy of the model that shares only what does not change: values, kinds and
// groups.
func (m *model) clone() *model {
	c := *m
	c.entities = make(map[ecs.Entity]*entity, len(m.entities))
	for e, x := range m.entities {
		y := *x
		if x.entry != nil {
			n := *x.entry
			y.entry = &n
		}
		c.entities[e] = &y
	}
	c.alive, c.dead, c.reserved = slices.Clone(m.alive), slices.Clone(m.dead), slices.Clone(m.reserved)
	c.groups, c.set.order = slices.Clone(m.groups), slices.Clone(m.set.order)
	c.versions, c.lends = maps.Clone(m.versions), maps.Clone(m.lends)
	c.named = make(map[string][]ecs.Entity, len(m.named))
	for text, list := range m.named {
		c.named[text] = slices.Clone(list)
	}
	return &c
}

// keep copies the model.
func (t *snapshotModel) keep(m *model) {
	t.m, t.rows, t.chunks, t.pinned = m.clone(), map[*group][]ecs.Entity{}, map[*group][]int{}, map[*group]bool{}
	for _, g := range m.groups {
		t.pinned[g] = g.pinned
		if len(g.rows) > 0 {
			t.rows[g], t.chunks[g] = slices.Clone(g.rows), g.chunks()
		}
	}
}

// chunks lists the offset and the size of each chunk of a group.
func (g *group) chunks() (list []int) {
	for i := range g.a.Chunks() {
		first, bytes, _ := g.a.Chunk(i)
		list = append(list, first, bytes)
	}
	return list
}

// shifted returns the groups whose rows moved to other chunks since, perhaps in the same order.
func (t *snapshotModel) shifted() (some []*group) {
	for g, list := range t.chunks {
		if !slices.Equal(list, g.chunks()) {
			some = append(some, g)
		}
	}
	return some
}

// rowsOfKind reports whether any entity had a kind at the moment.
func (t *snapshotModel) rowsOfKind(k int) bool {
	for g := range t.rows {
		if g.set.has(k) {
			return true
		}
	}
	return false
}

// rowsOfKind reports whether any entity has a kind.
func (m *model) rowsOfKind(k int) bool {
	return slices.ContainsFunc(m.groups, func(g *group) bool { return g.set.has(k) && len(g.rows) > 0 })
}

// restore puts the model back to a moment.
func (m *model) restore(t *snapshotModel) {
	next := t.m.clone()
	next.groups, next.byForm, next.version = m.groups, m.byForm, m.version
	next.touched, next.reordered = m.touched, m.reordered
	next.restoreSet(m, t.version)
	for e, x := range next.entities {
		next.renewVersions(x, m.entities[e], t.version)
	}
	seen := 0
	for _, g := range m.groups {
		g.rows = slices.Clone(t.rows[g])
		if g.stirred > t.version {
			g.stirred, next.reordered = m.version, m.version
		}
		seen += len(g.rows)
	}
	if seen != len(next.entities) {
		panic(fmt.Sprintf("the model is wrong: %d rows of %d entities are of groups", seen, len(next.entities)))
	}
	*m = *next
	m.trace = m.traceOf(t)
}

// renewVersions gives an entity, which is as it was at a version, the versions that it has after a
// restore. now is what it was before, or nil.
func (m *model) renewVersions(x, now *entity, since uint32) {
	if x.group.stirred > since {
		m.arrive(x)
		return
	}
	if now == nil || now.group != x.group || now.row != x.row {
		panic("the model is wrong: an entity came, went or moved, and its group knows nothing of it")
	}
	x.arrived, x.wrote = now.arrived, now.wrote
	for k := range m.list {
		switch {
		case !x.group.set.has(k) || now.wrote[k] <= since:
		case x.off.has(k) != now.off.has(k) || !reflect.DeepEqual(x.values[k], now.values[k]):
			m.touch(x, k)
		case m.list[k].buffer() != nil || vague.has(k): // the same value may have other bytes
			m.touched[k] = m.version
		}
	}
}

// vague are the kinds with values that are the same and have different bytes: padding, -0.
const vague kinds = 1<<11 | 1<<13

// restoreSet gives the set, which is as it was at a version, the versions that it has after a
// restore; now is the model as it is.
func (m *model) restoreSet(now *model, since uint32) {
	s, before := &m.set, &now.set
	order, had := s.order, s.known
	*s = set{known: before.known, order: order, opened: before.opened, touched: before.touched}
	differs := len(order) != len(before.order)
	for i, e := range order {
		x := m.entities[e]
		y := now.entities[e]
		same := !differs && before.order[i] == e && y != nil && y.entry != nil && y.entry.v == x.entry.v &&
			y.entry.off == x.entry.off
		if differs = !same; differs {
			break
		}
	}
	for _, e := range order {
		if y := now.entities[e]; y != nil && y.entry != nil && !differs {
			m.entities[e].entry.wrote = y.entry.wrote
		}
	}
	switch {
	case differs && had:
		s.opened, s.touched = m.version, m.version
	case before.touched > since:
		s.touched = m.version
	}
}

// traceOf begins to follow ids at a moment, which has just been taken or restored.
func (m *model) traceOf(t *snapshotModel) *sequence {
	return &sequence{of: t, created: m.created, destroyed: m.destroyed, lendable: m.lendable}
}

// follow compares the id of an entity that has just been created alone with the one that came at
// the same place after the moment before.
func (m *model) follow(e ecs.Entity) error {
	t := m.trace
	if t == nil {
		return nil
	}
	if m.created != t.created+uint64(t.n)+1 || m.destroyed != t.destroyed || m.lendable != t.lendable {
		m.trace = nil
		return nil
	}
	if next := t.of.next; t.n < len(next) && next[t.n] != e {
		return fmt.Errorf("id %d after a restore: got %v want %v, as after the snapshot", t.n, e, next[t.n])
	} else if t.n == len(next) {
		t.of.next = append(next, e)
	}
	t.n++
	return nil
}
