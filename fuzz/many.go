package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Entities that end or are toggled by query and by list.

// someList returns a list of entities for a call by list: rows of one archetype or entities from
// anywhere, few or many, in any order; some are listed twice, some are dead.
func (d *world) someList(r record) []ecs.Entity {
	m := d.m
	n := mix(uint64(r.n) ^ uint64(r.who)<<40)
	var list []ecs.Entity
	switch n & 3 {
	case 0:
		list = d.someRows(r)
	case 1: // so few rows of the largest group that they are listed, not masked
		list = d.fewRows(n >> 8)
	case 2:
		for i := range 1 + n>>8%8 {
			e, _ := d.pick(uint16(mix(n + i)))
			list = append(list, e)
		}
	case 3:
		part := 1 + n>>8%7
		for i, e := range m.alive {
			if mix(n+uint64(i))%part == 0 {
				list = append(list, e)
			}
		}
	}
	if len(list) == 0 {
		return list
	}
	switch n >> 4 & 3 {
	case 0:
		for i := range 1 + n>>16%4 {
			list = append(list, list[mix(n+i)%uint64(len(list))])
		}
	case 1:
		for i := len(list) - 1; i > 0; i-- {
			j := int(mix(n+uint64(i)) % uint64(i+1))
			list[i], list[j] = list[j], list[i]
		}
	}
	if n>>6&3 == 0 {
		list = append(list, ecs.Null)
		if len(m.dead) > 0 {
			list = append(list, m.dead[n>>20%uint64(len(m.dead))])
		}
		last := len(list) - 1
		list[0], list[last] = list[last], list[0]
	}
	return list
}

// fewRows returns some rows of the group with the most rows: neighbours, the last ones, or some
// from anywhere.
func (d *world) fewRows(n uint64) []ecs.Entity {
	var g *group
	for _, h := range d.m.groups {
		if g == nil || len(h.rows) > len(g.rows) {
			g = h
		}
	}
	if g == nil || len(g.rows) == 0 {
		return nil
	}
	most := max(1, len(g.rows)/1024-1)
	list := make([]ecs.Entity, 0, most)
	at := int(n>>4) % len(g.rows)
	if n&3 == 0 {
		at = len(g.rows) - 1
	}
	if n>>5&1 != 0 && most > 1 {
		list = append(list, g.rows[at]) // twice, but still walked as a list
	}
	for len(list) < most {
		list = append(list, g.rows[at])
		switch n & 12 {
		case 0:
			at = int(mix(n+uint64(len(list))) % uint64(len(g.rows)))
		default:
			at = (at + 1) % len(g.rows)
		}
	}
	return list
}

// alone returns the entities of a list that are alive, each once.
func (d *world) alone(list []ecs.Entity) []ecs.Entity {
	seen := map[ecs.Entity]bool{}
	var out []ecs.Entity
	for _, e := range list {
		if d.m.entities[e] != nil && !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out
}

// destroyQuery ends the entities that a query matches; while the tide comes in, it mostly does so
// only if they are few.
func (d *world) destroyQuery(r record) error {
	q := d.pickQuery(r)
	list, err := d.matched(q)
	if err != nil {
		return err
	}
	if !d.ebb && len(list) > 20 && r.bits(28, 3) != 0 {
		return d.createN(r)
	}
	_, err = d.endAll(list, func() int { return d.w.DestroyQuery(q.q) })
	return err
}

func (d *world) destroyList(r record) error {
	list := d.someList(r)
	if !d.ebb && len(list) > 20 && r.bits(28, 3) != 0 {
		return d.createN(r)
	}
	if r.kind>>5 == 0 {
		if err := d.misuseList(list, func(list []ecs.Entity) { d.w.DestroyList(list) }); err != nil {
			return err
		}
	}
	_, err := d.endAll(d.alone(list), func() int { return d.w.DestroyList(list) })
	return err
}

// endAll makes a call that destroys the entities of a list, which are alive and listed once, and
// the members of their groups. It returns false if there was no room.
func (d *world) endAll(list []ecs.Entity, call func() int) (bool, error) {
	return d.endAs(change{destroys: true}, d.members(list), call)
}

// endAs makes a call that ends entities, or leaves only their cleanup types.
func (d *world) endAs(c change, list []ecs.Entity, call func() int) (bool, error) {
	s, got := d.foresee(list, c), 0
	done, err := d.attempt(s.need, func() error { return ecs.Try(func() { got = call() }) })
	if !done {
		return false, err
	}
	if want := len(s.moved) + len(s.ended); got != want && (got != oneOrMore || want == 0) {
		return false, fmt.Errorf("got %d destroyed, want %d", got, want)
	}
	if err := d.fulfil(s); err != nil {
		return false, err
	}
	for _, e := range list {
		if err := d.compare(e, d.m.entities[e]); err != nil {
			return false, err
		}
	}
	return true, d.compareNames()
}

// wipe clears the world, rarely, or makes many entities. After a Clear the owner's indices are
// handed out again from the lowest.
func (d *world) wipe(r record) error {
	if r.bits(28, 3) != 0 {
		return d.createN(r)
	}
	if _, err := d.endAs(change{clears: true}, slices.Clone(d.m.alive), func() int {
		n := d.w.Stats().Alive
		d.w.Clear()
		return n - d.w.Stats().Alive
	}); err != nil {
		return err
	}
	d.m.trace = nil
	for i := range 3 {
		if err := d.createOne(record{kind: r.kind, n: r.n}); err != nil {
			return err
		}
		if n := len(d.m.alive); n == i+1 && int(d.m.alive[i].Index()) != d.m.lowest()+i {
			return fmt.Errorf("after Clear: entity %d is %v", i, d.m.alive[i])
		}
	}
	return nil
}

// toggleQuery toggles a component of all entities that a query matches; this is allowed in loops.
func (d *world) toggleQuery(r record) error {
	k, t := d.pickToggle(r)
	if t == nil {
		return nil
	}
	if err := d.renew(r); err != nil {
		return err
	}
	q := d.pickQuery(r)
	list, err := d.matched(q)
	if err != nil {
		return err
	}
	return d.toggleAll(list, k, r.n&1 == 0, func(on bool) int {
		if on {
			return t.EnableQuery(q.q)
		}
		return t.DisableQuery(q.q)
	})
}

func (d *world) toggleList(r record) error {
	k, t := d.pickToggle(r)
	if t == nil {
		return nil
	}
	list := d.someList(r)
	if r.kind>>5 == 0 {
		if err := d.misuseList(list, func(list []ecs.Entity) { t.DisableList(list) }); err != nil {
			return err
		}
	}
	if err := d.renew(r); err != nil {
		return err
	}
	return d.toggleAll(d.alone(list), k, r.n&1 == 0, func(on bool) int {
		if on {
			return t.EnableList(list)
		}
		return t.DisableList(list)
	})
}

// pickToggle returns one of the kinds in use that can be toggled, or nil.
func (d *world) pickToggle(r record) (int, toggler) {
	for i := range d.list {
		if k := (int(r.kind) + i) % len(d.list); d.active.has(k) && d.list[k].toggles() != nil {
			return k, d.list[k].toggles()
		}
	}
	return 0, nil
}

// toggleAll makes a call that toggles kind k of the entities of a list.
func (d *world) toggleAll(list []ecs.Entity, k int, on bool, call func(on bool) int) error {
	n := 0
	for _, e := range list {
		x := d.m.entities[e]
		if x.values[k] == nil {
			continue
		}
		n++
		x.off &^= 1 << k
		if !on {
			x.off |= 1 << k
		}
		d.m.touch(x, k)
	}
	if got := call(on); got != n {
		return fmt.Errorf("toggle kind %d: got %d want %d", k, got, n)
	}
	for i, e := range list {
		if i < 100 || i == len(list)-1 {
			if err := d.compare(e, d.m.entities[e]); err != nil {
				return err
			}
		}
	}
	return d.watch(k)
}

// renew sometimes begins a version, so that new writes can be distinguished from earlier ones.
func (d *world) renew(r record) error {
	if d.inLoop > 0 || r.bits(10, 1) != 0 {
		return nil
	}
	return d.advance(r)
}

// watch looks at the change versions of a kind in every chunk.
func (d *world) watch(k int) error {
	if d.inLoop > 0 {
		return nil
	}
	q := d.watches[k]
	if q == nil {
		q = &query{inDisabled: true, inPrefabs: true}
		q.terms[k], q.access[k] = optionalTerm, mayRead
		q.q = ecs.NewQuery(d.w, ecs.Optional(ecs.Read(d.list[k].Type())), ecs.IncludeDisabled(), ecs.IncludePrefabs())
		d.watches[k] = q
	}
	return d.walk(q, visit{})
}
