package ecs

import (
	"fmt"
	"math/bits"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// Creating: one entity or n of an archetype, with zero components. Instantiate copies entities
// (instantiate.go), CreateReserved gives rows to promised ids (reserve.go).

// Create makes an entity with the archetype's types, all zero, buffers empty. It
// panics during iteration, and with a *LimitError when there is no room.
func (a *Archetype) Create() Entity {
	e, err := a.TryCreate()
	if err != nil {
		panic(err)
	}
	return e
}

// TryCreate is Create that returns the *LimitError; nothing has changed then.
func (a *Archetype) TryCreate() (Entity, error) {
	w := a.w
	w.checkUnlocked("Archetype.Create")
	if a.dying {
		refuseDying("Archetype.Create")
	}
	if w.ids.Free() == 0 || a.table.Grid.Full() {
		var err error
		if a, err = a.makeRoom(1); err != nil {
			return Null, during("Archetype.Create", err)
		}
	}
	at, first := a.table.Grid.Tail()
	e := Entity(w.ids.Take(table.Locate(first, at.Row)))
	*table.IDAt(at) = entity.ID(e)
	alloc.ClearRows(at, 1, a.table.Grid.Columns())
	a.table.Grid.Push(1)
	a.table.Books.MarkLast(w.tables.Version)
	for _, slot := range a.table.Books.Toggling() {
		a.table.Books.SetBit(slot, a.table.Grid.LastChunk(), at.Row, true)
	}
	w.created++
	w.epoch++
	return e, nil
}

// makeRoom makes sure that n entities can be created, and returns the archetype to do so,
// which is a unless it was given up. On an error nothing has changed.
func (a *Archetype) makeRoom(n int) (*Archetype, error) {
	w := a.w
	w.sweepBut(a)
	before := len(w.archetypes.list)
	a, err := a.again()
	if err == nil {
		err = a.grow(n, n)
	}
	if err != nil {
		w.forget(before)
	}
	return a, err
}

// CreateOption changes how CreateN works.
type CreateOption struct {
	w     *World
	unset signature // columns that the caller fills
}

// Unset says that the caller writes every row of these columns itself, so
// CreateN need not zero them. It panics for a buffer and a managed type, whose
// rows must begin as zero, and for a type of another world. Make it once where batches are many.
func Unset(types ...Type) CreateOption {
	var o CreateOption
	for _, t := range types {
		info := infoOf("Unset", t)
		if o.w == nil {
			o.w = info.world()
		}
		o.w.checkOwn("Unset", info)
		if info.buffer {
			panic(fmt.Sprintf("ecs: Unset: %s is a buffer: its header must be zero", info.name))
		}
		if info.managed != nil {
			panic(fmt.Sprintf("ecs: Unset: the slots of %s must be zero", info.name))
		}
		o.unset.Add(info.id)
	}
	return o
}

// unsetOf joins the options after checking that they are of a's types.
func (a *Archetype) unsetOf(options []CreateOption) (unset signature) {
	for i := range options {
		o := &options[i]
		if o.w != nil && o.w != a.w {
			panic("ecs: Archetype.CreateN: Unset names types of another world")
		}
		for k, word := range o.unset {
			if extra := word &^ a.table.Sig[k]; extra != 0 {
				id := k*64 + bits.TrailingZeros64(extra)
				panic(fmt.Sprintf("ecs: Archetype.CreateN: Unset names %s, which %v does not have", a.w.types.list[id].name, a))
			}
			unset[k] |= word
		}
	}
	return unset
}

// CreateN makes n entities with the archetype's types, all zero but for the
// columns named by Unset. All n are made or none: an error is a *LimitError.
// It panics for a negative n and during iteration. Cost: per chunk, not per
// entity, but for the ids.
func (a *Archetype) CreateN(n int, options ...CreateOption) (Batch, error) {
	w := a.w
	w.checkUnlocked("Archetype.CreateN")
	if a.dying {
		refuseDying("Archetype.CreateN")
	}
	if n < 0 {
		panic(fmt.Sprintf("ecs: Archetype.CreateN: n=%d is negative", n))
	}
	unset := a.unsetOf(options)
	if n == 0 {
		return Batch{w: w, epoch: w.epoch}, nil
	}
	if n > MaxEntities-1-int(w.created-w.destroyed) {
		return Batch{}, during("Archetype.CreateN", limit("entities a world", MaxEntities-1, nil))
	}
	a, err := a.makeRoom(n)
	if err != nil {
		return Batch{}, during("Archetype.CreateN", err)
	}
	start := a.table.Grid.Len()
	pos, row := a.table.Grid.Find(start)
	for left := n; left > 0; pos, row = pos+1, 0 {
		chunk := a.table.Grid.Chunks()[pos]
		k := min(left, a.table.Grid.Fits(chunk)-row)
		at := a.table.Grid.Row(pos, row)
		w.ids.TakeRows(table.Locate(chunk.First, row), idsOf(entities(at.Base, row+k)[row:]))
		a.clearBut(&unset, at, k)
		a.table.Books.Mark(pos, w.tables.Version)
		a.table.Books.EnableRows(pos, row, k)
		left -= k
	}
	return a.made(n, start), nil
}

// made counts n new entities, whose rows from start on are filled, and returns them.
func (a *Archetype) made(n, start int) Batch {
	w := a.w
	a.table.Grid.Push(n)
	w.created += uint64(n)
	w.epoch++
	w.call.moved = append(w.call.moved[:0], span{a, start, n})
	return Batch{w: w, spans: w.call.moved, n: n, epoch: w.epoch}
}

// clearBut zeroes n rows in all columns but those of a set.
func (a *Archetype) clearBut(set *signature, at alloc.GridRow, n int) {
	columns := a.table.Grid.Columns()
	for i := range columns {
		if !set.Has(typeID(columns[i].Key)) {
			alloc.ClearRows(at, n, columns[i:i+1])
		}
	}
}
