package fuzz

import (
	"errors"
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/ecs"
)

// Operations about the sparse type.

// linkOne adds, writes, removes or toggles the entry of one entity.
func (d *world) linkOne(r record) error {
	h := d.sparseLinks()
	e, x := d.pick(r.who)
	of, _ := d.pick(uint16(r.n >> 16))
	v := sparseLink{of, int64(r.n)}
	var err error
	switch {
	case r.kind&7 < 3:
		err = d.addSparseLink(e, x, v)
	case r.kind&7 < 5:
		err = d.removeSparseLink(e, x)
	case r.kind&7 == 5:
		err = d.setSparseLink(e, x, v, r.n&1 == 0)
	default:
		has := x != nil && x.entry != nil
		call := h.Disable
		if r.n&1 == 0 {
			call = h.Enable
		}
		if got := call(e); got != has {
			err = fmt.Errorf("enable (%v) %v of %v: got %v want %v", r.n&1 == 0, h, e, got, has)
		} else if has {
			x.entry.off = r.n&1 != 0
			d.m.mark(x)
		}
	}
	return errors.Join(err, d.compareEntry(e, x))
}

func (d *world) addSparseLink(e ecs.Entity, x *entity, v sparseLink) error {
	if d.inLoop > 0 || x == nil || x.group.set.has(cleanupEntityKind) {
		return panics("ecs: Sparse.Add: ", func() { d.sparseLink.Add(e, v) })
	}
	added := false
	done, err := d.attempt(need{entries: true}, func() error {
		return ecs.Try(func() { added = d.sparseLink.Add(e, v) })
	})
	if !done {
		return err
	}
	if added != (x.entry == nil) {
		return fmt.Errorf("add %v to %v: got %v; had %+v", d.sparseLink, e, added, x.entry)
	}
	if added {
		d.m.gain(e, x, v)
	}
	return nil
}

func (d *world) removeSparseLink(e ecs.Entity, x *entity) error {
	if d.inLoop > 0 {
		return panics("ecs: Sparse.Remove: ", func() { d.sparseLink.Remove(e) })
	}
	has := x != nil && x.entry != nil
	if got := d.sparseLink.Remove(e); got != has {
		return fmt.Errorf("remove %v from %v: got %v want %v", d.sparseLink, e, got, has)
	}
	if has {
		d.m.lose(e, x)
	}
	return nil
}

func (d *world) setSparseLink(e ecs.Entity, x *entity, v sparseLink, mut bool) error {
	has, got := x != nil && x.entry != nil, false
	if !mut {
		got = d.sparseLink.Set(e, v)
	} else if p := d.sparseLink.Mut(e); p != nil {
		*p, got = v, true
	}
	if got != has {
		return fmt.Errorf("set %v of %v: got %v want %v", d.sparseLink, e, got, has)
	}
	if has {
		x.entry.v = v
		d.m.mark(x)
	}
	return nil
}

// linkMany toggles or writes the entries of many entities, or adds and removes some by a change
// of the sparse type alone.
func (d *world) linkMany(r record) error {
	d.sparseLinks()
	q := d.pickQuery(r)
	byQuery, on := r.kind&1 == 0, r.kind&2 == 0
	if r.kind&12 == 12 {
		return d.openSparseLinks(r)
	}
	list, alive := d.someList(r), []ecs.Entity(nil)
	if byQuery {
		var err error
		if list, err = d.matched(q); err != nil {
			return err
		}
	}
	alive = d.alone(list)
	if r.kind&4 == 0 {
		return d.toggleSparseLinks(q, list, byQuery, on)
	}
	if d.inLoop > 0 {
		return nil
	}
	c := change{entry: -1}
	if on {
		c.entry = 1
		list = alive // a dead entity would be a mistake
	}
	d.make(&c, r)
	return d.applyAll(r, alive, c, func() (ecs.Batch, error) {
		if byQuery {
			return c.query(q.q)
		}
		return c.list(list)
	})
}

func (d *world) toggleSparseLinks(q *query, list []ecs.Entity, byQuery, on bool) error {
	want, got := 0, 0
	for _, e := range d.alone(list) { // one that is listed twice counts once
		if x := d.m.entities[e]; x != nil && x.entry != nil {
			want++
			x.entry.off = !on
			d.m.mark(x)
		}
	}
	switch {
	case byQuery && on:
		got = d.sparseLink.EnableQuery(q.q)
	case byQuery:
		got = d.sparseLink.DisableQuery(q.q)
	case on:
		got = d.sparseLink.EnableList(list)
	default:
		got = d.sparseLink.DisableList(list)
	}
	if got != want {
		return fmt.Errorf("toggle %v: got %d want %d", d.sparseLink, got, want)
	}
	return d.compareSet()
}

// openSparseLinks writes all entries by Slice, or loops over All, where entries can neither come
// nor go.
func (d *world) openSparseLinks(r record) error {
	value := func(i int) sparseLink {
		e, _ := d.pick(uint16(mix(uint64(r.n) + uint64(i))))
		return sparseLink{e, int64(r.n) + int64(i)}
	}
	if r.n&1 == 0 {
		ids, values := d.sparseLink.Entities(), d.sparseLink.Slice()
		for i := range values {
			values[i] = value(i)
			d.m.entities[ids[i]].entry.v = values[i]
		}
		d.m.markAll()
		return d.compareSet()
	}
	for i, e := range d.sparseLink.Entities() {
		x := d.m.entities[e]
		if x == nil || x.entry == nil || d.sparseLink.Values()[i] != x.entry.v {
			return fmt.Errorf("%v: Values has %v of %v", d.sparseLink, d.sparseLink.Values()[i], e)
		}
	}
	return d.compareSet()
}

// swap lets two entities of one group trade all they have except their names.
func (d *world) swap(r record) error {
	e, x := d.pick(r.who)
	f, y := d.pick(uint16(r.n))
	if x != nil && r.n>>16&3 != 0 { // mostly one of the same group
		f = x.group.rows[int(r.n>>18)%len(x.group.rows)]
		y = d.m.entities[f]
	}
	switch {
	case x == nil || y == nil:
		if d.w.SwapComponents(e, f) {
			return fmt.Errorf("SwapComponents of %v and %v, of which one is dead: got true", e, f)
		}
		return nil
	case x.group != y.group:
		return panics("ecs: ", func() { d.w.SwapComponents(e, f) })
	}
	done, err := d.attempt(need{entries: true}, func() error {
		return ecs.Try(func() {
			if !d.w.SwapComponents(e, f) {
				panic("SwapComponents: got false")
			}
		})
	})
	if !done {
		return err
	}
	if e != f {
		d.m.swap(e, f, x, y)
	}
	return errors.Join(d.compare(e, x), d.compare(f, y), d.compareLocation(e, x), d.compareLocation(f, y))
}

// swap exchanges the rows of two entities, and their entries.
func (m *model) swap(e, f ecs.Entity, x, y *entity) {
	rows := x.group.rows
	rows[x.row], rows[y.row] = f, e
	x.row, y.row = y.row, x.row
	x.values, y.values = y.values, x.values
	x.off, y.off = y.off, x.off
	x.spilled, y.spilled = y.spilled, x.spilled
	m.arrive(x)
	m.arrive(y)
	s := &m.set
	i, j := slices.Index(s.order, e), slices.Index(s.order, f)
	if i >= 0 {
		s.order[i] = f
	}
	if j >= 0 {
		s.order[j] = e
	}
	x.entry, y.entry = y.entry, x.entry
	for _, z := range []*entity{x, y} {
		if z.entry != nil {
			m.mark(z)
		}
	}
}

// clone copies the world, rarely, into chunks cut otherwise, and compares the clone with it.
func (d *world) clone(r record) error {
	if r.bits(28, 2) != 0 {
		return d.linkOne(r)
	}
	before, live := d.w.Hash(), d.u.Stats().LiveChunks
	c, err := d.w.Clone(ecs.WithUniverse(d.u), ecs.ChunkGrowth(alloc.Doubling().Capped(64)))
	if d.w.Hash() != before {
		return fmt.Errorf("a clone changed the world's hash; it said: %w", err)
	}
	if err != nil {
		// A clone needs about what the world has.
		now, full := d.u.Stats().LiveChunks, 4*live > d.u.Size()/alloc.ChunkSize
		if !errors.Is(err, ecs.ErrLimit) || !d.tight && !full || now != live {
			return fmt.Errorf("clone: %d chunks before, %d after: %w", live, now, err)
		}
		d.result.Refused++
		return nil
	}
	err = c.Verify()
	if got := c.Hash(); got != before {
		err = errors.Join(err, fmt.Errorf("the clone's hash: got %d want %d", got, before))
	}
	if d.m.set.known {
		err = errors.Join(err, d.compareClone(c))
	}
	return errors.Join(err, d.compareCloned(c), c.Close())
}

// compareClone compares the entries of a clone.
func (d *world) compareClone(c *ecs.World) error {
	h := ecs.RegisterSparse[sparseLink](c, ecs.Enableable)
	if h.Len() != len(d.m.set.order) {
		return fmt.Errorf("%v in a clone: got %d want %d", h, h.Len(), len(d.m.set.order))
	}
	for i, f := range h.Entities() {
		e, _ := d.w.Entity(f.Index(), f.Version())
		x := d.m.entities[e]
		if x == nil || x.entry == nil || h.Values()[i].N != x.entry.v.N || h.Enabled(f) == x.entry.off {
			return fmt.Errorf("%v in a clone: entry %d, of %v: got %v", h, i, f, h.Values()[i])
		}
		of, want := h.Values()[i].Of, x.entry.v.Of
		if of.Index() != want.Index() || of.Version() != want.Version() || c.Alive(of) != d.w.Alive(want) {
			return fmt.Errorf("%v in a clone: entry %d names %v, want the twin of %v", h, i, of, want)
		}
	}
	return nil
}
