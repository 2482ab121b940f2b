package ecs

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/value"
)

// Instantiating. A call copies the members of a group, n times each. All that can fail comes
// first: archetypes, blocks for the buffers that have spilled, ids, rows. Then rows are
// filled member by member, column by column, so a copy of the i'th member is one of n rows that
// lie together:
//
//	members     a        b            rows of b's archetype
//	copies      a0 a1 a2 b0 b1 b2     | ... | b0 | b1 | b2 |
//
// At last entities in the copies that name members are made to name the copies of the same
// number. Where they stand is found once, in the member, and not again in each copy.

// Instantiate makes a copy of e and returns it: a new entity with e's components, enable
// bits, shared values and buffers, elements included, but without Prefab and Cleanup types
// and without its name. Entities in its components and buffers that name e name the copy
// then, others stay. Where e has a buffer of LinkedEntity its members are copied too, each
// once, but for those that are dead or Dying, and entities that name one of the group name its
// copy. It panics when e is not alive or is Dying, during iteration, and with a *LimitError
// when there is no room.
func (w *World) Instantiate(e Entity) Entity {
	copied, err := w.TryInstantiate(e)
	if err != nil {
		panic(err)
	}
	return copied
}

// TryInstantiate is Instantiate that returns the *LimitError; nothing has changed then.
func (w *World) TryInstantiate(e Entity) (Entity, error) {
	_, err := w.instantiateLinked("World.Instantiate", e, 1)
	if err != nil {
		return Null, err
	}
	return w.call.cloning.ids[0], nil
}

// InstantiateN makes n copies of e, as n calls of Instantiate would. The batch is the n
// copies of e, then the n of each member of its group, in order. All are made or none: an
// error is a *LimitError. It panics like Instantiate, and for a negative n. Cost: per column
// for entities without links and spilled buffers, and the ids.
func (w *World) InstantiateN(e Entity, n int) (Batch, error) {
	return w.instantiateLinked("World.InstantiateN", e, n)
}

// InstantiateGroup makes n copies of the entities of a group: those that name one
// another do so in each copy. The batch is the n copies of the first, then those of the
// second, and so on. Their own LinkedEntity buffers do not make the group larger. It panics
// like InstantiateN of each of them, and for an entity that is in the group twice.
func (w *World) InstantiateGroup(group []Entity, n int) (Batch, error) {
	const op = "World.InstantiateGroup"
	w.checkChange(op)
	c := w.newCloning(op, n)
	for i, e := range group {
		if !c.add(op, e) {
			panic(fmt.Sprintf("ecs: %s: entity %d of the group, %v, is in it twice", op, i, e))
		}
	}
	return c.run(op)
}

// instantiateLinked copies an entity and those linked to it.
func (w *World) instantiateLinked(op string, e Entity, n int) (Batch, error) {
	w.checkChange(op)
	c := w.newCloning(op, n)
	c.add(op, e)
	if c.members[0].from.table.Sig.Has(linkedID) {
		a, _, at := w.rowOf(w.recordOf(op, e))
		list := w.appendLinked(nil, value.HeaderOf(at, a.table.Column(linkedID)))
		for _, e := range list {
			if a := w.archetypeAt(w.tables.OwnerOf(w.recordOf(op, e).Location)); !a.dying {
				c.join(e, a) // once
			}
		}
	}
	return c.run(op)
}

// cloning is a call of Instantiate under way.
type cloning struct {
	w       *World
	n       int // copies of each member
	members []member
	number  map[Entity]int32 // of a member; of groups only
	blocks  []value.Header   // of the copies' buffers that spill: by member, column and copy
	used    int              // of blocks
	ids     []Entity         // copy i of member m is m*n + i
	links   []link           // of the member that is copied
}

// member is an entity that is copied.
type member struct {
	e     Entity
	from  *Archetype // its own
	to    *Archetype // its copies'
	start int        // row of to that the first copy has
}

// link is an entity in a member that names a member.
type link struct {
	column column
	at     uintptr // bytes from the start of the row's value, or of the first element of its buffer
	to     int     // member
}

// newCloning returns the world's cloning, without members.
func (w *World) newCloning(op string, n int) *cloning {
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
	c := &w.call.cloning
	c.w, c.n, c.used = w, n, 0
	c.members, c.blocks, c.ids = c.members[:0], c.blocks[:0], c.ids[:0]
	clear(c.number)
	return c
}

// add adds a member. It returns false when it is one already.
func (c *cloning) add(op string, e Entity) bool {
	r := c.w.recordOf(op, e)
	if r == nil {
		panic(fmt.Sprintf("ecs: %s: %v is not alive, there is nothing to copy", op, e))
	}
	a := c.w.archetypeAt(c.w.tables.OwnerOf(r.Location))
	if a.dying {
		panic(fmt.Sprintf("ecs: %s: %v was destroyed, only its Cleanup types are left; those are not copied", op, e))
	}
	return c.join(e, a)
}

// join is add for an entity that is alive and whose archetype is given.
func (c *cloning) join(e Entity, a *Archetype) bool {
	if len(c.members) > 0 {
		if c.number == nil {
			c.number = map[Entity]int32{}
		}
		if len(c.members) == 1 {
			c.number[c.members[0].e] = 0
		}
		if _, ok := c.number[e]; ok {
			return false
		}
		c.number[e] = int32(len(c.members))
	}
	c.members = append(c.members, member{e: e, from: a})
	return true
}

// memberOf returns the number of a member, or false.
func (c *cloning) memberOf(e Entity) (int, bool) {
	if len(c.members) == 1 {
		return 0, e == c.members[0].e
	}
	m, ok := c.number[e]
	return int(m), ok
}

// run makes the copies.
func (c *cloning) run(op string) (Batch, error) {
	w := c.w
	total := c.n * len(c.members)
	if total == 0 {
		return Batch{w: w, epoch: w.epoch}, nil
	}
	if err := c.prepare(total); err != nil {
		return Batch{}, during(op, err)
	}
	w.call.moved = w.call.moved[:0]
	for m := range c.members {
		c.fill(m)
	}
	for m := range c.members {
		c.relink(m)
	}
	w.created += uint64(total)
	w.epoch++
	return Batch{w: w, spans: w.call.moved, n: total, epoch: w.epoch}, nil
}

// prepare does all that may fail. On an error nothing has changed.
func (c *cloning) prepare(total int) error {
	w := c.w
	if free := MaxEntities - 1 - int(w.created-w.destroyed); c.n > free/len(c.members) { // total may have overflowed
		return limit("entities a world", MaxEntities-1, nil)
	}
	before := len(w.archetypes.list)
	w.call.targets = w.call.targets[:0]
	err := c.aim()
	if err == nil {
		err = c.takeBlocks()
	}
	if err = w.makeRoom(err, total); err != nil {
		c.freeBlocks()
		w.forget(before)
	}
	return err
}

// aim finds the archetypes of the copies.
func (c *cloning) aim() error {
	w := c.w
	for i := range c.members {
		m := &c.members[i]
		to, err := m.from.pattern()
		if err != nil {
			return err
		}
		m.to = to
		w.aim(to)
		to.coming += c.n
		to.table.UseOwnLayout()
	}
	return nil
}

// Copies returns the archetype that copies of the archetype's entities have, see
// World.Instantiate: itself without Prefab and Cleanup types. It makes it when there is
// none; the error is a *LimitError.
func (a *Archetype) Copies() (*Archetype, error) {
	const op = "Archetype.Copies"
	if a == nil || a.w == nil {
		(*World)(nil).refuse(op)
	}
	a.w.checkUnlocked(op)
	if a.dying {
		refuseDying(op)
	}
	to, err := a.pattern()
	return to, during(op, err)
}

// pattern returns the archetype of copies of its entities.
func (a *Archetype) pattern() (*Archetype, error) {
	if !a.lasting && !a.table.Sig.Has(prefabID) {
		return a, nil
	}
	sig := a.table.Sig
	for i := range sig {
		sig[i] &^= a.w.types.cleanup[i]
	}
	sig.Drop(prefabID)
	return a.w.archetypeOf(sig, a.w.valuesFor(&sig, nil, a, nil))
}

// takeBlocks takes the heap's blocks for the copies of buffers that have spilled.
func (c *cloning) takeBlocks() error {
	for i := range c.members {
		if err := c.takeBlocksOf(c.members[i].e, c.members[i].to, c.n); err != nil {
			return err
		}
	}
	return nil
}

// takeBlocksOf does so for n copies of an entity, of an archetype that is given.
func (c *cloning) takeBlocksOf(e Entity, to *Archetype, n int) error {
	buffers := to.table.Buffers()
	if len(buffers) == 0 {
		return nil
	}
	w := c.w
	a, _, at := w.rowOf(w.recordOf("", e))
	for _, b := range buffers {
		t := w.types.list[b.Key]
		length := value.HeaderOf(at, a.table.Column(t.id)).Len()
		if length <= t.shape.Inline {
			continue
		}
		for range n {
			h, err := t.spill.Take(&t.shape, length)
			if err != nil {
				return bufferLimit(err)
			}
			c.blocks = append(c.blocks, h)
		}
	}
	return nil
}

// freeBlocks gives them back.
func (c *cloning) freeBlocks() {
	for i := range c.blocks {
		c.w.buffers.Free(&c.blocks[i])
	}
	c.blocks = c.blocks[:0]
}

// fill makes the copies of a member. There is room.
func (c *cloning) fill(i int) {
	w, m := c.w, &c.members[i]
	a, pos, source := w.rowOf(w.recordOf("", m.e))
	to := m.to
	m.start = to.table.Grid.Len()
	path := a.table.To(&to.table.Table)
	for left := c.n; left > 0; {
		b := to.table.Tail(left)
		path.Repeat(b, pos, source.Row)
		w.ids.TakeRows(b.Loc, b.IDs)
		c.ids = append(c.ids, entitiesOf(b.IDs)...)
		for _, column := range to.table.Managed() {
			w.types.list[column.Key].managed.Clone(value.SlotsAt(b.At, column, len(b.IDs)))
		}
		to.table.Push(b)
		left -= len(b.IDs)
	}
	w.note(span{to, m.start, c.n})
	for _, b := range to.table.Buffers() {
		if from := value.HeaderOf(source, a.table.Column(typeID(b.Key))); from.Spilled() {
			c.fillBuffers(from, m, b)
		}
	}
}

// fillBuffers gives the copies of a buffer that has spilled, which have its header still,
// elements of their own.
func (c *cloning) fillBuffers(from *value.Header, m *member, b column) {
	t := c.w.types.list[b.Key]
	length := from.Len()
	elements := t.spill.Bytes(from, &t.shape, 0, length)
	at, row := m.to.table.Grid.Find(m.start)
	for range c.n {
		if row == m.to.table.Grid.RowsOf(at) {
			at, row = at+1, 0
		}
		h := value.HeaderOf(m.to.table.Grid.Row(at, row), b)
		*h = value.Inline(length)
		if length > t.shape.Inline {
			*h = c.blocks[c.used]
			c.used++
		}
		copy(t.spill.Bytes(h, &t.shape, 0, length), elements)
		row++
	}
}

// relink makes the copies of a member name the copies of those that it names.
func (c *cloning) relink(i int) {
	m := &c.members[i]
	c.links = c.links[:0]
	g, at, row := &m.to.table.Grid, -1, 0 // where the first copy is, once a column has links
	for _, column := range g.Columns() {
		t := c.w.types.list[column.Key]
		if len(t.links) == 0 {
			continue
		}
		if at < 0 {
			at, row = g.Find(m.start)
		}
		c.findLinks(g.Row(at, row), t, column)
	}
	if len(c.links) == 0 {
		return
	}
	for copied := range c.n {
		if row == g.RowsOf(at) {
			at, row = at+1, 0
		}
		dest := g.Row(at, row)
		for _, l := range c.links {
			t := c.w.types.list[l.column.Key]
			first, _ := t.linked(dest.Element(l.column.Offset, l.column.Size))
			// Safe because the copy's values are as the member's, which has an entity there.
			*(*Entity)(unsafe.Add(first, l.at)) = c.ids[l.to*c.n+copied]
		}
		row++
	}
}

// findLinks notes the entities in a row of a column, which is a copy of a member's still, that name members.
func (c *cloning) findLinks(row alloc.GridRow, t *typeInfo, from column) {
	first, n := t.linked(row.Element(from.Offset, from.Size))
	eachEntity(t.links, first, n, uintptr(t.shape.Element), func(e *Entity) {
		if to, ok := c.memberOf(*e); ok {
			c.links = append(c.links, link{from, uintptr(unsafe.Pointer(e)) - uintptr(first), to}) // Safe because both lie in one value.
		}
	})
}
