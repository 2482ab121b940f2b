package ecs

import (
	"errors"
	"slices"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
)

// Clone makes a world with the same types, archetypes, entities and names: whoever was 12v3 is
// 12v3 in the clone, see World.Entity, and the same operations on both give the same ids,
// and the same Hash. Queries, changes and other handles are made anew, Register gives those
// of the types. Values that are shared or managed are copied as Go assigns them; entities in
// components, buffers and shared values name those of the clone. All is marked changed. The
// options are those of NewWorld: the clone has a universe of its own unless WithUniverse
// is given, and w's ChunkGrowth. It reads w, and panics during iteration; no goroutine
// may reserve ids of w meanwhile. An error wraps those of NewWorld or is a *LimitError, and
// nothing is left then. Cost: a copy of all rows, and a word for each link.
func (w *World) Clone(options ...Option) (*World, error) {
	const op = "World.Clone"
	w.checkNew(op)
	w.checkUnlocked(op)
	checkOptions(op, options)
	c, err := NewWorld(append([]Option{ChunkGrowth(w.growth)}, options...)...)
	if err != nil {
		return nil, err
	}
	if err := c.become(w); err != nil {
		return nil, errors.Join(during(op, err), c.Close())
	}
	return c, nil
}

// become fills a world that is new with what another has. On an error it is half filled,
// and sound enough to be closed.
func (c *World) become(w *World) error {
	for _, t := range w.types[builtIn:] {
		c.register("World.Clone", t.copied())
	}
	if err := c.ids.Become(&w.ids); err != nil {
		return idLimit(err)
	}
	c.avoidTags(w)
	c.showRecords()
	values := c.copyValues(w)
	for _, a := range w.archetypes {
		if err := c.copyArchetype(a, values); err != nil {
			return err
		}
	}
	if w.names != nil {
		c.copyNames(w)
	}
	c.created, c.destroyed, c.version = w.created, w.destroyed, w.version
	c.epoch++
	return nil
}

// avoidTags gives a world that is new another tag when shared values of w, which it becomes
// a copy of, name entities of a world that had the same. Those stay as they are, and could
// be told no more from w's own: two values would become one.
func (c *World) avoidTags(w *World) {
	var named uint32
	for _, t := range w.types {
		if t.shared != nil {
			named |= t.shared.worlds()
		}
	}
	if own, tag := w.ids.Tag(), c.ids.Tag(); tag != own && named>>tag.Number()&1 != 0 {
		tags.Give(tag)
		c.ids.SetTag(tags.Take(named &^ (1 << own.Number())))
	}
}

// copyNames gives entities the names of those of another world, in the order in which
// Named finds them.
func (c *World) copyNames(w *World) {
	for text, n := range w.names.byText {
		var same []Entity
		for ; n != nil; n = n.next {
			same = append(same, n.e)
		}
		for i := len(same) - 1; i >= 0; i-- { // the one that got it last is found first
			c.SetName(same[i].in(c.ids.Tag()), text)
		}
	}
}

// in returns the entity of the same index and version in the world with a tag.
func (e Entity) in(tag entity.Tag) Entity { return Entity(entity.ID(e).In(tag)) }

// copyValues returns copies of the values that archetypes of another world have, which came in
// the same order.
func (c *World) copyValues(w *World) map[*value]*value {
	var all []*value
	for _, t := range w.types {
		if t.shared != nil {
			t.shared.each(func(v *value) { all = append(all, v) })
		}
	}
	slices.SortFunc(all, compareSerials)
	copies := make(map[*value]*value, len(all))
	for _, v := range all {
		copies[v] = c.types[v.t.id].shared.copied(v, w.ids.Tag(), c.ids.Tag())
	}
	return copies
}

// copyArchetype makes the archetype of the same types and values as one of another world,
// with copies of its rows. Both worlds have the same types under the same numbers.
func (c *World) copyArchetype(from *Archetype, copies map[*value]*value) error {
	var values []*value
	for _, v := range from.values {
		values = append(values, copies[v])
	}
	to, err := c.archetypeOf(from.sig, values)
	if err != nil {
		return err
	}
	to.pinned = from.pinned
	n := from.grid.Len()
	if n == 0 {
		return nil
	}
	if from.lent != nil {
		to.lieAs(from, nil)
	}
	if err := to.growAs(byPolicy, n); err != nil {
		return err
	}
	for pos := range from.grid.Chunks() {
		to.copyRows(from, pos)
	}
	return to.copyOwned(from)
}

// copyRows copies a chunk of an archetype of another world, with the same layout, behind the
// last rows of a. Buffers that have spilled are empty in the copies, see copyOwned.
func (a *Archetype) copyRows(from *Archetype, pos int) {
	for row, left := 0, from.grid.RowsOf(pos); left > 0; {
		b, source := a.berth(left), from.grid.Row(pos, row)
		k := copy(b.ids, entities(source.Base, row+left)[row:])
		for i := range b.ids {
			b.ids[i] = b.ids[i].in(a.w.ids.Tag())
		}
		a.w.ids.MoveRows(idsOf(b.ids), b.loc)
		a.grid.Own().Rows(b.at, source, k)
		for _, c := range a.buffers() {
			a.dropSpills(b.at, c, k)
		}
		for _, c := range a.managed() {
			a.w.types[c.Key].managed.copy(from.w.types[c.Key].managed, slotsAt(b.at, c, k))
		}
		for _, slot := range a.books.Toggling() {
			a.books.CopyBits(slot, b.pos, b.at.Row, from.spanAt(pos, row), slot, k)
		}
		a.grid.Push(k)
		a.books.Mark(b.pos, a.w.version)
		row, left = row+k, left-k
	}
}

// dropSpills makes those of n buffers empty whose elements are in another world's heap.
func (a *Archetype) dropSpills(at alloc.GridRow, b column, n int) {
	for range n {
		if h := headerAt(at, b); h.ref != 0 {
			*h = header{}
		}
		at.Row++
	}
}

// copyOwned gives the rows what those of from, which they are copies of, have outside their
// chunks, and makes them name entities of their world. On an error the rows are sound, and
// some of their buffers empty.
func (a *Archetype) copyOwned(from *Archetype) error {
	w := a.w
	all := span{a, 0, a.grid.Len()}
	for i := range all.n {
		if a.bufferN == 0 {
			break
		}
		pos, row := a.grid.Find(i)
		fromPos, fromRow := from.grid.Find(i)
		at, source := a.grid.Row(pos, row), from.grid.Row(fromPos, fromRow)
		for _, b := range a.buffers() {
			h, old := headerAt(at, b), headerAt(source, b)
			if old.ref == 0 {
				continue
			}
			t := w.types[b.Key]
			room := max(int(old.length), t.inline+1)
			next, err := w.newSpill(t, room, room)
			if err != nil {
				return err
			}
			next.length = old.length
			n := int(old.length) * t.element
			// Safe because both blocks are live and have room for the elements.
			copy(unsafe.Slice((*byte)(w.spilled(&next)), n), unsafe.Slice((*byte)(from.w.spilled(old)), n))
			*h = next
		}
	}
	all.eachLink(func(e *Entity) {
		if *e != Null && entity.ID(*e).Is(from.w.ids.Tag()) {
			*e = e.in(w.ids.Tag())
		}
	})
	return nil
}
