package ecs

import "quarry/ecs/internal/entity"

// CorruptIDs makes an id alive that no row has, and returns what puts that right.
func (w *World) CorruptIDs() (restore func()) {
	id := make([]entity.ID, 1)
	if w.ids.Promise(id) != nil || w.ids.Hold(id) >= 0 || w.ids.Reach() != nil {
		return nil
	}
	w.showRecords()
	w.ids.Revive(id)
	return func() { w.ids.Give(id[0], w.ids.Find(id[0])) }
}

// CorruptView makes look-ups of a type see no records.
func CorruptView(t Type) (restore func()) {
	info := t.info()
	info.Show(entity.View{})
	return func() { info.Show(info.w.ids.View()) }
}

// CorruptNames breaks W8 of a world with two names that are the same, in three ways.
func (w *World) CorruptNames(way int) (restore func()) {
	for index, n := range w.names.byIndex {
		switch {
		case way == 0:
			e := n.e
			n.e = Entity(entity.Make(index, w.ids.Tag(), e.Version()+1))
			return func() { n.e = e }
		case way == 1 && n.next != nil:
			delete(w.names.byText, n.text)
			return func() { w.names.byText[n.text] = n }
		case way == 2 && n.next == nil:
			delete(w.names.byIndex, index)
			return func() { w.names.byIndex[index] = n }
		}
	}
	return nil
}

// LeaveBlocks lets a world make n blocks of ids more, and no others, until restore.
func (w *World) LeaveBlocks(n int) (restore func()) {
	w.ids.Limit(n)
	return func() { w.ids.Limit(-1) }
}

// MakeEntity makes one of its bits.
func MakeEntity(ref, version uint32) Entity {
	return Entity(entity.FromBits(uint64(version)<<32 | uint64(ref)))
}

// Bits returns those of an entity.
func (e Entity) Bits() (ref, version uint32) { return uint32(entity.ID(e).Bits()), e.Version() }

// HasNames says whether the world has paid for names.
func (w *World) HasNames() bool { return w.names != nil }
