package ecs

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/internal/debug"
)

// add gives e the type and returns where the component is, which is the caller's to
// write, or nil when e has it already. It panics with a *LimitError. Here and in remove
// all that is seldom is a call at the end, so that nothing need be kept meanwhile.
func (t *typeInfo) add(op string, e Entity) unsafe.Pointer {
	w := t.world()
	w.checkUnlocked(op)
	r := w.find(e)
	if r == nil {
		return t.refuseDead(op, e)
	}
	o := w.ownerOf(r.Location)
	a := w.archetypeAt(o)
	way := a.edge
	if a.edgeKey != uint32(t.id)|edgeAdds || way.to.grid.Full() {
		return t.moveOr(op, e, r, a, true)
	}
	dest, _ := way.to.grid.Tail()
	p := dest.Element(way.added.Offset, way.added.Size)
	w.moveOne(a, way, e, r, o)
	return p
}

// tryAdd is add that returns the *LimitError.
func (t *typeInfo) tryAdd(op string, e Entity) (unsafe.Pointer, error) {
	w := t.world()
	w.checkUnlocked(op)
	r := w.find(e)
	if r == nil {
		return t.refuseDead(op, e), nil
	}
	p, err := t.moveSearched(e, r, w.archetypeAt(w.ownerOf(r.Location)), true)
	return p, during(op, err)
}

//go:noinline
func (t *typeInfo) refuseDead(op string, e Entity) unsafe.Pointer {
	t.w.checkWorld(op, e)
	panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot add %s", op, e, t.name))
}

// remove takes the type from e. removed is false when e is dead or lacks it.
func (t *typeInfo) remove(op string, e Entity) (removed bool) {
	w := t.world()
	w.checkUnlocked(op)
	r := w.find(e)
	if r == nil {
		return w.passDead(op, e)
	}
	o := w.ownerOf(r.Location)
	a := w.archetypeAt(o)
	way := a.edge
	if a.edgeKey != uint32(t.id) || way.to.grid.Full() {
		return t.moveOr(op, e, r, a, false) != nil
	}
	w.moveOne(a, way, e, r, o)
	return true
}

// tryRemove is remove that returns the *LimitError.
func (t *typeInfo) tryRemove(op string, e Entity) (removed bool, err error) {
	w := t.world()
	w.checkUnlocked(op)
	r := w.find(e)
	if r == nil {
		return w.passDead(op, e), nil
	}
	p, err := t.moveSearched(e, r, w.archetypeAt(w.ownerOf(r.Location)), false)
	return p != nil, during(op, err)
}

// passDead returns false for an entity that is dead, after checking that it is of w.
//
//go:noinline
func (w *World) passDead(op string, e Entity) bool {
	w.checkWorld(op, e)
	return false
}

// moveSearched is add and remove for an entity of a where the way is not at hand, or has
// no room. It returns nil when there is nothing to do, and where an added component is.
func (t *typeInfo) moveSearched(e Entity, r *entity.Record, a *Archetype, adds bool) (unsafe.Pointer, error) {
	if a.sig.Has(t.id) == adds {
		return nil, nil
	}
	if t.id == dyingID {
		op := "Component.Remove"
		if adds {
			op = "Component.Add"
		}
		panic("ecs: " + op + ": Dying comes with World.Destroy and goes with the last Cleanup type; it cannot be added or removed")
	}
	if t.cleanup && a.sig.Has(dyingID) && a.isLastCleanup(t.id) {
		t.w.endOne(a, e, r, t.w.ownerOf(r.Location))
		// Safe because nobody looks there: it is not nil, so the type is removed.
		return unsafe.Pointer(r), nil
	}
	t.w.sweepWhenDue()
	if err := a.searchEdge(t.id); err != nil {
		return nil, err
	}
	dest, _ := a.edge.to.grid.Tail()
	p := dest.Element(a.edge.added.Offset, a.edge.added.Size)
	t.w.moveOne(a, a.edge, e, r, t.w.ownerOf(r.Location))
	return p, nil
}

// moveOr is moveSearched that panics with the error.
//
//go:noinline
func (t *typeInfo) moveOr(op string, e Entity, r *entity.Record, a *Archetype, adds bool) unsafe.Pointer {
	p, err := t.moveSearched(e, r, a, adds)
	if err != nil {
		panic(during(op, err))
	}
	return p
}

// searchEdge finds the way to the archetype with id added, or removed when a has it, with
// room for a row at its end, and remembers it as the last one asked for. It makes the
// archetype when there is none. On an error nothing has changed.
func (a *Archetype) searchEdge(id typeID) error {
	before := len(a.w.archetypes)
	way, err := a.findEdge(id)
	if err == nil && way.to.grid.Full() {
		err = way.to.grow(1)
	}
	if err != nil {
		a.w.forget(before)
		return err
	}
	a.edge, a.edgeKey = way, uint32(id)
	if !a.sig.Has(id) {
		a.edgeKey |= edgeAdds
	}
	return nil
}

// findEdge is searchEdge without room.
func (a *Archetype) findEdge(id typeID) (*way, error) {
	for _, e := range a.edges {
		if e.id == id {
			return e.way, nil
		}
	}
	sig := a.sig
	if sig.Has(id) {
		sig.Drop(id)
	} else {
		sig.Add(id)
	}
	to, err := a.w.archetypeOf(sig, a.w.valuesFor(&sig, nil, a, nil))
	if err != nil {
		return nil, err
	}
	way := a.wayTo(to)
	a.edges = append(a.edges, edge{id, way})
	return way, nil
}

// moveOne moves one row of a, whose entity, record and owner are given, behind the last
// one of the way's target, which has room, or ends it where there is no way. What is new
// is the caller's to clear. This is send and closeGap for a
// single row, without their loops.
func (w *World) moveOne(a *Archetype, way *way, e Entity, r *entity.Record, o owner) {
	w.epoch++
	hole := r.Location
	at := w.rowAt(hole, o)
	if way != nil {
		to := way.to
		dest, first := to.grid.Tail()
		*entityAt(dest) = e
		r.Location = locate(first, dest.Row)
		to.books.MarkLast(w.version)
		if way.more {
			way.row.CopyOthers(dest, at)
			if way.rare {
				way.sendRare(o.pos(), at, dest)
			}
		}
		to.grid.Push(1)
		alloc.CopyPairs(dest, at, way.row.Pairs)
	} else if len(a.owning) > 0 {
		a.freeRow(at)
	}
	last := a.grid.LastRow()
	a.books.OrderLast(w.version)
	if len(a.books.Toggling()) > 0 {
		a.books.Close(o.pos(), at.Row, a.grid.LastChunk(), last.Row)
	}
	if gap, end := entityAt(at), entityAt(last); gap != end {
		moved := *end
		*gap = moved
		w.ids.Move(entity.ID(moved), hole)
		if at.Base != last.Base {
			a.books.Carry(o.pos(), a.grid.LastChunk(), w.version)
		}
		own := a.grid.Own()
		alloc.CopyPairs(at, last, own.Pairs)
		if own.Others {
			own.CopyOthers(at, last)
		}
	}
	if debug.On {
		alloc.PoisonRows(last, 1, a.grid.Columns())
	}
	if last.Row == 0 {
		a.leave(a.grid.LastChunk())
	}
	a.grid.Pop(last.Row)
}

// sendRare is the part of moveOne that few ways have: enable bits, and what
// the row owned in columns that end.
func (w *way) sendRare(pos int, from, dest alloc.GridRow) {
	toPos := w.to.grid.LastChunk()
	for _, b := range w.bits {
		w.to.books.SetBit(b.To, toPos, dest.Row, w.from.books.Bit(b.From, pos, from.Row))
	}
	for _, slot := range w.on {
		w.to.books.SetBit(slot, toPos, dest.Row, true)
	}
	for _, c := range w.ending {
		w.from.w.releaseOne(from, c)
	}
}

// freeRow frees what a row owns.
func (a *Archetype) freeRow(at alloc.GridRow) {
	for _, c := range a.owning {
		a.w.releaseOne(at, c)
	}
}

// releaseOne frees what a row has outside the chunk by an owning column: the block of a
// buffer that has spilled, the value of a managed type. What the row says of it is void then.
func (w *World) releaseOne(at alloc.GridRow, c column) {
	if c.Size < headerSize { // too small for a buffer
		w.types[c.Key].managed.release(slotsAt(at, c, 1))
		return
	}
	w.freeSpill(headerAt(at, c))
}

// release is releaseOne of n rows.
func (w *World) release(at alloc.GridRow, c column, n int) {
	if c.Size < headerSize {
		w.types[c.Key].managed.release(slotsAt(at, c, n))
		return
	}
	w.freeSpills(at, c, n)
}
