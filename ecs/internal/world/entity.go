package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
)

// MostAlive is the greatest number of entities that a world may have.
const MostAlive = entity.MaxIDs - 2

// Tags hands out the tags of the process's worlds. Hash and String do not include the tag.
var Tags entity.Tags

// Null is the ID that is never alive.
var Null entity.ID

// RefuseDead panics for a dead entity that was to get the type.
//
//go:noinline
func (t *Type) RefuseDead(op string, e entity.ID) unsafe.Pointer {
	t.World.CheckWorld(op, e)
	// errors.md, Entities: `is not alive, cannot add` | `Add` to an entity that is gone. | Ask
	// `World.Alive`, or record it: a buffer says which failed.
	panic(fmt.Sprintf("ecs: %s: %v is not alive, cannot add %s", op, e, t.Name))
}

// PassDead checks that a dead entity belongs to w, and returns false.
//
//go:noinline
func (w *World) PassDead(op string, e entity.ID) bool {
	w.CheckWorld(op, e)
	return false
}

// MaxPlaceholders is the number of placeholders of a command buffer.
const MaxPlaceholders = 1 << 31
