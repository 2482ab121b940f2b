package ecs

import (
	"fmt"

	"quarry/ecs/internal/edit"
)

// Create creates an entity with the archetype's types. Components are zero, buffers empty. It
// panics inside a loop over rows, and with a *LimitError if there is no room.
func (a *Archetype) Create() Entity { return Entity(edit.Create(a.inner())) }

// TryCreate is like Create but returns the *LimitError; nothing has changed then.
func (a *Archetype) TryCreate() (Entity, error) {
	made, err := edit.TryCreate(a.inner())
	return Entity(made), err
}

// CreateOption is an option of CreateN.
type CreateOption struct{ core edit.CreateOption }

// Uninitialized declares that the caller writes every row of the columns of these types itself, so
// CreateN need not zero them. It panics for a buffer and for a managed type, whose rows must begin
// as zero, and for a type of another world. Create the option once for many batches.
func Uninitialized(types ...Type) CreateOption {
	var o CreateOption
	for _, t := range types {
		info := infoOf("Uninitialized", t)
		if o.core.World == nil {
			o.core.World = info.WorldOrNil()
		}
		o.core.World.CheckOwn("Uninitialized", info)
		if info.Kind == KindBuffer {
			panic(fmt.Sprintf("ecs: Uninitialized: %s is a buffer: its header must be zero", info.Name))
		}
		if info.Kind == KindManaged {
			panic(fmt.Sprintf("ecs: Uninitialized: the slots of %s must be zero", info.Name))
		}
		o.core.Unset.Add(info.ID)
	}
	return o
}

// CreateN creates n entities with the archetype's types. Components are zero, except in columns
// named by Uninitialized. Either all n entities are created or none; an error is a *LimitError.
// CreateN panics for a negative n and inside a loop over rows. Cost: per chunk rather than per
// entity, except for the ids.
func (a *Archetype) CreateN(n int, options ...CreateOption) (Batch, error) {
	made, err := edit.CreateN(a.inner(), n, coresOf[edit.CreateOption](options)...)
	return Batch{made}, err
}
