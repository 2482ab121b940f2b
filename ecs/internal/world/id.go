package world

import "quarry/ecs/internal/entity"

// null is the ID that is never alive.
var null entity.ID
