package scene

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// errors.md: `ErrBroken` | `Host.Verify` found an `Identity` or a `Tag` that the program has
// written, S5 or S6. | Leave both to the package.

// ErrBroken is wrapped by the errors of Verify.
var ErrBroken = errors.New("an entity of a section is not where it should be")

// Verify checks the invariants S5 and S6 of host.go and returns an error that names the first that
// is broken. Programs break them by writing Identity or Tag, and by World.Restore to a time when a
// section was there that has been unloaded since. Cost: a look at each entity of a section.
func (h *Host) Verify() error {
	gone := map[uint32]bool{}
	for _, n := range h.gone {
		gone[n] = true
	}
	for _, i := range h.instances {
		if i.state != Loaded {
			continue
		}
		for _, id := range i.file.byID {
			e := i.entities[id.Local]
			if !h.w.Alive(e) {
				continue
			}
			if has := h.types.identity.Get(e); has != nil && *has != id {
				return fmt.Errorf("scene: S5: %w: %v of %s has %+v, not %+v", ErrBroken, e, i.file.name, *has, id)
			}
		}
	}
	q := ecs.NewQuery(h.w, ecs.Read(h.types.identity), ecs.With(h.types.tag), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	for rows := range q.Rows() {
		tag, _ := h.types.tag.At(rows)
		if gone[tag.Instance] { // others may be of another host, or were saved with the world
			return fmt.Errorf("scene: S6: %w: %d entities have the tag of instance %d, which is gone", ErrBroken, rows.Len(), tag.Instance)
		}
	}
	return nil
}
