package ecs

import "quarry/ecs/internal/entity"

// CorruptIDs makes an id alive that no row has, and returns what puts that right.
func (w *World) CorruptIDs() (restore func()) {
	id := make([]entity.ID, 1)
	if w.core.IDs.Promise(id) != nil || w.core.IDs.Hold(id) >= 0 || w.core.IDs.Reach() != nil {
		return nil
	}
	w.inner().ShowRecords()
	w.core.IDs.Revive(id)
	return func() { w.core.IDs.Give(id[0], w.core.IDs.Find(id[0])) }
}

// CorruptView makes look-ups of a type see no records.
func CorruptView(t Type) (restore func()) {
	info := t.info()
	info.Show(entity.View{})
	return func() { info.Show(info.World.IDs.View()) }
}

// CorruptNames breaks W8: an entity that is not alive gets a name.
func (w *World) CorruptNames() (restore func()) {
	w.core.Names.Set(entity.Make(entity.MaxIDs-1, w.core.IDs.Tag(), 1), "nobody")
	return func() { w.core.Names.Remove(entity.MaxIDs - 1) }
}

// LeaveBlocks lets a world make n blocks of ids more, and no others, until restore.
func (w *World) LeaveBlocks(n int) (restore func()) {
	w.core.IDs.Limit(n)
	return func() { w.core.IDs.Limit(-1) }
}

// MakeEntity makes one of its bits.
func MakeEntity(ref, version uint32) Entity {
	return Entity(entity.FromBits(uint64(version)<<32 | uint64(ref)))
}

// Bits returns those of an entity.
func (e Entity) Bits() (ref, version uint32) { return uint32(entity.ID(e).Bits()), e.Version() }

// HasNames says whether the world has paid for names.
func (w *World) HasNames() bool { return w.core.Names.Len() > 0 }
