package ecs

import "quarry/ecs/internal/edit"

// Outcome is the combined effect of a sequence of changes on the entities of an archetype. It
// serves package command: see quarry/internal/seam.
type Outcome = edit.Outcome

// Transaction is a structural change of several groups of entities, all or none. It serves package
// command: see quarry/internal/seam.
type Transaction = edit.Transaction
