package ecs

import (
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/world"
)

// Ids that any goroutine may reserve, and that the owner makes entities of later: the only calls
// of a world that need no owner.

// Reserve fills ids with reserved entities. A reserved entity is unique in the world but not alive
// until the owner passes it to [Archetype.CreateReserved]: until then no look-up finds it and no
// query sees it. Any goroutine may call Reserve at any time, even while the owner loops, but not
// during Close. Either all are reserved or none; the error is a *LimitError. If several goroutines
// call Reserve, it is not deterministic which ids each gets.
//
// Reserved ids come from blocks of 8,192 ids that serve no other purpose. The world has 16,384
// blocks, numbered in order of creation. The owner cannot use free ids in blocks of reserved ids,
// nor can Reserve use free ids in the owner's blocks. So the index of an entity that the owner
// creates otherwise depends on how many blocks Reserve had created before the owner's block. The
// same operations yield the same ids if Reserve is one of these operations, at a fixed place among
// them. If other goroutines call Reserve meanwhile, the ids differ only by the numbers of the
// blocks.
//
// A block costs 32 KiB of the universe and 2 KiB of Go memory, and is kept until the world closes.
// The records of its entities, 64 KiB per block, are allocated with the owner's next block or by
// CreateReserved. Reserve cannot use the reserves of archetypes; if memory runs out, see
// World.Trim. Cost: a few atomic operations per call and block. A snapshot, a restore and Verify
// make it wait for a moment.
func (w *World) Reserve(ids []Entity) error {
	w.inner().CheckHandle("World.Reserve")
	w.core.Reserving.RLock()
	defer w.core.Reserving.RUnlock()
	return world.WithOp("World.Reserve", world.LimitErrorOf(w.core.IDs.Reserve(idsOf(ids))))
}

// Unreserve releases reserved ids that will not be created; they never identify an entity. Any
// goroutine may call it, whichever goroutine reserved the ids, but not during Close. It panics and
// releases none if one of the ids is not reserved: null, of another world, created or released
// before, or given twice.
func (w *World) Unreserve(ids []Entity) {
	w.inner().CheckHandle("World.Unreserve")
	w.core.Reserving.RLock() // a snapshot has no id that is half released
	defer w.core.Reserving.RUnlock()
	edit.Hold(w.inner(), "World.Unreserve", idsOf(ids))
	w.core.IDs.TakeBack(idsOf(ids))
}

// CreateReserved creates entities with ids from [World.Reserve], with the archetype's types, all
// zero, in rows in the order of ids. Either all are created or none; an error is a *LimitError, and
// the ids stay reserved. CreateReserved panics inside a loop over rows, and like Unreserve for ids
// that are not reserved. Like all structural changes it belongs to the world's owner.
func (a *Archetype) CreateReserved(ids []Entity) (Batch, error) {
	made, err := edit.CreateReserved(a.inner(), idsOf(ids))
	return Batch{made}, err
}
