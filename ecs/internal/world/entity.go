package world

import "quarry/ecs/internal/entity"

// mostAlive is the greatest number of entities that a world may have.
const mostAlive = entity.MaxIDs - 2

// Tags hands out the tags of the process's worlds. Hash and String do not include the tag.
var Tags entity.Tags
