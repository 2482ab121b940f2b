package ecs

import (
	"iter"

	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Changed yields each entity with each type that it has in both states and of which it has other
// bytes, elements or another enable bit than before, once. Types that it did not have before are
// in Gained, whatever their values, and those that it no longer has in Lost. Values of chunk types
// are not among them, nor values that are shared: with another one an entity has moved. The types
// are handles as those of ComponentInfo.Type, of the world that took the snapshots.
func (d *Delta) Changed() iter.Seq2[Entity, Type] {
	d.inner().CheckWalk("Delta.Changed")
	return func(yield func(Entity, Type) bool) { d.inner().EachChanged(byHandle(yield)) }
}

// byHandle returns yield for callers that have types instead of handles. A snapshot's copy of a
// type has the handle of the world's.
func byHandle(yield func(Entity, Type) bool) func(entity.ID, *world.Type) bool {
	return func(e entity.ID, t *world.Type) bool { return yield(Entity(e), handleOf(t)) }
}

// Gained yields each entity that is alive in both states with each type that it has in the newer
// one alone, of every kind; Values tells the value. Types are as those of Changed.
func (d *Delta) Gained() iter.Seq2[Entity, Type] {
	d.inner().CheckWalk("Delta.Gained")
	return func(yield func(Entity, Type) bool) { d.inner().EachGained(byHandle(yield)) }
}

// Lost yields each entity that is alive in both states with each type that it has in the older one
// alone, of every kind; Values tells the value. Types are as those of Changed.
func (d *Delta) Lost() iter.Seq2[Entity, Type] {
	d.inner().CheckWalk("Delta.Lost")
	return func(yield func(Entity, Type) bool) { d.inner().EachLost(byHandle(yield)) }
}

// Values returns copies of e's value of a type in the older and in the newer state, as World.Value
// does: nil in a state in which e is not alive or lacks the type, and of a managed type without
// CopyWith. It panics as walks do, and for an entity or a type of another world. Cost: reflection,
// and allocations.
func (d *Delta) Values(e Entity, t Type) (was, is any) {
	const op = "Delta.Values"
	d.inner().CheckWalk(op)
	info, of := infoOf(op, t), d.core.Newer
	if live := of.Types.List[0].Live; live != nil {
		of = live.World
	}
	of.CheckOwn(op, info)
	return delta.ValueNumbered(d.core.Older, op, entity.ID(e), info.ID), delta.ValueNumbered(d.core.Newer, op, entity.ID(e), info.ID)
}
