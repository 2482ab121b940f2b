package edit

import (
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Moving rows to another world.
//
// Terminology
//
//	from, w      the old world and the new one, in which the entities get new ids
//	part         the selected rows of one archetype of the old world (change.Part)
//	transfer     a part, its archetype in the new world, and the transition between both
//	give         a whole chunk changes hands: the new table holds it, and no component is copied
//	arrival      the new id of a moved entity, found by the index of its old one
//	relink       to rewrite entity values of moved components from old ids to new ones
//
// Chunks can change hands if both worlds lie in one universe, a whole archetype moves, both layouts
// have the columns at the same offsets (Transition.MovesChunks), and no snapshot of the old world
// is alive, as that would still read the chunks (Table.IsKept). Then all full chunks do, and the
// last one too if the target has no rows. All other rows are copied.
//
// Types are matched by their Go types and kinds; the new world registers the types that it lacks,
// and panics for one that it has with other options (registerType). So the numbers of types, and
// with them the order of columns, may differ. A target archetype without rows uses the layout of
// the source, so that chunks change hands even then:
//
//	from  [Position 0, Owner 1]     to  [Owner 5, Position 9]
//	      | Entity | Position | Owner |     the same chunk: 9 and 5 stand where 0 and 1 stood
//
// A move of 2,000 rows of [Position], 1,000 rows a chunk (MaxRows), to a world that has 300 such
// rows:
//
//	byte a row     | Entity, 8         | Position, 8      |
//	chunks 0, 1    | new ids written   | stay             |    16,000 B written, 16,000 B given
//	arrivals       page 0: 8,192 entries of 16 B by old index, 128 KiB
//
// The order: everything that can fail comes first (registerAll, reserve). Then rows move transfer
// by transfer, and the names and sparse entries of their entities with them (noteArrivals). Last,
// when all new ids are known, links are rewritten: a link to an entity that stays becomes Null.

// Arrivals are the new identities of entities that moved from another world.
type Arrivals struct {
	pages  []*[arrivalsPage]arrival // by index in the old world, in pages; nil: none of them moved
	tag    entity.Tag               // of the old world
	number uint32                   // of the move: entries of pages with another number are void
}

// arrivalsPage is the number of entities per page.
const arrivalsPage = 8192

// arrival is the new identity of an old entity with the given version, in the move with a number.
type arrival struct {
	version, number uint32
	to              entity.ID
}

// Of returns the new id of an entity of the old world, or Null if it was not moved.
func (m *Arrivals) Of(old entity.ID) entity.ID {
	index := old.Index()
	if !old.Is(m.tag) || int(index/arrivalsPage) >= len(m.pages) {
		return world.Null
	}
	if page := m.pages[index/arrivalsPage]; page != nil {
		if a := &page[index%arrivalsPage]; a.version == old.Version() && a.number == m.number {
			return a.to
		}
	}
	return world.Null
}

func (m *Arrivals) note(old, to entity.ID) {
	index := old.Index()
	page := &m.pages[index/arrivalsPage]
	if *page == nil {
		*page = new([arrivalsPage]arrival)
	}
	(*page)[index%arrivalsPage] = arrival{old.Version(), m.number, to}
}

// reuse prepares m for another move, from a world with so many records. Pages stay; their entries
// are void by their move number. A new page has 128 KiB, and allocating it may start a collection.
func (m *Arrivals) reuse(tag entity.Tag, records int) {
	if m.number++; m.number == 0 { // entries of 2^32 moves ago have it
		m.pages, m.number = nil, 1
	}
	m.tag = tag
	if more := (records+arrivalsPage-1)/arrivalsPage - len(m.pages); more > 0 {
		m.pages = append(m.pages, make([]*[arrivalsPage]arrival, more)...)
	}
}

// MoveAll is ecs.World.MoveAll. It records the new ids in moved.
func MoveAll(w *world.World, from *world.World, moved *Arrivals) (Batch, error) {
	const op = "World.MoveAll"
	checkMove(w, op, from)
	return move(w, op, from, selectAll(from), moved)
}

// MoveMatches is ecs.World.MoveQuery. It records the new ids in moved, whose pages it reuses.
func MoveMatches(w *world.World, q *query.Query, moved *Arrivals) (Batch, error) {
	const op = "World.MoveQuery"
	if q == nil || q.World == nil {
		q.Refuse(op)
	}
	checkMove(w, op, q.World)
	q.CheckOpen(op)
	return move(w, op, q.World, SelectRows(q, op), moved)
}

func checkMove(w *world.World, op string, from *world.World) {
	w.CheckNew(op)
	from.CheckNew(op)
	if w == from {
		panic("ecs: " + op + ": both worlds are the same")
	}
	w.CheckChange(op)
	from.CheckChange(op)
}

// migration is the state of a move.
type migration struct {
	op        string
	w, from   *world.World
	tx        *change.Tx // of w
	transfers []transfer
	sparse    []sparseTransfer
	moved     *Arrivals
	selected  *change.Tx // rows of from
	total     int        // number of selected rows
}

// transfer is the move of one part's rows to an archetype of another world.
type transfer struct {
	p          *change.Part // of a transaction of the old world
	to         *world.Archetype
	transition *world.Transition
	chunks     int // chunks that change hands
}

// move moves the rows that a transaction of another world has selected. moved may be that of an
// earlier move; after an error its content is void.
func move(w *world.World, op string, from *world.World, selected *change.Tx, moved *Arrivals) (Batch, error) {
	m := &migration{op: op, w: w, from: from, tx: w.Writer.Begin(), moved: moved}
	moved.reuse(from.IDs.Tag(), from.IDs.Records())
	total := selected.Rows()
	if total == 0 {
		return batch(w, 0), nil
	}
	if total > world.MostAlive-w.Living() {
		return Batch{}, world.WithOp(op, world.Limit("entities a world", world.MostAlive, nil))
	}
	m.selected, m.total = selected, total
	if err := m.registerAll(); err != nil {
		return Batch{}, world.WithOp(op, err)
	}
	w.Loops.Enter(op)
	defer w.Loops.Leave()
	from.Loops.Enter(op)
	defer from.Loops.Leave()
	for i := range moves {
		if moves[i].do == nil {
			continue
		}
		if err := moves[i].do(m); err != nil {
			return Batch{}, world.WithOp(op, err)
		}
	}
	relink := func(e *entity.ID) {
		if *e != world.Null && e.Is(from.IDs.Tag()) {
			*e = moved.Of(*e)
		}
	}
	for _, s := range m.tx.Spans {
		w.EachLink(s, relink)
		w.EachChunkLink(s.Table, relink)
		for i := range m.sparse {
			m.sparse[i].eachLink(s, relink)
		}
	}
	return batch(w, total), nil
}

// reserve does everything that can fail after registerAll. On an error nothing has changed, except
// that new types stay registered.
func (m *migration) reserve() error {
	before := len(m.w.Archetypes.List)
	err := m.aim(m.selected)
	if err == nil {
		m.aimSparse(m.selected)
		err = world.LimitErrorOf(m.tx.Reserve(m.total))
	} else {
		m.tx.Cancel()
	}
	if err != nil {
		m.w.Forget(before)
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

// registerAll registers the types of the rows and entries that move.
func (m *migration) registerAll() error {
	for i := range m.selected.Parts {
		if err := m.registerTypes(m.from.ArchetypeOn(m.selected.Parts[i].Table)); err != nil {
			return err
		}
	}
	for _, t := range m.from.Types.Sparse {
		if t.Sparse.Len() > 0 {
			if err := m.registerType(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// registerTypes registers the types of an archetype of the other world that w lacks.
func (m *migration) registerTypes(a *world.Archetype) error {
	for _, id := range a.Table.Types {
		if err := m.registerType(m.from.Types.List[id]); err != nil {
			return err
		}
	}
	return nil
}

// registerType registers a type of the other world if w lacks it.
func (m *migration) registerType(t *world.Type) error {
	if known, ok := m.w.Types.Find(t.Key()); ok {
		if mine := m.w.Types.List[known]; !mine.IsLike(t) {
			panic(fmt.Sprintf("ecs: %s: the worlds have %s with different options", m.op, t.Name))
		}
		return nil
	}
	if len(m.w.Types.List) == world.MaxTypes {
		return world.Limit("component types a world", world.MaxTypes, world.ErrManyTypes)
	}
	m.w.Register(m.op, t.Copied())
	return nil
}

// find adds the transfer of a part's rows.
func (m *migration) find(p *change.Part) error {
	w, a := m.w, m.from.ArchetypeOn(p.Table)
	var sig world.Signature
	var given []*value.Shared
	for _, id := range a.Table.Types {
		known, _ := w.Types.Find(m.from.Types.List[id].Key())
		sig.Add(known)
		if v := a.ValueOf(id); v != nil {
			given = append(given, w.Types.List[known].Shared.Copy(v, nil))
		}
	}
	to, err := w.ArchetypeOf(sig, w.ValuesFor(make([]*value.Shared, 0, world.UsualValues), &sig, given, nil, nil))
	if err != nil {
		return err
	}
	numbers := make([]world.TypeID, len(to.Table.Types))
	for slot, id := range to.Table.Types {
		numbers[slot], _ = m.from.Types.Find(w.Types.List[id].Key())
	}
	transition := a.Table.ToWorld(&to.Table.Table, numbers)
	m.transfers = append(m.transfers, transfer{p, to, transition, m.tx.PlanToWorld(p, transition)})
	return nil
}

// takeBlocks takes blocks of w's heap for the spilled buffers of a transfer.
func (m *migration) takeBlocks(r *transfer) error {
	for _, b := range r.to.Table.Buffers() {
		t, c := m.w.Types.List[b.Key], r.p.Table.Column(r.transition.Number(world.TypeID(b.Key)))
		err := r.p.EachRow(func(at store.Row) error {
			from := value.HeaderOf(at, c)
			if !from.Spilled() {
				return nil
			}
			return world.LimitErrorOf(m.tx.Take(t.Spill, &t.Shape, from.Len()))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// move moves the rows of a transfer.
func (r *transfer) move(m *migration) {
	for _, b := range r.to.Table.Buffers() {
		m.moveSpills(r, b)
	}
	m.w.Writer.Receive(&m.from.Writer, r.p, r.transition, r.chunks, m.noteArrivals)
}

// moveSpills copies the spilled buffers of rows that are about to move to blocks of the new world's
// heap. A header holds an offset from the base of its universe, so it must be rewritten.
func (m *migration) moveSpills(r *transfer, b world.Column) {
	t, c := m.w.Types.List[b.Key], r.p.Table.Column(r.transition.Number(world.TypeID(b.Key)))
	_ = r.p.EachRow(func(at store.Row) error {
		h := value.HeaderOf(at, c)
		if !h.Spilled() {
			return nil
		}
		next := m.tx.Block()
		value.Move(t.Spill.Bytes(&next, &t.Shape, 0, h.Len()), m.from.Buffers.OwnerSpill().Bytes(h, &t.Shape, 0,
			h.Len()))
		r.p.Table.KeepValue(at, c)
		m.from.Buffers.Free(h)
		*h = next
		return nil
	})
}

// noteArrivals records the new ids of entities, and moves their names and sparse entries.
func (m *migration) noteArrivals(old, to []entity.ID) {
	for i := range m.sparse {
		m.sparse[i].run(old, to)
	}
	for i, e := range old {
		m.moved.note(e, to[i])
		if m.from.Names.Len() > 0 {
			m.moveName(e, to[i])
		}
	}
}

// moveName gives an entity the name of its old entity in the old world.
func (m *migration) moveName(old, to entity.ID) {
	if text := m.from.Names.Of(old.Index()); text != "" {
		m.from.Names.Remove(old.Index())
		m.w.SetName(to, text)
	}
}
