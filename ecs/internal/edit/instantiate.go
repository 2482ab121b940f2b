package edit

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Instantiating. A call copies each member of a group n times. All steps that can fail come first:
// finding archetypes, and reserving blocks for spilled buffers, ids and rows. Then rows are filled
// member by member, column by column, so the n copies of a member are n consecutive rows:
//
//	members     a        b            rows of b's archetype
//	copies      a0 a1 a2 b0 b1 b2     | ... | b0 | b1 | b2 |
//
// Last, each entity value in a copy that refers to a member is replaced by that member's copy of
// the same number. The positions of these values are found once per member, not once per copy.

// Instantiate is ecs.World.Instantiate.
func Instantiate(w *world.World, e entity.ID) entity.ID {
	if w != nil && w.Loops.Open == 0 && w.IDs.Free() > 0 {
		if r := w.IDs.Find(e); r != nil {
			o := w.Tables.OwnerOf(r.Location)
			if transition := w.ArchetypeAt(o).Copies; transition != nil && !transition.To.Store.Full() {
				return w.Writer.Copy(transition, o.Pos(), o.RowAt(r.Location))
			}
		}
	}
	copied, err := TryInstantiate(w, e)
	if err != nil {
		panic(err)
	}
	return copied
}

// TryInstantiate is ecs.World.TryInstantiate.
func TryInstantiate(w *world.World, e entity.ID) (entity.ID, error) {
	_, err := InstantiateLinked(w, "World.Instantiate", e, 1)
	if err != nil {
		return world.Null, err
	}
	c := &edits(w).copying
	c.learn()
	return c.ids[0], nil
}

// learn remembers the transition of the only member's row to its copy, for Instantiate. It does so
// if copying the row is all there is to do: the member has no group and holds no entity values, its
// copy owns nothing outside the chunk, and the world has no sparse types.
func (c *copying) learn() {
	m := &c.members[0]
	if len(c.w.Types.Sparse) > 0 { // one entity of the archetype may have entries, another none
		return
	}
	if m.from.Copies != nil || m.from.Table.Sig.Has(world.LinkedID) || len(m.to.Table.Owning) > 0 {
		return
	}
	for _, column := range m.to.Table.Store.Columns() {
		if len(c.w.Types.List[column.Key].Links) > 0 {
			return
		}
	}
	m.from.Copies = m.transition
}

// InstantiateGroup is ecs.World.InstantiateGroup.
func InstantiateGroup(w *world.World, group []entity.ID, n int) (Batch, error) {
	const op = "World.InstantiateGroup"
	w.CheckChange(op)
	c := newCopying(w, op, n)
	for i, e := range group {
		if !c.add(op, e) {
			panic(fmt.Sprintf("ecs: %s: entity %d of the group, %v, is in it twice", op, i, e))
		}
	}
	return c.run(op)
}

// InstantiateLinked copies an entity and the entities linked to it.
func InstantiateLinked(w *world.World, op string, e entity.ID, n int) (Batch, error) {
	w.CheckChange(op)
	c := newCopying(w, op, n)
	c.addLinked(op, e)
	return c.run(op)
}

// copying is the state of a call of Instantiate.
type copying struct {
	w       *world.World
	tx      *change.Tx
	n       int // copies of each member
	members []member
	number  map[entity.ID]int32 // a member's index in members; filled only for groups
	ids     []entity.ID         // copy i of member m is at m*n + i
	links   []link              // links in the member that is being copied
}

// member is an entity that is copied.
type member struct {
	e          entity.ID
	from       *world.Archetype  // archetype of the member
	to         *world.Archetype  // archetype of its copies
	transition *world.Transition // transition from the member's row to its copies
	start      int               // row of the first copy in to
}

// link is an entity value in a member that refers to a member.
type link struct {
	column world.Column
	at     uintptr // bytes from the start of the row's value, or of the first element of its buffer
	to     int     // index of the member that it refers to
}

// newCopying returns the world's copying, with no members and a new transaction.
func newCopying(w *world.World, op string, n int) *copying {
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
	c := &edits(w).copying
	c.begin(w, n, w.Writer.Begin())
	return c
}

// begin prepares for n copies of members that are added later.
func (c *copying) begin(w *world.World, n int, tx *change.Tx) {
	c.w, c.n, c.tx = w, n, tx
	c.members, c.ids = c.members[:0], c.ids[:0]
	if len(c.number) > 0 {
		clear(c.number)
	}
}

// addLinked adds an entity and the entities linked to it.
func (c *copying) addLinked(op string, e entity.ID) {
	w := c.w
	c.add(op, e)
	if !c.members[0].from.Table.Sig.Has(world.LinkedID) {
		return
	}
	a, _, at := w.RowOf(w.RecordOf(op, e))
	for _, e := range appendLinked(w, nil, value.HeaderOf(at, a.Table.Column(world.LinkedID))) {
		if a := w.ArchetypeAt(w.Tables.OwnerOf(w.RecordOf(op, e).Location)); !a.CleanupOnly {
			c.join(e, a) // once
		}
	}
}

// add adds a member. It returns false if e is a member already.
func (c *copying) add(op string, e entity.ID) bool {
	r := c.w.RecordOf(op, e)
	if r == nil {
		panic(fmt.Sprintf("ecs: %s: %v is not alive, there is nothing to copy", op, e))
	}
	a := c.w.ArchetypeAt(c.w.Tables.OwnerOf(r.Location))
	if a.CleanupOnly {
		panic(fmt.Sprintf("ecs: %s: %v was destroyed, only its Cleanup types are left; those are not copied", op, e))
	}
	return c.join(e, a)
}

// join is like add, for a living entity whose archetype is known.
func (c *copying) join(e entity.ID, a *world.Archetype) bool {
	if len(c.members) > 0 {
		if c.number == nil {
			c.number = map[entity.ID]int32{}
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

// memberOf returns the index of the member e, or false if e is not a member.
func (c *copying) memberOf(e entity.ID) (int, bool) {
	if len(c.members) == 1 {
		return 0, e == c.members[0].e
	}
	m, ok := c.number[e]
	return int(m), ok
}

// run creates the copies.
func (c *copying) run(op string) (Batch, error) {
	w := c.w
	total := c.n * len(c.members)
	if total == 0 {
		return batch(w, 0), nil
	}
	if free := world.MostAlive - w.Living(); c.n > free/len(c.members) { // total may have overflowed
		return Batch{}, world.WithOp(op, world.Limit("entities a world", world.MostAlive, nil))
	}
	w.Loops.Enter(op)
	defer w.Loops.Leave()
	if err := c.reserve(total); err != nil {
		return Batch{}, world.WithOp(op, err)
	}
	c.copy()
	return batch(w, total), nil
}

// copy creates the copies, for which reserve has made room.
func (c *copying) copy() {
	if c.n == 0 {
		return // there is no first copy in which to find the links
	}
	for m := range c.members {
		c.fill(m)
	}
	for m := range c.members {
		c.relink(m)
	}
	c.fillEntries()
}

// reserve does everything that can fail. On an error nothing has changed.
func (c *copying) reserve(total int) error {
	before := len(c.w.Archetypes.List)
	err := c.aim(nil)
	if err == nil {
		expectCopies(c.tx, c.w, []copying{*c})
		err = world.LimitErrorOf(c.tx.Reserve(total))
	} else {
		c.tx.Cancel()
	}
	if err != nil {
		c.w.Forget(before)
	}
	return err
}

// aim finds the archetypes of the copies and takes blocks for the copies' spilled buffers, by
// member, column and copy. first is the outcome for the first member's copies; nil selects the
// outcome of Instantiate.
func (c *copying) aim(first *Outcome) error {
	for i := range c.members {
		m := &c.members[i]
		if i == 0 && first != nil {
			m.to, m.transition = first.to, first.transition()
		} else {
			to, err := pattern(m.from)
			if err != nil {
				return err
			}
			m.to, m.transition = to, m.from.Table.To(&to.Table.Table)
		}
		c.tx.Expect(&m.to.Table.Table, c.n)
	}
	for i := range c.members {
		if err := c.takeBlocks(&c.members[i]); err != nil {
			return err
		}
	}
	return nil
}

// pattern returns the archetype of copies of a's entities.
func pattern(a *world.Archetype) (*world.Archetype, error) {
	if !a.DestroyedByChange && !a.Table.Sig.Has(world.PrefabID) {
		return a, nil
	}
	sig := a.Table.Sig
	for i := range sig {
		sig[i] &^= a.World.Types.Cleanup[i]
	}
	sig.Drop(world.PrefabID)
	return a.World.ArchetypeOf(sig, a.World.ValuesFor(make([]*value.Shared, 0, world.UsualValues), &sig, nil, a, nil))
}

// takeBlocks takes blocks for the spilled buffers of a member's copies.
func (c *copying) takeBlocks(m *member) error {
	buffers := m.to.Table.Buffers()
	if len(buffers) == 0 {
		return nil
	}
	a, _, at := c.w.RowOf(c.w.RecordOf("", m.e))
	for _, b := range buffers {
		t := c.w.Types.List[b.Key]
		if !m.transition.Keeps(t.ID) {
			continue
		}
		length := value.HeaderOf(at, a.Table.Column(t.ID)).Len()
		if length <= t.Shape.Inline {
			continue
		}
		for range c.n {
			if err := c.tx.Take(t.Spill, &t.Shape, length); err != nil {
				return world.LimitErrorOf(err)
			}
		}
	}
	return nil
}

// fill creates the copies of a member. The room is reserved.
func (c *copying) fill(i int) {
	w, m := c.w, &c.members[i]
	a, pos, source := w.RowOf(w.RecordOf("", m.e))
	var rows change.TableRange
	m.transition.Refresh()
	c.ids, rows = w.Writer.Repeat(m.transition, pos, source.Row, c.n, c.ids)
	m.start = rows.Start
	c.tx.Note(rows)
	for _, b := range m.to.Table.Buffers() {
		if !m.transition.Keeps(world.TypeID(b.Key)) {
			continue
		}
		if from := value.HeaderOf(source, a.Table.Column(world.TypeID(b.Key))); from.Spilled() {
			c.fillBuffers(from, m, b)
		}
	}
}

// fillBuffers gives each copy of a spilled buffer elements of its own. Until then the copies still
// have the original's header.
func (c *copying) fillBuffers(from *value.Header, m *member, b world.Column) {
	t := c.w.Types.List[b.Key]
	length := from.Len()
	elements := t.Spill.Bytes(from, &t.Shape, 0, length)
	at, row := m.to.Table.Store.Find(m.start)
	for range c.n {
		if row == m.to.Table.Store.RowsOf(at) {
			at, row = at+1, 0
		}
		h := value.HeaderOf(m.to.Table.Store.Row(at, row), b)
		*h = value.Inline(length)
		if length > t.Shape.Inline {
			*h = c.tx.Block()
		}
		value.Move(t.Spill.Bytes(h, &t.Shape, 0, length), elements)
		row++
	}
}

// relink replaces entity values in a member's copies that refer to members by the corresponding
// copies.
func (c *copying) relink(i int) {
	m := &c.members[i]
	c.links = c.links[:0]
	g, at, row := &m.to.Table.Store, -1, 0 // where the first copy is, once a column has links
	for _, column := range g.Columns() {
		t := c.w.Types.List[column.Key]
		if len(t.Links) == 0 {
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
			t := c.w.Types.List[l.column.Key]
			first, _ := t.Linked(dest.Element(l.column.Offset, l.column.Size))
			// Safe because the copy's values are as the member's, which has an entity there.
			*(*entity.ID)(unsafe.Add(first, l.at)) = c.ids[l.to*c.n+copied]
		}
		row++
	}
}

// findLinks records the entity values that refer to members in one row of a column. The row is
// still an exact copy of the member's.
func (c *copying) findLinks(row store.Row, t *world.Type, from world.Column) {
	first, n := t.Linked(row.Element(from.Offset, from.Size))
	world.EachEntity(t.Links, first, n, uintptr(t.Shape.Element), func(e *entity.ID) {
		if to, ok := c.memberOf(*e); ok {
			// Safe because both lie in one value.
			c.links = append(c.links, link{from, uintptr(unsafe.Pointer(e)) - uintptr(first), to})
		}
	})
}
