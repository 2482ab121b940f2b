package world

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/entity"
)

// SetName is ecs.World.SetName.
func (w *World) SetName(e entity.ID, text string) bool {
	if w.RecordOf("World.SetName", e) == nil {
		return false
	}
	w.CheckNotLent("World.SetName")
	if w.Names.Len() == 0 && text != "" {
		w.WatchEnds()
	}
	w.Names.Set(e, text)
	return true
}

// Name is ecs.World.Name.
func (w *World) Name(e entity.ID) string {
	if w.RecordOf("World.Name", e) == nil {
		return ""
	}
	return w.Names.Of(e.Index())
}

// forgetNames removes the names of entities that end.
func (w *World) forgetNames(ids []entity.ID) {
	for i := 0; i < len(ids) && w.Names.Len() > 0; i++ {
		w.Names.Remove(ids[i].Index())
	}
}

// VerifyNames checks W8.
func (w *World) VerifyNames() error {
	for e, text := range w.Names.All() {
		if !w.Alive(e) {
			return fmt.Errorf("ecs: W8: index %d has the name %q of %v, which is not alive", e.Index(), text, e)
		}
	}
	if err := w.Names.Verify(); err != nil {
		return fmt.Errorf("ecs: W8: %w", err)
	}
	return nil
}

// NamedBy returns the entities that a text names, from the one named first on.
func (w *World) NamedBy(text string) (all []entity.ID) {
	all = slices.Collect(w.Names.AllNamed(text))
	slices.Reverse(all)
	return all
}
