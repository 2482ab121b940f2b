package ecs

import "fmt"

// Room for calls that bring rows to several archetypes, all or none: the call aims at each target and
// adds up the rows that are coming to it (Archetype.coming); then room is made in all targets.

// Room is rows that are to come to an archetype.
type Room struct {
	Archetype *Archetype
	Rows      int
	Of        Entity // whose copies the rows will be, by Instantiate, with the elements of its buffers; Null: nobody's
}

// HasRoom reports whether the rows of all rooms and as many new entities would find room
// now: it makes the room and gives it back, so calls that bring no more than that, one after the
// other, find it too, if nobody else takes memory of the universe meanwhile. The error is a
// *LimitError. It panics during iteration, for an archetype of another world, for copies of an
// entity that is not alive or lacks a type of the archetype, and for negative numbers.
func (w *World) HasRoom(rooms []Room, entities int) error {
	const op = "World.HasRoom"
	w.checkChange(op)
	if entities < 0 {
		panic(fmt.Sprintf("ecs: %s: %d entities: the number is negative", op, entities))
	}
	c := w.newCloning(op, 0)
	for i, r := range rooms {
		if r.Archetype == nil || r.Archetype.w != w || r.Rows < 0 {
			panic(fmt.Sprintf("ecs: %s: room %d, of %d rows: the archetype is nil or belongs to another world, or the number is negative", op, i, r.Rows))
		}
		if r.Of == Null {
			continue
		}
		if o := w.recordOf(op, r.Of); o == nil || !r.Archetype.isPartOf(w.archetypeAt(w.tables.OwnerOf(o.Location))) {
			panic(fmt.Sprintf("ecs: %s: room %d: %v is not alive, or has not all types of its copies, %v", op, i, r.Of, r.Archetype))
		}
	}
	before := len(w.archetypes.list)
	w.call.targets = w.call.targets[:0]
	var err error
	rows := 0
	for _, r := range rooms {
		if r.Rows >= MaxEntities-rows {
			err = limit("entities a world", MaxEntities-1, nil)
			break
		}
		rows += r.Rows
		var to *Archetype
		if to, err = r.Archetype.again(); err != nil {
			break
		}
		w.aim(to)
		to.coming += r.Rows
		to.table.UseOwnLayout()
		if r.Of == Null {
			continue
		}
		if err = c.takeBlocksOf(r.Of, to, r.Rows); err != nil {
			break
		}
	}
	if err == nil && entities > MaxEntities-1-int(w.created-w.destroyed) {
		err = limit("entities a world", MaxEntities-1, nil)
	}
	err = w.makeRoom(err, entities)
	c.freeBlocks()
	if err != nil {
		w.forget(before)
		return during(op, err)
	}
	for _, to := range w.call.targets {
		to.table.Settle()
	}
	return nil
}

// aim adds an archetype to the targets of the call under way, once.
func (w *World) aim(to *Archetype) {
	if to.sources == 0 {
		w.call.targets = append(w.call.targets, to)
	}
	to.sources++
}

// makeRoom makes room in the targets for the rows that come, and for as many ids, unless there is an error already,
// and ends the aiming. On an error everything is as before.
func (w *World) makeRoom(err error, ids int) error {
	if err == nil {
		// What one target takes beyond its need may be what another lacks, or the ids.
		if err = w.growTargets(false, ids); err != nil {
			err = w.growTargets(true, ids)
		}
	}
	for _, to := range w.call.targets {
		to.coming, to.sources, to.regular = 0, 0, false
	}
	return err
}

// growTargets grows the archetypes that rows will come to, by policy or exactly, and makes room for ids, all or none. The ids
// come last: their records move when there are more.
func (w *World) growTargets(exactly bool, ids int) (err error) {
	for _, to := range w.call.targets {
		if err = refused(to.table.MakeRoom(to.roomToMake(), exactly)); err != nil {
			break
		}
	}
	if err == nil {
		err = w.reserveIDs(ids)
	}
	for _, to := range w.call.targets {
		if err == nil {
			to.table.Promote()
			continue
		}
		to.table.Settle()
		to.table.Grid.Trim(0) // a target that is new is forgotten and must hold nothing
	}
	return err
}

// roomToMake returns the rows that need room: one more than a
// small chunk has when full chunks come and there are rows besides.
func (a *Archetype) roomToMake() int {
	if g := &a.table.Grid; a.regular && g.Units() == 0 && a.coming+g.Len() > 0 {
		return max(a.coming, g.SmallRows()-g.Len()+1)
	}
	return a.coming
}

// reserveIDs makes sure that n ids are free, with what the world keeps in reserve if need
// be. A call asks for them last, so that nothing has to undo it.
func (w *World) reserveIDs(n int) error {
	if n <= w.ids.Free() {
		return nil
	}
	err := w.ids.MakeRoom(n)
	if err != nil && w.Trim() > 0 {
		err = w.ids.MakeRoom(n)
	}
	w.showRecords()
	return idLimit(err)
}

// grow makes room for n more rows by the policy of the archetype, in its own layout when
// they are the first, and for as many new ids. On an error nothing has changed.
func (a *Archetype) grow(n, ids int) error {
	a.table.UseOwnLayout()
	err := refused(a.table.MakeRoom(n, false))
	if err == nil {
		err = a.w.reserveIDs(ids)
	}
	if err != nil {
		a.table.Settle()
		a.table.Grid.Trim(0)
		return err
	}
	a.table.Promote()
	return nil
}
