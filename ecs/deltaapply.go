package ecs

import (
	"io"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
)

// Applying a delta: check everything (deltaPlan), reserve everything, and commit, which cannot
// fail.

// ApplyDelta reads one delta, as EncodeDelta writes it, and makes w, which is in the older state,
// equal to the newer one: the same entities in the same rows, with the same values, enable bits,
// elements, shared and sparse values and names, and the same next ids. The two have the same Hash.
// Rows that come or differ are marked changed at the world's version, which stays; nothing else is.
// Values of managed types and chunk types are exceptions: an archetype with the former may not
// differ, and the latter are merged where w's chunks have other rows than the sender's.
//
// Archetypes without rows come too, and those that the newer state does not have are given up, but
// for those of NewArchetype and of snapshots. If w's archetypes begin with those of the older
// state, in its order, as after Fork, image.Open and deltas before, they are then those of the
// newer state in its order, by which queries go, and w's own behind them; else only those with rows
// come in that order.
//
// w must have the types of the delta, with the same layouts and options, and the tag of the
// sender's world, as the worlds have that Snapshot.Fork makes, and as the first worlds of two
// programs have. Types that only archetypes without rows have may be missing. Each archetype that
// differs is compared: its entities, and the bytes that are replaced; what does not differ is not
// read.
//
// The delta is read as a whole before the world is looked at. It may have MaxDelta bytes, or as
// many as a reader with a Len method says that it has, such as a bytes.Reader: a stream without end
// is refused by the length that it states. To read from the network while others need the world, or
// within another bound, see DecodeDelta and Delta.ApplyTo.
//
// ApplyDelta is for bytes of strangers: whatever they say is checked before w changes; only the
// values may be any.
//
// An error that wraps ErrDelta says why the delta does not fit: damage, another base, types. An
// error of the reader is wrapped too. If there is no room, the error is a *LimitError. After any
// error w is as before. ApplyDelta is a structural change: it panics inside a loop over rows, and
// invalidates batches. No goroutine may reserve ids meanwhile. Cost: proportional to the delta and
// to the entities of archetypes that differ; where archetypes came or went, a look at each. Rows
// that move are copied through Go memory.
func (w *World) ApplyDelta(r io.Reader) error {
	const op = "World.ApplyDelta"
	w.checkNew(op)
	w.checkUnlocked(op)
	if r == nil {
		panic("ecs: " + op + ": the reader is nil")
	}
	d, err := readDelta(op, r, mostOf(r))
	if err != nil {
		return err
	}
	return w.applyDelta(op, d) // the reader may have begun a loop
}

// ApplyTo makes a world what World.ApplyDelta would make it of the delta's bytes. The delta comes
// from DecodeDelta or Diff; it stays as it is, and may be applied to any number of worlds.
func (d *Delta) ApplyTo(w *World) error {
	const op = "Delta.ApplyTo"
	w.checkNew(op)
	if d == nil || d.ids == nil {
		panic("ecs: Delta.ApplyTo: the delta is nil or the zero value; deltas come from Diff and DecodeDelta")
	}
	return w.applyDelta(op, d)
}

func (w *World) applyDelta(op string, d *Delta) error {
	w.checkUnlocked(op)
	w.loops.enter(op) // what a hook of memory may ask for would change what was checked
	defer w.loops.leave()
	p := &deltaPlan{Delta: d, op: op, w: w}
	if err := p.check(); err != nil {
		return err
	}
	return p.apply()
}

// apply makes room and commits.
func (p *deltaPlan) apply() error {
	w := p.w
	before := len(w.archetypes.list)
	if err := p.makeArchetypes(); err != nil {
		w.forget(before)
		return err
	}
	tx := w.rows.Begin()
	for i := range p.tables {
		if t := &p.tables[i]; t.is > t.was {
			tx.Expect(&t.a.table.Table, t.is-t.was)
		}
	}
	var room entity.DifferenceRoom
	tx.Also(func() (err error) {
		for i := range p.sets {
			s := &p.sets[i]
			if err := s.t.sparse.Reserve(max(s.is-s.was, 0), uint32(p.Delta.ids.To.Records*8192)); err != nil {
				return err
			}
		}
		room, err = w.ids.RoomFor(p.Delta.ids)
		return err
	})
	err := p.takeBlocks(tx)
	if err != nil {
		tx.Cancel()
	} else {
		err = tx.Reserve(0)
	}
	w.showRecords()
	if err != nil {
		w.forget(before)
		return during(p.op, refused(err))
	}
	p.commit(tx, room)
	return nil
}

// makeArchetypes makes the archetypes that are new.
func (p *deltaPlan) makeArchetypes() error {
	made := map[*Archetype]bool{}
	for i := range p.tables {
		t := &p.tables[i]
		if t.a == nil {
			a, err := p.w.archetypeOf(t.sig, p.w.valuesFor(nil, &t.sig, t.given, nil, nil))
			if err != nil {
				return during(p.op, err)
			}
			t.a = a
		}
		if made[t.a] {
			return p.refuse("%v comes twice", t.a)
		}
		made[t.a], p.at[t.a] = true, i
	}
	return p.makeRoster()
}

// takeBlocks takes the blocks of buffers that outgrow their room.
func (p *deltaPlan) takeBlocks(tx *change.Tx) (err error) {
	for i := range p.tables {
		t := &p.tables[i]
		for k := range t.buffers {
			b := &t.buffers[k]
			of, cursor := p.types[b.of], pieceCursor{pieces: t.pieces}
			b.each(t.is, of.shape.Element, func(e bufferEdit) {
				room := of.shape.Inline
				if h := headerOf(cursor.next(e.row), of, e.row); h != nil {
					room = of.shape.Cap(h)
				}
				if err == nil && e.length() > room {
					err = tx.Take(p.w.buffers.Own(), &of.shape, e.length())
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
	if w.keeps() {
		p.keep()
	}
	p.dropNames()
	for i := range p.sets {
		p.sets[i].commit(w.tables.Version)
	}
	list := make([]change.Rebuilt, len(p.tables))
	for i := range p.tables {
		t := &p.tables[i]
		list[i] = change.Rebuilt{Table: &t.a.table.Table, Rows: p.sourcesOf(t), N: t.is, IDs: t.ids, Ends: t.ends}
	}
	w.rows.Rebuild(list, func() { w.ids.Apply(p.Delta.ids, room) })
	for i := range p.tables {
		p.writeValues(&p.tables[i], tx)
	}
	w.rows.Created, w.rows.Destroyed = p.created[1], p.destroyed[1]
	w.rows.Epoch++
	p.giveNames()
	tx.Cancel() // forgets the blocks, all of which rows have now
	p.arrangeRoster()
	p.arrange()
	p.retireGone()
}

// arrange gives the archetypes with rows the order of the newer state.
func (p *deltaPlan) arrange() {
	w := p.w
	var kept, order []*Archetype
	for _, a := range w.archetypes.list {
		if _, differs := p.at[a]; !differs && a.table.Len() > 0 {
			kept = append(kept, a)
		}
	}
	listed := map[*Archetype]bool{}
	for _, a := range kept {
		listed[a] = true
	}
	for i := range p.tables {
		t := &p.tables[i]
		listed[t.a] = t.is > 0
		order, kept = append(order, kept[:t.skip]...), kept[t.skip:]
		if t.is > 0 {
			order = append(order, t.a)
		}
	}
	order = append(order, kept...)
	inOrder := true
	for i := 1; i < len(order); i++ {
		inOrder = inOrder && order[i-1].table.Index < order[i].table.Index
	}
	if inOrder {
		return
	}
	w.arrange(order)
}

// arrange puts the archetypes of a list first, in its order.
func (w *World) arrange(order []*Archetype) {
	listed := map[*Archetype]bool{}
	for _, a := range order {
		listed[a] = true
	}
	for _, a := range w.archetypes.list {
		if !listed[a] {
			order = append(order, a)
		}
	}
	copy(w.archetypes.list, order)
	tables := make([]*match.Archetype, len(order))
	for i, a := range order {
		tables[i] = &a.table
	}
	w.index.Arrange(tables)
	w.shrinking = shrinking{}
	w.news.match()
}

// keep has kept for snapshots what will be written: all rows of tables that differ, the records and
// the sets.
func (p *deltaPlan) keep() {
	for i := range p.tables {
		t := &p.tables[i].a.table
		for pos := range t.Store.Chunks() {
			t.KeepRows(pos, 0, t.Store.RowsOf(pos))
		}
		for _, c := range t.Buffers() {
			of := p.w.types.list[c.Key]
			for pos := range t.Store.Chunks() {
				t.HeadersIn(typeID(c.Key), pos, 0, t.Store.RowsOf(pos), func(h *header) { of.spill.Unshare(h, &of.shape) })
			}
		}
	}
	p.w.ids.KeepAll()
	for i := range p.sets {
		p.sets[i].t.sparse.KeepAll()
	}
}
