package ecs

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// Moving to another world. Where both worlds lie in one universe and an archetype goes as
// a whole, its full chunks change hands as they are: only entities and links in them are
// written. All other rows are copied. Types are told by their Go types: the other world
// registers those that it lacks, so the numbers of types, and with them the order of columns,
// may differ. A target without rows takes over the layout, so that chunks change hands even then:
//
//	from  [Position 0, Owner 1]     to  [Owner 5, Position 9]
//	      | Entity | Position | Owner |     the same chunk, places of 9 and 5 as they lie there
//
// What may fail comes first: archetypes, blocks of buffers, ids, rows. Then rows move
// archetype by archetype, and at last every entity in their components and buffers that was
// of the old world is made to name the new one, which all are known then.

// Moved is what a move from another world brought.
type Moved struct {
	Batch                      // the rows, in their new places
	pages []*[arrivals]arrival // by index of the old world, in parts
	tag   entity.Tag           // of the world that they came from
}

// arrivals is how many new names are made room for at once.
const arrivals = 8192

// arrival is the new name of an entity whose version was version.
type arrival struct {
	version uint32
	to      Entity
}

// Of returns the new name of an entity of the old world, or Null when it did not come along.
func (m *Moved) Of(old Entity) Entity {
	index := old.index()
	if !entity.ID(old).Is(m.tag) || m.pages == nil {
		return Null
	}
	if page := m.pages[index/arrivals]; page != nil && page[index%arrivals].version == old.Version() {
		return page[index%arrivals].to
	}
	return Null
}

func (m *Moved) note(old, to Entity) {
	index := old.index()
	if m.pages == nil {
		m.pages = make([]*[arrivals]arrival, MaxEntities/arrivals)
	}
	page := &m.pages[index/arrivals]
	if *page == nil {
		*page = new([arrivals]arrival)
	}
	(*page)[index%arrivals] = arrival{old.Version(), to}
}

// MoveAll moves all entities of another world to w: their components, enable bits, buffers,
// shared values and names, as new entities of w. Values that are the same as one of w
// become that one. Entities in components and in elements of buffers that name one that
// came along name it by its new name; those that name others of the old world, alive or dead,
// become Null; entities of all other worlds, dead ones of w too, stay as they are. All move or
// none: an error is a *LimitError. It panics for w itself,
// while either world is in a loop or shared, and for a type that both have with
// different options; types that w lacks are registered, and stay. Cost: where both are in one universe chunks
// change hands, and what names entities is written; else rows are copied.
func (w *World) MoveAll(from *World) (Moved, error) {
	const op = "World.MoveAll"
	w.checkMove(op, from)
	p := from.newPick()
	for _, a := range from.archetypes.list {
		if n := a.table.Grid.Len(); n > 0 {
			s := p.add(a)
			s.rows, s.whole = n, true
		}
	}
	return w.move(op, from, p)
}

// MoveQuery moves the entities that match a query of another world to w; see MoveAll.
// Changed and Ordered terms of q compare with its Since, which stays.
func (w *World) MoveQuery(q *Query) (Moved, error) {
	const op = "World.MoveQuery"
	if q == nil || q.w == nil {
		q.refuse(op)
	}
	w.checkMove(op, q.w)
	q.checkOpen(op)
	return w.move(op, q.w, q.pick())
}

func (w *World) checkMove(op string, from *World) {
	w.checkNew(op)
	from.checkNew(op)
	if w == from {
		panic("ecs: " + op + ": both worlds are the same")
	}
	w.checkChange(op)
	from.checkChange(op)
}

// migration is a move under way.
type migration struct {
	op        string
	w, from   *World
	transfers []transfer
	moved     Moved
	blocks    []value.Header // in w, of buffers that have spilled, in the order in which they are asked for
	used      int            // of blocks
}

// transfer is the move of one archetype's picked rows to an archetype of another world.
type transfer struct {
	s    *picked
	to   *Archetype
	path *path
	give int // chunks that change hands
}

// move moves what is picked in another world.
func (w *World) move(op string, from *World, p *pick) (Moved, error) {
	m := &migration{op: op, w: w, from: from, moved: Moved{tag: from.ids.Tag()}}
	total := 0
	for i := range p.picks {
		total += p.picks[i].rows
	}
	m.moved.Batch = Batch{w: w, n: total, epoch: w.epoch}
	if total == 0 {
		return m.moved, nil
	}
	if err := m.prepare(p, total); err != nil {
		return Moved{}, during(op, err)
	}
	w.call.moved = w.call.moved[:0]
	for i := range m.transfers {
		m.transfers[i].run(m)
	}
	for _, s := range w.call.moved {
		s.eachLink(func(e *Entity) {
			if *e != Null && entity.ID(*e).Is(from.ids.Tag()) {
				*e = m.moved.Of(*e)
			}
		})
	}
	from.destroyed += uint64(total)
	w.created += uint64(total)
	from.epoch++
	w.epoch++
	m.moved.Batch = Batch{w: w, spans: w.call.moved, n: total, epoch: w.epoch}
	return m.moved, nil
}

// prepare does all that may fail. On an error nothing has changed, but types that are new.
func (m *migration) prepare(p *pick, total int) error {
	w := m.w
	if total > MaxEntities-1-int(w.created-w.destroyed) {
		return limit("entities a world", MaxEntities-1, nil)
	}
	for i := range p.picks {
		if err := m.registerTypes(p.picks[i].a); err != nil {
			return err
		}
	}
	before := len(w.archetypes.list)
	w.call.targets = w.call.targets[:0]
	var err error
	for i := range p.picks {
		if err = m.find(&p.picks[i]); err != nil {
			break
		}
	}
	if err == nil {
		err = m.takeBlocks()
	}
	if err = w.makeRoom(err, total); err != nil {
		for i := range m.blocks {
			w.buffers.Free(&m.blocks[i])
		}
		w.forget(before)
	}
	return err
}

// registerTypes registers the types of an archetype of the other world that w lacks.
func (m *migration) registerTypes(a *Archetype) error {
	for _, id := range a.table.Types {
		t := m.from.types.list[id]
		if known, ok := m.w.types.byKey[t.key()]; ok {
			if mine := m.w.types.list[known]; !mine.isLike(t) {
				panic(fmt.Sprintf("ecs: %s: the worlds have %s with different options", m.op, t.name))
			}
			continue
		}
		if len(m.w.types.list) == MaxTypes {
			return limit("component types a world", MaxTypes, nil)
		}
		m.w.register(m.op, t.copied())
	}
	return nil
}

// find adds the transfer of an archetype's picked rows.
func (m *migration) find(s *picked) error {
	w, a := m.w, s.a
	var sig signature
	var given []*value.Shared
	for _, id := range a.table.Types {
		known := w.types.byKey[m.from.types.list[id].key()]
		sig.Add(known)
		if v := a.valueOf(id); v != nil {
			given = append(given, w.types.list[known].shared.Copy(v, nil))
		}
	}
	to, err := w.archetypeOf(sig, w.valuesFor(&sig, given, nil, nil))
	if err != nil {
		return err
	}
	numbers := make([]typeID, len(to.table.Types))
	for slot, id := range to.table.Types {
		numbers[slot] = m.from.types.byKey[w.types.list[id].key()]
	}
	r := transfer{s: s, to: to, path: a.table.Across(&to.table.Table, numbers)}
	if s.whole && to.table.Len() == 0 && !r.path.Relabels && r.path.Adopts() {
		r.path.Adopt()
	}
	if s.whole && r.path.Relabels {
		r.give = a.table.FullChunks()
	}
	w.aim(to)
	if r.give > 0 {
		to.coming += a.table.PartFull()
		to.regular = true
	} else {
		to.coming += s.rows
	}
	m.transfers = append(m.transfers, r)
	return nil
}

// takeBlocks takes blocks of w's heap for the buffers that have spilled.
func (m *migration) takeBlocks() error {
	for i := range m.transfers {
		r := &m.transfers[i]
		for _, b := range r.to.table.Buffers() {
			t, c := m.w.types.list[b.Key], r.s.a.table.Column(r.path.Number(typeID(b.Key)))
			err := r.s.eachRow(func(at alloc.GridRow) error {
				from := value.HeaderOf(at, c)
				if !from.Spilled() {
					return nil
				}
				h, err := t.spill.Take(&t.shape, from.Len())
				if err == nil {
					m.blocks = append(m.blocks, h)
				}
				return bufferLimit(err)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// eachRow calls visit for the picked rows, in the order in which run moves them.
func (s *picked) eachRow(visit func(alloc.GridRow) error) error {
	runs := s.backward()
	for pos, row, n, ok := runs.next(); ok; pos, row, n, ok = runs.next() {
		at := s.a.table.Grid.Row(pos, row)
		for range n {
			if err := visit(at); err != nil {
				return err
			}
			at.Row++
		}
	}
	return nil
}

// run moves the rows of a transfer.
func (r *transfer) run(m *migration) {
	for _, b := range r.to.table.Buffers() {
		m.moveSpills(r, b)
	}
	if r.give > 0 {
		r.giveChunks(m)
	}
	runs := r.s.backward()
	for pos, row, n, ok := runs.next(); ok; pos, row, n, ok = runs.next() {
		r.send(m, pos, row, n)
		r.s.takeOut(pos, row, n)
	}
}

// moveSpills gives the picked rows, where they are still, blocks of the new world's heap for
// those of their buffers that have spilled: a header counts from the base of a universe.
func (m *migration) moveSpills(r *transfer, b column) {
	t, c := m.w.types.list[b.Key], r.s.a.table.Column(r.path.Number(typeID(b.Key)))
	_ = r.s.eachRow(func(at alloc.GridRow) error {
		h := value.HeaderOf(at, c)
		if !h.Spilled() {
			return nil
		}
		next := m.blocks[m.used]
		m.used++
		copy(t.spill.Bytes(&next, &t.shape, 0, h.Len()), m.from.buffers.Own().Bytes(h, &t.shape, 0, h.Len()))
		m.from.buffers.Free(h)
		*h = next
		return nil
	})
}

// moveValues gives n rows that have arrived slots of the new world for their managed values.
func (r *transfer) moveValues(m *migration, at alloc.GridRow, n int) {
	for _, c := range r.to.table.Managed() {
		old := m.from.types.list[r.path.Number(typeID(c.Key))].managed
		m.w.types.list[c.Key].managed.Adopt(old, value.SlotsAt(at, c, n))
	}
}

// rename ends entities in the old world, and gives rows of the new one new entities in their
// place: ids is what the rows' entity column says.
func (m *migration) rename(at location, ids []Entity) {
	var old [256]Entity
	for len(ids) > 0 {
		n := copy(old[:], ids)
		m.from.ids.GiveRows(idsOf(old[:n]))
		m.w.ids.TakeRows(at, idsOf(ids[:n]))
		for i, e := range old[:n] {
			m.moved.note(e, ids[i])
			if m.from.names != nil {
				m.moveName(e, ids[i])
			}
		}
		ids, at = ids[n:], at+location(n)
	}
}

// moveName gives an entity the name that another had in the old world.
func (m *migration) moveName(old, to Entity) {
	if n := m.from.names.byIndex[old.index()]; n != nil {
		text := n.text
		m.from.forgetName(old.index())
		m.w.SetName(to, text)
	}
}

// send copies n rows of a chunk behind the last ones of the target, as new entities.
func (r *transfer) send(m *migration, pos, row, n int) {
	start := r.to.table.Len()
	r.path.Copy(pos, row, n, func(b table.Run, _ alloc.GridRow) { r.arrive(m, b) })
	m.w.note(span{r.to, start, n})
}

// giveChunks makes full chunks of the source chunks of the target.
func (r *transfer) giveChunks(m *migration) {
	start, n := r.path.Give(r.give, func(b table.Run) { r.arrive(m, b) })
	m.w.note(span{r.to, start, n})
}

// arrive makes rows that have come entities of the new world.
func (r *transfer) arrive(m *migration, b table.Run) {
	r.moveValues(m, b.At, len(b.IDs))
	m.rename(b.Loc, entitiesOf(b.IDs))
}
