package ecs

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Moving to another world. If both worlds lie in one universe and a whole archetype moves, its full
// chunks change hands unchanged, and its last one too where the target has no rows; only the entity
// column and the links are written. All other rows are copied. Types are matched by their Go types.
// The target world registers the types that it lacks, so the numbers of types, and with them the
// order of columns, may differ. A target archetype without rows adopts the source's layout, so that
// chunks change hands even then:
//
//	from  [Position 0, Owner 1]     to  [Owner 5, Position 9]
//	      | Entity | Position | Owner |     the same chunk, places of 9 and 5 as they lie there
//
// Steps that can fail come first: finding archetypes, and reserving blocks of buffers, ids and
// rows. Then rows move archetype by archetype. Last, when all new entities are known, every entity
// value of the old world in the moved components is rewritten for the new world.

// MoveResult is the result of a move from another world.
type MoveResult struct {
	Batch                       // the rows, in their new places
	pages  []*[arrivals]arrival // by index in the old world, in pages; nil: none of them moved
	tag    entity.Tag           // of the old world
	number uint32               // of the move, among those that the pages served
}

// arrivals is the number of entities per page.
const arrivals = 8192

// arrival is the new identity of an old entity with the given version, in the move with a number.
type arrival struct {
	version, number uint32
	to              Entity
}

// Of returns the new Entity of an entity of the old world, or Null if it was not moved.
func (m *MoveResult) Of(old Entity) Entity {
	index := old.index()
	if !entity.ID(old).Is(m.tag) || int(index/arrivals) >= len(m.pages) {
		return Null
	}
	if page := m.pages[index/arrivals]; page != nil {
		if a := &page[index%arrivals]; a.version == old.Version() && a.number == m.number {
			return a.to
		}
	}
	return Null
}

func (m *MoveResult) note(old, to Entity) {
	index := old.index()
	page := &m.pages[index/arrivals]
	if *page == nil {
		*page = new([arrivals]arrival)
	}
	(*page)[index%arrivals] = arrival{old.Version(), m.number, to}
}

// reuse makes m the result of another move, from a world with so many records. The pages stay, with
// entries that have the numbers of earlier moves: a page takes 128 KiB, for which the collector may
// ask for work, or begin a cycle.
func (m *MoveResult) reuse(tag entity.Tag, records int) {
	if m.number++; m.number == 0 { // entries of 2^32 moves ago have it
		m.pages, m.number = nil, 1
	}
	m.Batch, m.tag = Batch{}, tag
	if more := (records+arrivals-1)/arrivals - len(m.pages); more > 0 {
		m.pages = append(m.pages, make([]*[arrivals]arrival, more)...)
	}
}

// MoveAll moves all entities of another world to w, as new entities of w, with their components,
// enable bits, buffers, shared values and names. Shared values that are equal to one of w become
// that value. Entity values in components and in elements of buffers are rewritten: those that
// refer to a moved entity refer to its new identity; those that refer to any other entity of the
// old world, alive or dead, become Null; all others stay, including those that refer to dead
// entities of w.
//
// Either all entities move or none; an error is a *LimitError. MoveAll panics for w itself, while
// either world is in a loop or shared, and for a type that both worlds registered with different
// options. Types that w lacks are registered, and stay. Cost: if both worlds are in one universe,
// chunks change hands and only entity values are rewritten; otherwise rows are copied.
func (w *World) MoveAll(from *World) (MoveResult, error) {
	const op = "World.MoveAll"
	w.checkMove(op, from)
	var m MoveResult
	err := w.move(op, from, from.selectAll(), &m)
	return m, err
}

// MoveQuery moves the entities that match a query of another world to w; see MoveAll. Changed and
// Ordered terms of q compare with its Since, which does not advance.
func (w *World) MoveQuery(q *Query) (MoveResult, error) {
	var m MoveResult
	err := w.moveQuery(q, &m)
	return m, err
}

// moveQuery is MoveQuery that reuses what the result of an earlier move has.
func (w *World) moveQuery(q *Query, m *MoveResult) error {
	const op = "World.MoveQuery"
	if q == nil || q.w == nil {
		q.refuse(op)
	}
	w.checkMove(op, q.w)
	q.checkOpen(op)
	return w.move(op, q.w, q.selectRows(op), m)
}

func (w *World) checkMove(op string, from *World) {
	w.checkNew(op)
	from.checkNew(op)
	if w == from {
		// errors.md, Borrows: `both worlds are the same` | `MoveAll` from a world to itself. |
		// `Instantiate`, or `Clone`.
		panic("ecs: " + op + ": both worlds are the same")
	}
	w.checkChange(op)
	from.checkChange(op)
}

// migration is the state of a move.
type migration struct {
	op        string
	w, from   *World
	tx        *change.Tx // of w
	transfers []transfer
	sparse    []sparseTransfer
	moved     *MoveResult
}

// transfer is the move of one part's rows to an archetype of another world.
type transfer struct {
	p    *change.Part // of a transaction of the old world
	to   *Archetype
	path *path
	give int // chunks that change hands
}

// move moves the rows that a transaction of another world has selected. moved is zero, or that of
// an earlier move, and is that of no move after an error.
func (w *World) move(op string, from *World, selected *change.Tx, moved *MoveResult) error {
	m := &migration{op: op, w: w, from: from, tx: w.rows.Begin(), moved: moved}
	moved.reuse(from.ids.Tag(), from.ids.Records())
	total := selected.Rows()
	if total == 0 {
		moved.Batch = w.batch(0)
		return nil
	}
	if total > mostAlive-w.alive() {
		return during(op, limit("entities a world", mostAlive, nil))
	}
	for i := range selected.Parts {
		if err := m.registerTypes(from.archetypeOn(selected.Parts[i].Table)); err != nil {
			return during(op, err)
		}
	}
	for _, t := range from.types.sparse {
		if t.sparse.Len() > 0 {
			if err := m.registerType(t); err != nil {
				return during(op, err)
			}
		}
	}
	w.loops.enter(op)
	defer w.loops.leave()
	from.loops.enter(op)
	defer from.loops.leave()
	if err := m.reserve(selected, total); err != nil {
		return during(op, err)
	}
	for i := range m.transfers {
		m.transfers[i].run(m)
	}
	rename := func(e *Entity) {
		if *e != Null && entity.ID(*e).Is(from.ids.Tag()) {
			*e = moved.Of(*e)
		}
	}
	for _, s := range m.tx.Spans {
		w.eachLink(s, rename)
		w.eachChunkLink(s.Table, rename)
		for i := range m.sparse {
			m.sparse[i].eachLink(s, rename)
		}
	}
	moved.Batch = w.batch(total)
	return nil
}

// reserve does everything that can fail. On an error nothing has changed, except that new types
// stay registered.
func (m *migration) reserve(selected *change.Tx, total int) error {
	before := len(m.w.archetypes.list)
	err := m.aim(selected)
	if err == nil {
		m.aimSparse(selected)
		err = refused(m.tx.Reserve(total))
	} else {
		m.tx.Cancel()
	}
	if err != nil {
		m.w.forget(before)
	}
	return err
}

// aim finds the target archetypes of the rows and takes blocks for spilled buffers.
func (m *migration) aim(selected *change.Tx) error {
	for i := range selected.Parts {
		if err := m.find(&selected.Parts[i]); err != nil {
			return err
		}
	}
	for i := range m.transfers {
		if err := m.takeBlocks(&m.transfers[i]); err != nil {
			return err
		}
	}
	return nil
}

// registerTypes registers the types of an archetype of the other world that w lacks.
func (m *migration) registerTypes(a *Archetype) error {
	for _, id := range a.table.Types {
		if err := m.registerType(m.from.types.list[id]); err != nil {
			return err
		}
	}
	return nil
}

// registerType registers a type of the other world, if w lacks it.
func (m *migration) registerType(t *typeInfo) error {
	if known, ok := m.w.types.find(t.key()); ok {
		if mine := m.w.types.list[known]; !mine.isLike(t) {
			// errors.md, Borrows: `the worlds have ... with different options` | Two worlds
			// registered a type differently. | The same options in both.
			panic(fmt.Sprintf("ecs: %s: the worlds have %s with different options", m.op, t.name))
		}
		return nil
	}
	if len(m.w.types.list) == MaxTypes {
		return limit("component types a world", MaxTypes, errManyTypes)
	}
	m.w.register(m.op, t.copied())
	return nil
}

// find adds the transfer of a part's rows.
func (m *migration) find(p *change.Part) error {
	w, a := m.w, m.from.archetypeOn(p.Table)
	var sig signature
	var given []*value.Shared
	for _, id := range a.table.Types {
		known, _ := w.types.find(m.from.types.list[id].key())
		sig.Add(known)
		if v := a.valueOf(id); v != nil {
			given = append(given, w.types.list[known].shared.Copy(v, nil))
		}
	}
	to, err := w.archetypeOf(sig, w.valuesFor(make([]*value.Shared, 0, usualValues), &sig, given, nil, nil))
	if err != nil {
		return err
	}
	numbers := make([]typeID, len(to.table.Types))
	for slot, id := range to.table.Types {
		numbers[slot], _ = m.from.types.find(w.types.list[id].key())
	}
	path := a.table.Across(&to.table.Table, numbers)
	m.transfers = append(m.transfers, transfer{p, to, path, m.tx.PlanAcross(p, path)})
	return nil
}

// takeBlocks takes blocks of w's heap for the spilled buffers of a transfer.
func (m *migration) takeBlocks(r *transfer) error {
	for _, b := range r.to.table.Buffers() {
		t, c := m.w.types.list[b.Key], r.p.Table.Column(r.path.Number(typeID(b.Key)))
		err := r.p.EachRow(func(at alloc.StoreRow) error {
			from := value.HeaderOf(at, c)
			if !from.Spilled() {
				return nil
			}
			return refused(m.tx.Take(t.spill, &t.shape, from.Len()))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// run moves the rows of a transfer.
func (r *transfer) run(m *migration) {
	for _, b := range r.to.table.Buffers() {
		m.moveSpills(r, b)
	}
	m.w.rows.Receive(&m.from.rows, r.p, r.path, r.give, m.renamed)
}

// moveSpills moves the spilled buffers of the rows, which have not moved yet, to blocks of the new
// world's heap. A header cannot move as it is: it counts from the base of its universe.
func (m *migration) moveSpills(r *transfer, b column) {
	t, c := m.w.types.list[b.Key], r.p.Table.Column(r.path.Number(typeID(b.Key)))
	_ = r.p.EachRow(func(at alloc.StoreRow) error {
		h := value.HeaderOf(at, c)
		if !h.Spilled() {
			return nil
		}
		next := m.tx.Block()
		value.Move(t.spill.Bytes(&next, &t.shape, 0, h.Len()), m.from.buffers.Own().Bytes(h, &t.shape, 0, h.Len()))
		r.p.Table.KeepCell(at, c)
		m.from.buffers.Free(h)
		*h = next
		return nil
	})
}

// renamed records the new identities of entities, and moves their names and entries to them.
func (m *migration) renamed(old, to []entity.ID) {
	for i := range m.sparse {
		m.sparse[i].run(old, to)
	}
	for i, e := range entitiesOf(old) {
		m.moved.note(e, Entity(to[i]))
		if m.from.names.Len() > 0 {
			m.moveName(e, Entity(to[i]))
		}
	}
}

// moveName gives an entity the name of its old entity in the old world.
func (m *migration) moveName(old, to Entity) {
	if text := m.from.names.Of(old.index()); text != "" {
		m.from.names.Remove(old.index())
		m.w.SetName(to, text)
	}
}
