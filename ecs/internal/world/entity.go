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
