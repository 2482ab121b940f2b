package edit_test

import (
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/entity"
)

// corruptIDs makes an id alive that no row has, and returns what puts that right.
func corruptIDs(w *ecs.World) (restore func()) {
	core, id := door.World(w), make([]entity.ID, 1)
	if core.IDs.Reserve(id) != nil || core.IDs.Hold(id) >= 0 || core.IDs.Reach() != nil {
		return nil
	}
	core.UpdateLookups()
	core.IDs.Revive(id)
	return func() { core.IDs.FreeID(id[0], core.IDs.Find(id[0])) }
}

// corruptView makes look-ups of a type see no records.
func corruptView(t ecs.Type) (restore func()) {
	info := ecstest.TypeOf(t)
	info.SetRecords(entity.RecordsView{})
	return func() { info.SetRecords(info.World.IDs.View()) }
}
