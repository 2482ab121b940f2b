package ecs

import (
	"fmt"
	"slices"
	"sync/atomic"

	"quarry/alloc"
)

// Reserve fills ids with entities that are promised: unlike any other id of the
// world, but not alive until the owner hands them to [Archetype.CreateReserved], so
// every look-up says no and no query sees them. Any goroutine may call it at any time,
// loops of the owner included, but not during Close. All are promised or none: the
// error is a *LimitError. Which ids come is not deterministic; those that the owner
// creates otherwise stay so.
//
// They come from blocks of 8,192 that serve reserved ids only. The world has 16,384
// blocks; one end cannot use what is free in blocks of the other. A block costs 64 KiB
// of the universe and 2 KiB of Go memory, and is kept until the world closes.
// Reserve cannot take the reserves of archetypes; when there is no memory, see
// World.Trim. Cost: a few atomics for each call and block.
func (w *World) Reserve(ids []Entity) error {
	if w == nil || w.closed {
		w.refuse("World.Reserve")
	}
	if len(ids) == 0 {
		return nil
	}
	if err := w.records.claim(w.u, len(ids)); err != nil {
		return during("World.Reserve", err)
	}
	w.records.lending.Load().fill(ids, w.tag)
	return nil
}

// Unreserve takes back ids that nobody will create; they never name an entity. Any
// goroutine may call it, whichever reserved them, but not during Close. It panics,
// and takes none, when one is not reserved now: null, of another world, created or
// given back before, or given twice.
func (w *World) Unreserve(ids []Entity) {
	if w == nil || w.closed {
		w.refuse("World.Unreserve")
	}
	w.hold("World.Unreserve", ids)
	o := w.records.lending.Load()
	for rest := ids; len(rest) > 0; {
		b, n := o.run(rest)
		count := b.lock()
		for _, e := range rest[:n] {
			word, bit := b.bit(e)
			b.held[word] &^= bit
			b.used[word] &^= bit
			atomic.StoreUint32(&b.records[e.ref&(blockSize-1)].version, e.version+1)
		}
		o.unlock(b, count, count-int32(n))
		o.free.Add(int64(n))
		rest = rest[n:]
	}
}

// CreateReserved makes entities of ids that were promised by [World.Reserve], with
// the archetype's types, all zero, in rows in the order of ids. All are made or none:
// an error is a *LimitError, and the ids stay reserved. It panics during iteration, and
// for ids that are not reserved now as Unreserve does. Like all structural changes it
// is the owner's.
func (a *Archetype) CreateReserved(ids []Entity) (Batch, error) {
	const op = "Archetype.CreateReserved"
	w := a.w
	w.checkUnlocked(op)
	if a.dying {
		refuseDying(op)
	}
	w.hold(op, ids)
	if len(ids) == 0 {
		return Batch{w: w, epoch: w.epoch}, nil
	}
	w.sweepBut(a)
	before := len(w.archetypes)
	a, err := a.again()
	if err == nil {
		err = a.grow(len(ids))
	}
	if err != nil {
		w.letGo(ids)
		w.forget(before)
		return Batch{}, during(op, err)
	}
	w.revive(ids)
	start := a.grid.Len()
	pos, row := a.grid.Find(start)
	for rest := ids; len(rest) > 0; pos, row = pos+1, 0 {
		chunk, at := a.grid.Chunks()[pos], a.grid.Row(pos, row)
		k := min(len(rest), a.grid.Fits(chunk)-row)
		copy(entities(at.Base, row+k)[row:], rest[:k])
		w.records.place(rest[:k], locate(chunk.First, row))
		alloc.ClearRows(at, k, a.grid.Columns())
		a.markRows(pos)
		for _, slot := range a.toggling {
			a.setBits(slot, pos, row, k)
		}
		rest = rest[k:]
	}
	return a.made(len(ids), start), nil
}

// revive makes ids alive that are held.
func (w *World) revive(ids []Entity) {
	o := w.records.lending.Load()
	for rest := ids; len(rest) > 0; {
		b, n := o.run(rest)
		count := b.lock()
		for _, e := range rest[:n] {
			word, bit := b.bit(e)
			b.held[word] &^= bit
			atomic.StoreUint32(&b.records[e.ref&(blockSize-1)].version, e.version)
		}
		o.unlock(b, count, count)
		o.alive += n
		rest = rest[n:]
	}
}

// hold marks ids that are reserved, so that nobody else creates them or gives them
// back. It panics when one is not, and holds none then.
func (w *World) hold(op string, ids []Entity) {
	o := w.records.lending.Load()
	for i, e := range ids {
		if e.ref&^indexMask != w.tag || o.of(e.ref&indexMask) == nil {
			w.notReserved(op, ids, i)
		}
	}
	for rest := ids; len(rest) > 0; {
		b, n := o.run(rest)
		count, held := b.lock(), 0
		for ; held < n && b.isReserved(rest[held]); held++ {
			word, bit := b.bit(rest[held])
			b.held[word] |= bit
		}
		o.unlock(b, count, count)
		rest = rest[held:]
		if held < n {
			i := len(ids) - len(rest)
			w.letGo(ids[:i])
			w.notReserved(op, ids, i)
		}
	}
}

// letGo undoes hold.
func (w *World) letGo(ids []Entity) {
	o := w.records.lending.Load()
	for rest := ids; len(rest) > 0; {
		b, n := o.run(rest)
		count := b.lock()
		for _, e := range rest[:n] {
			word, bit := b.bit(e)
			b.held[word] &^= bit
		}
		o.unlock(b, count, count)
		rest = rest[n:]
	}
}

// run returns the block of the first id, and how many of the ids in turn are of it.
func (o *lending) run(ids []Entity) (b *lent, n int) {
	block := ids[0].ref & indexMask >> blockShift
	for n < len(ids) && ids[n].ref&indexMask>>blockShift == block {
		n++
	}
	return o.of(ids[0].ref & indexMask), n
}

// bit returns where an id of the block has its bits in used and held.
func (b *lent) bit(e Entity) (word int, bit uint64) {
	i := e.ref & (blockSize - 1)
	return int(i / 64), 1 << (i % 64)
}

// isReserved says whether an id of the block is promised now and not held: its bit is
// set, and its version the one after the record's, which is even.
func (b *lent) isReserved(e Entity) bool {
	word, bit := b.bit(e)
	v := b.records[e.ref&(blockSize-1)].version
	return b.used[word]&^b.held[word]&bit != 0 && v&1 == 0 && v+1 == e.version
}

// notReserved panics for ids[i], and says what it is.
//
//go:noinline
func (w *World) notReserved(op string, ids []Entity, i int) {
	e := ids[i]
	why := "it was given back, created and destroyed, or never reserved"
	switch {
	case e == Null:
		why = "it names no entity"
	case e.IsPlaceholder():
		why = "it is a placeholder of a command buffer"
	case e.ref&tagMask != w.tag:
		why = "it belongs to another world"
	case slices.Contains(ids[:i], e):
		why = "it is given twice"
	case w.Alive(e):
		why = "it is alive already"
	}
	panic(fmt.Sprintf("ecs: %s: ids[%d] = %v is not reserved: %s; nothing was changed", op, i, e, why))
}
