package snapshot

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/debug"
	"quarry/internal/store"
)

// Restore. What a snapshot has is brought back where it lay: chunks and blocks that were freed
// since have waited, and the locations in the records are those of then. So a restore writes only
// differences.
//
//	check     managed values without a copy function and lost snapshots are refused
//	values    of managed types are copied from the snapshot's copies
//	ready     what will be written is kept for newer snapshots: may be refused
//	tables    where rows came, went or moved give up their chunks, and take those of the snapshot
//	units     of rows, records and sparse sets are written where they differ
//	blocks    of buffers: those of the snapshot no longer wait; those of the present alone are freed
//	stores    of managed types take the slots of the snapshot, and the copied values
//
// Newer snapshots stay, so a world can go back and forth.

// Restore is ecs.World.Restore.
func Restore(w *world.World, s *Snapshot) error {
	const op = "World.Restore"
	w.CheckNew(op)
	s.CheckOpen(op)
	if s.World != w {
		panic(fmt.Sprintf("ecs: %s: the snapshot is of another world", op))
	}
	w.CheckUnlocked(op)
	if debug.On {
		HistoryOf(w).checkAll() // so that no barrier panics on the way
	}
	r := &HistoryOf(w).restoring
	r.begin(w, s)
	defer r.end()
	if err := r.check(); err != nil {
		return fmt.Errorf("ecs: %s: %w", op, err)
	}
	r.managed.take(w, op, &s.Managed)
	if err := r.ready(); err != nil {
		w.UpdateLookups() // which may have moved
		return err
	}
	w.Loops.Enter(op)
	defer w.Loops.Leave()
	r.commit()
	return nil
}

// restoring is a restore under way. The world's history has one, whose memory is used again.
type restoring struct {
	w       *world.World
	s       *Snapshot
	differs []*archetypeState       // archetypes of which rows came, went or moved
	since   []*world.Archetype      // archetypes that came since: they may have chunks of then in reserve
	spilled []*archetypeState       // archetypes with buffers whose headers may differ
	refs    map[uint32]value.Header // blocks that their buffers had, by number
	owned   map[store.Chunk]bool    // chunks that the differing archetypes gave up
	list    []store.Chunk           // the same
	managed managedCopies           // copies of the snapshot's managed values
}

func (r *restoring) begin(w *world.World, s *Snapshot) {
	r.w, r.s = w, s
	if r.owned == nil {
		r.refs, r.owned = map[uint32]value.Header{}, map[store.Chunk]bool{}
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
	*r = restoring{differs: r.differs[:0], since: r.since[:0], spilled: r.spilled[:0], refs: r.refs, owned: r.owned,
		list: r.list[:0], managed: r.managed}
}

// check returns an error if the snapshot is lost, or has no copies of managed values.
func (r *restoring) check() error {
	if err := r.s.Err(); err != nil {
		return err
	}
	for i := range r.s.Archetypes {
		if st := &r.s.Archetypes[i]; st.Table.Len() > 0 {
			if err := RefuseManaged(st.Archetype); err != nil {
				return err
			}
		}
	}
	for _, a := range r.w.Archetypes.List {
		if a.Table.Len() > 0 {
			if err := RefuseManaged(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready finds the differences and keeps their present bytes for newer snapshots. After an error
// nothing has changed.
func (r *restoring) ready() error {
	w, s := r.w, r.s
	for i := range s.Archetypes {
		st := &s.Archetypes[i]
		if st.Archetype.Table.Differs(&st.Table, s.Version) {
			r.differs = append(r.differs, st)
		}
		if err := w.Tables.Ready(&st.Table, s.Layer); err != nil {
			return restoreError(err)
		}
	}
	for _, a := range w.Archetypes.List {
		if a.Born >= s.Layer.Number() {
			r.since = append(r.since, a)
		}
	}
	for i, t := range w.Types.Sparse {
		err := error(nil)
		if i < len(s.Sets) {
			err = t.Sparse.Ready(s.Layer)
		} else {
			err = t.Sparse.ReadyClear()
		}
		if err != nil {
			return restoreError(err)
		}
	}
	return restoreError(w.IDs.Ready(&s.Ids, s.Layer))
}

// restoreError returns the LimitError of a restore without enough memory.
func restoreError(err error) error { return world.WithOp("World.Restore", world.LimitErrorOf(err)) }

// commit writes. It cannot fail.
func (r *restoring) commit() {
	for _, part := range restoreOrder {
		restores[part].do(r)
	}
	r.w.Writer.Epoch++
	r.w.Recordings.Restored(r.s.era, r.w.IDs.Versions)
}

// putRows brings back the bytes of all rows, and the metadata of archetypes whose rows are the
// same.
func (r *restoring) putRows() {
	at := 0
	for i := range r.s.Archetypes {
		st := &r.s.Archetypes[i]
		differs := at < len(r.differs) && r.differs[at] == st
		if differs {
			at++
		}
		st.Archetype.Table.PutRows(&st.Table, r.s.Layer, !differs)
		if !differs {
			st.Archetype.Table.RestoreMetadata(&st.Table)
		}
	}
}

// noteBlocks notes the blocks of buffers that are in use where headers may differ.
func (r *restoring) noteBlocks() {
	for i := range r.s.Archetypes {
		st := &r.s.Archetypes[i]
		if len(st.Archetype.Table.Buffers()) > 0 &&
			(slices.Contains(r.differs, st) || r.w.Tables.Written(&st.Table, r.s.Layer)) {
			r.spilled = append(r.spilled, st)
			st.Archetype.Table.Headers(r.noteBlock)
		}
	}
	for _, a := range r.since {
		a.Table.Headers(r.noteBlock)
	}
}

func (r *restoring) noteBlock(h *value.Header) {
	if h.Spilled() {
		r.refs[h.Ref()] = *h
	}
}

// settleBlocks compares the blocks in use now with those of the snapshot: waiting blocks are in use
// again, and others are freed.
func (r *restoring) settleBlocks() {
	for _, st := range r.spilled {
		st.Archetype.Table.Headers(func(h *value.Header) {
			if !h.Spilled() {
				return
			}
			if _, had := r.refs[h.Ref()]; had {
				delete(r.refs, h.Ref())
				return
			}
			r.w.Buffers.Revive(h)
		})
	}
	for _, h := range r.refs {
		r.w.Buffers.Free(&h)
	}
}

// arrange gives the archetypes the order of then, which a delta may have changed.
func (r *restoring) arrange() {
	list := r.w.Archetypes.List
	for i := range r.s.Archetypes {
		if list[i] != r.s.Archetypes[i].Archetype {
			order := make([]*world.Archetype, len(r.s.Archetypes))
			for i := range order {
				order[i] = r.s.Archetypes[i].Archetype
			}
			Arrange(r.w, order)
			return
		}
	}
}

// Arrange puts the archetypes of a list first, in its order.
func Arrange(w *world.World, order []*world.Archetype) {
	listed := map[*world.Archetype]bool{}
	for _, a := range order {
		listed[a] = true
	}
	for _, a := range w.Archetypes.List {
		if !listed[a] {
			order = append(order, a)
		}
	}
	copy(w.Archetypes.List, order)
	tables := make([]*match.Entry, len(order))
	for i, a := range order {
		tables[i] = &a.Table
	}
	w.Index.Arrange(tables)
	w.Shrinking = world.Shrinking{}
	w.QueryEpochs.NextMatched()
}
