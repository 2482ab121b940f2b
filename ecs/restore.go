package ecs

import (
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/internal/debug"
)

// Restore. What a snapshot has is brought back where it lay: chunks and blocks that were freed
// since have waited, and the locations in the records are those of then. So a restore writes only
// what differs.
//
//	check     managed values without a copy function and lost snapshots are refused
//	values    of managed types are copied from the snapshot's copies
//	ready     what will be written is kept for newer snapshots: may be refused
//	tables    of which rows came, went or moved give up their chunks, and take those of then
//	units     come back where they differ: rows, records, sparse sets
//	blocks    of buffers that are in use again no longer wait; those that are not, are freed
//	stores    of managed types take the slots of then, and the copied values
//
// Newer snapshots stay, so a world can go back and forth.

// Restore puts the world back to the state of one of its snapshots. Entities that were created
// since are dead, those that were destroyed are alive under the same id, and the ids that come next
// are those that came next then. Rows, values, buffers, enable bits, sparse entries, names and the
// order of rows are as they were. Types and queries that came since stay. Archetypes that came
// since are given up, except those of NewArchetype and those that newer snapshots have: they keep
// their places in the order of archetypes, by which queries go. So for queries to go in the order
// in which they go without the detour, make archetypes by NewArchetype first, or close newer
// snapshots before. Managed values are copied from the snapshot's by the functions of CopyWith, so
// it can be restored again. A *T in hand shows the value of then, and zero if the value came since.
//
// Versions go on forward: what differed is marked changed now. A type is marked in the chunks in
// which its values differed, and in all chunks of an archetype of which rows came, went or moved. A
// managed type with CopyWith is marked in all its chunks.
//
// Ids that were reserved since are void, and so are commands that were recorded since, not played,
// and name entities that came since: Play refuses those by name. The snapshot and all others stay,
// newer ones too.
//
// The error says that the snapshot is lost, or that there are managed values without CopyWith,
// which cannot be brought back, or is a *LimitError: there is no memory to keep what newer
// snapshots need. Then nothing has changed, as after a panic of a function of CopyWith. Restore
// panics for a snapshot of another world and for a closed one, inside a loop over rows and while
// the world is shared; it completes jobs. Goroutines may reserve ids meanwhile; ids that were
// reserved since the snapshot was taken are reserved no longer. Cost: what differs, a few ns for
// each 16 KiB that does not, a look at the headers of buffers of archetypes that differ, and a copy
// of all managed values.
func (w *World) Restore(s *Snapshot) error {
	const op = "World.Restore"
	w.checkNew(op)
	s.checkOpen(op)
	if s.w != w {
		// errors.md, Snapshots: `is of another world` | `Restore` of a snapshot that another world
		// took. | Keep snapshots with their world; `Fork` makes a world of one.
		panic(fmt.Sprintf("ecs: %s: the snapshot is of another world", op))
	}
	w.checkUnlocked(op)
	if debug.On {
		w.history.checkAll() // so that no gate panics on the way
	}
	r := &w.history.restoring
	r.begin(w, s)
	defer r.end()
	if err := r.check(); err != nil {
		return fmt.Errorf("ecs: %s: %w", op, err)
	}
	r.managed.take(w, op, &s.managed)
	if err := r.ready(); err != nil {
		w.showRecords() // which may have moved
		return err
	}
	w.loops.enter(op)
	defer w.loops.leave()
	r.commit()
	return nil
}

// restoring is a restore under way. The world's history has one, whose memory is used again.
type restoring struct {
	w       *World
	s       *Snapshot
	differs []*archetypeState         // archetypes of which rows came, went or moved
	since   []*Archetype              // archetypes that came since: they may have chunks of then in reserve
	spilled []*archetypeState         // archetypes with buffers whose headers may differ
	refs    map[uint32]header         // blocks that their buffers had, by number
	owned   map[alloc.StoreChunk]bool // chunks that the differing archetypes gave up
	list    []alloc.StoreChunk        // the same
	managed managedCopies             // copies of the snapshot's managed values
}

func (r *restoring) begin(w *World, s *Snapshot) {
	r.w, r.s = w, s
	if r.owned == nil {
		r.refs, r.owned = map[uint32]header{}, map[alloc.StoreChunk]bool{}
	}
}

// end forgets all but the memory.
func (r *restoring) end() {
	clear(r.differs)
	clear(r.since)
	clear(r.spilled)
	clear(r.refs)
	clear(r.owned)
	r.managed.clear()
	*r = restoring{differs: r.differs[:0], since: r.since[:0], spilled: r.spilled[:0], refs: r.refs, owned: r.owned, list: r.list[:0], managed: r.managed}
}

// check returns an error if the snapshot is lost, or has no copies of managed values.
func (r *restoring) check() error {
	if err := r.s.Err(); err != nil {
		return err
	}
	for i := range r.s.archetypes {
		if st := &r.s.archetypes[i]; st.table.Len() > 0 {
			if err := st.a.refuseManaged(); err != nil {
				return err
			}
		}
	}
	for _, a := range r.w.archetypes.list {
		if a.table.Len() > 0 {
			if err := a.refuseManaged(); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready finds what differs and has it kept for newer snapshots. After an error nothing has changed.
func (r *restoring) ready() error {
	w, s := r.w, r.s
	for i := range s.archetypes {
		st := &s.archetypes[i]
		if st.a.table.Differs(&st.table, s.version) {
			r.differs = append(r.differs, st)
		}
		if err := w.tables.Ready(&st.table, s.layer); err != nil {
			return unready(err)
		}
	}
	for _, a := range w.archetypes.list {
		if a.born >= s.layer.Number() {
			r.since = append(r.since, a)
		}
	}
	for i, t := range w.types.sparse {
		err := error(nil)
		if i < len(s.sets) {
			err = t.sparse.Ready(s.layer)
		} else {
			err = t.sparse.ReadyClear()
		}
		if err != nil {
			return unready(err)
		}
	}
	return unready(w.ids.Ready(&s.ids, s.layer))
}

// unready returns the LimitError of a restore for which there is no memory.
func unready(err error) error { return during("World.Restore", refused(err)) }

// commit writes. It cannot fail.
func (r *restoring) commit() {
	w, s := r.w, r.s
	r.noteBlocks()
	for _, st := range r.differs {
		r.list = st.a.table.Leave(r.list)
	}
	for _, a := range r.since {
		r.list = a.table.Leave(r.list)
	}
	for _, c := range r.list {
		r.owned[alloc.StoreChunk{First: c.First, Order: c.Order}] = true
	}
	for _, st := range r.differs {
		st.a.table.Return(&st.table, r.owned)
	}
	w.tables.FreeLeft(r.owned)
	r.putRows()
	for _, st := range r.differs {
		st.a.table.Reenter(&st.table)
	}
	w.reserving.Lock()
	w.ids.Restore(&s.ids, s.layer)
	w.reserving.Unlock()
	w.showRecords()
	r.settleBlocks()
	r.restoreManaged()
	for i, t := range w.types.sparse {
		if i < len(s.sets) {
			t.sparse.Restore(&s.sets[i], s.layer, w.tables.Version)
		} else {
			t.sparse.Clear(w.tables.Version)
		}
	}
	r.arrange()
	if len(r.since) > 0 {
		w.retire(func(a *Archetype) bool { return a.born >= s.layer.Number() && !a.pinned })
	}
	if w.names.Return(&s.names); w.names.Len() > 0 {
		w.watchEnds()
	}
	w.rows.Created, w.rows.Destroyed = s.created, s.destroyed
	w.rows.Epoch++
	w.recordings.Restored(s.era, w.ids.Versions)
}

// putRows brings back the bytes of all rows, and the books of archetypes whose rows are the same.
func (r *restoring) putRows() {
	at := 0
	for i := range r.s.archetypes {
		st := &r.s.archetypes[i]
		differs := at < len(r.differs) && r.differs[at] == st
		if differs {
			at++
		}
		st.a.table.PutRows(&st.table, r.s.layer, !differs)
		if !differs {
			st.a.table.RestoreBooks(&st.table)
		}
	}
}

// noteBlocks notes the blocks of buffers that are in use where headers may differ.
func (r *restoring) noteBlocks() {
	for i := range r.s.archetypes {
		st := &r.s.archetypes[i]
		if len(st.a.table.Buffers()) > 0 && (slices.Contains(r.differs, st) || r.w.tables.Written(&st.table, r.s.layer)) {
			r.spilled = append(r.spilled, st)
			st.a.table.Headers(r.noteBlock)
		}
	}
	for _, a := range r.since {
		a.table.Headers(r.noteBlock)
	}
}

func (r *restoring) noteBlock(h *header) {
	if h.Spilled() {
		r.refs[h.Ref()] = *h
	}
}

// settleBlocks compares the blocks that are in use now with those noted: what waits is in use
// again, and what is in use no longer is freed.
func (r *restoring) settleBlocks() {
	for _, st := range r.spilled {
		st.a.table.Headers(func(h *header) {
			if !h.Spilled() {
				return
			}
			if _, had := r.refs[h.Ref()]; had {
				delete(r.refs, h.Ref())
				return
			}
			r.w.buffers.Revive(h)
		})
	}
	for _, h := range r.refs {
		r.w.buffers.Free(&h)
	}
}

// arrange gives the archetypes the order of then, which a delta may have changed.
func (r *restoring) arrange() {
	list := r.w.archetypes.list
	for i := range r.s.archetypes {
		if list[i] != r.s.archetypes[i].a {
			order := make([]*Archetype, len(r.s.archetypes))
			for i := range order {
				order[i] = r.s.archetypes[i].a
			}
			r.w.arrange(order)
			return
		}
	}
}
