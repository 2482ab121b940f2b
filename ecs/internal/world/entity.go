package world

import "quarry/ecs/internal/entity"

// MostAlive is the greatest number of entities that a world may have.
const MostAlive = entity.MaxIDs - 2

// Tags hands out the tags of the process's worlds. Hash and String do not include the tag.
var Tags entity.Tags

// Null is the ID that is never alive.
var Null entity.ID

// MaxPlaceholders is the number of placeholders of a command buffer.
const MaxPlaceholders = 1 << 31

// WatchEnds has the world told which entities end, from the first name or sparse type on.
func (w *World) WatchEnds() { w.Writer.OnEnd(w.forgetEnded) }

// forgetEnded removes the names and entries of entities that end.
func (w *World) forgetEnded(ids []entity.ID) {
	w.forgetNames(ids)
	w.forgetSparse(ids)
}
