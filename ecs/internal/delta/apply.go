package delta

import (
	"io"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Applying a delta: check everything (deltaPlan), reserve everything, and commit, which cannot
// fail.

// ApplyDelta is ecs.World.ApplyDelta.
func ApplyDelta(w *world.World, r io.Reader) error {
	const op = "World.ApplyDelta"
	w.CheckNew(op)
	w.CheckUnlocked(op)
	if r == nil {
		panic("ecs: " + op + ": the reader is nil")
	}
	d, err := readDelta(op, r, mostOf(r), readInPlace)
	if err != nil {
		return err
	}
	return Apply(w, op, d) // the reader may have started a loop
}

// Apply applies a delta that has been read.
func Apply(w *world.World, op string, d *Delta) error {
	w.CheckUnlocked(op)
	w.Loops.Enter(op) // a memory hook must not change the world that was checked
	defer w.Loops.Leave()
	p := &deltaPlan{Delta: d, op: op, w: w}
	return p.run()
}

// run checks the delta and applies it.
func (p *deltaPlan) run() error {
	if err := p.check(); err != nil {
		return err
	}
	return p.apply()
}

// apply makes room and commits.
func (p *deltaPlan) apply() error {
	w := p.w
	before := len(w.Archetypes.List)
	if err := p.makeArchetypes(); err != nil {
		w.Forget(before)
		return err
	}
	tx := w.Writer.Begin()
	for i := range p.tables {
		if t := &p.tables[i]; t.newer > t.older {
			tx.Expect(&t.a.Table.Table, t.newer-t.older)
		}
	}
	var room entity.DifferenceRoom
	tx.Also(func() (err error) {
		for i := range p.sets {
			s := &p.sets[i]
			if err := s.t.Sparse.Reserve(max(s.newer-s.older, 0), uint32(p.Delta.IDs.To.Records*8192)); err != nil {
				return err
			}
		}
		room, err = w.IDs.RoomFor(p.Delta.IDs)
		return err
	})
	err := p.takeBlocks(tx)
	if err != nil {
		tx.Cancel()
	} else {
		err = tx.Reserve(0)
	}
	w.UpdateLookups()
	if err != nil {
		w.Forget(before)
		return world.WithOp(p.op, world.LimitErrorOf(err))
	}
	p.commit(tx, room)
	return nil
}

// makeArchetypes makes the new archetypes.
func (p *deltaPlan) makeArchetypes() error {
	for i := range p.tables {
		t := &p.tables[i]
		if t.a == nil {
			a, err := p.w.ArchetypeOf(t.sig, p.w.ValuesFor(nil, &t.sig, t.given, nil, nil))
			if err != nil {
				return world.WithOp(p.op, err)
			}
			t.a = a
		}
		if at, taken := p.at[t.a]; taken && at != i {
			return p.refuse("%v comes twice", t.a)
		}
		p.at[t.a] = i
	}
	return p.makeRoster()
}

// takeBlocks takes the blocks of buffers that outgrow their room.
func (p *deltaPlan) takeBlocks(tx *change.Tx) (err error) {
	for i := range p.tables {
		t := &p.tables[i]
		for k := range t.buffers {
			b := &t.buffers[k]
			of, cursor := p.types[b.of], t.cursor()
			b.each(t.newer, of.Shape.Element, func(e bufferEdit) {
				room := of.Shape.Inline
				if h := headerOf(cursor.next(e.row), of, e.row); h != nil {
					room = of.Shape.Cap(h)
				}
				if err == nil && e.length() > room {
					err = tx.Take(p.w.Buffers.OwnerSpill(), &of.Shape, e.length())
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// commit changes the world. It cannot fail.
func (p *deltaPlan) commit(tx *change.Tx, room entity.DifferenceRoom) {
	w := p.w
	if w.Keeps() {
		p.keep()
	}
	p.tx, p.room = tx, room
	p.dropNames() // names of entities that end or are renamed
	for _, part := range commitOrder {
		commits[part].do(p)
	}
	w.Writer.Epoch++
	tx.Cancel() // all reserved blocks belong to rows now
	p.arrangeRoster()
	p.arrange()
	p.retireGone()
}

// arrange gives the archetypes with rows the order of the newer state.
func (p *deltaPlan) arrange() {
	w := p.w
	if p.inOrder() {
		return
	}
	var kept, order []*world.Archetype
	for _, a := range w.Archetypes.List {
		if _, differs := p.at[a]; !differs && a.Table.Len() > 0 {
			kept = append(kept, a)
		}
	}
	listed := map[*world.Archetype]bool{}
	for _, a := range kept {
		listed[a] = true
	}
	for i := range p.tables {
		t := &p.tables[i]
		listed[t.a] = t.newer > 0
		order, kept = append(order, kept[:t.skip]...), kept[t.skip:]
		if t.newer > 0 {
			order = append(order, t.a)
		}
	}
	snapshot.Arrange(w, append(order, kept...))
}

// inOrder reports whether the archetypes with rows have the order of the newer state.
func (p *deltaPlan) inOrder() bool {
	list, skipped := p.w.Archetypes.List, 0
	next := 0 // of the tables with rows
	for _, a := range list {
		if a.Table.Len() == 0 {
			continue
		}
		for next < len(p.tables) && p.tables[next].newer == 0 { // its skip goes on to the next
			skipped -= p.tables[next].skip
			next++
		}
		at, differs := p.at[a]
		switch {
		case !differs:
			skipped++
		case at != next || skipped != p.tables[at].skip:
			return false
		default:
			skipped, next = 0, next+1
		}
	}
	return true
}

// keep saves for snapshots all memory that commit writes: the rows of tables that differ, the
// records and the sets.
func (p *deltaPlan) keep() {
	for i := range p.tables {
		t := &p.tables[i].a.Table
		for pos := range t.Store.Chunks() {
			t.KeepRows(pos, 0, t.Store.RowsOf(pos))
		}
		for _, c := range t.Buffers() {
			of := p.w.Types.List[c.Key]
			for pos := range t.Store.Chunks() {
				t.HeadersIn(world.TypeID(c.Key), pos, 0, t.Store.RowsOf(pos),
					func(h *value.Header) { of.Spill.Unshare(h, &of.Shape) })
			}
		}
	}
	p.w.IDs.KeepAll()
	for i := range p.sets {
		p.sets[i].t.Sparse.KeepAll()
	}
}
