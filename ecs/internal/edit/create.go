package edit

import (
	"fmt"
	"math/bits"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Creating one entity or n entities of an archetype, with zero components. Instantiate copies
// entities (instantiate.go); CreateReserved gives rows to reserved ids (reserve.go).

// Create is ecs.Archetype.Create.
func Create(a *world.Archetype) entity.ID {
	w := a.World
	if w != nil && w.Loops.Open == 0 && !a.CleanupOnly && w.IDs.Free() > 0 && !a.Table.Store.Full() {
		return w.Writer.Create(&a.Table.Table)
	}
	e, err := TryCreate(a)
	if err != nil {
		panic(err)
	}
	return e
}

// TryCreate is ecs.Archetype.TryCreate.
func TryCreate(a *world.Archetype) (entity.ID, error) {
	w := a.World
	w.CheckUnlocked("Archetype.Create")
	if a.CleanupOnly {
		world.RefuseDying("Archetype.Create")
	}
	if w.IDs.Free() == 0 || a.Table.Store.Full() {
		var err error
		if a, err = makeRoom(a, 1); err != nil {
			return world.Null, world.WithOp("Archetype.Create", err)
		}
	}
	return w.Writer.Create(&a.Table.Table), nil
}

// makeRoom ensures that n entities can be created. It returns the archetype to create them in,
// which is a unless a was retired. On an error nothing has changed.
func makeRoom(a *world.Archetype, n int) (*world.Archetype, error) {
	w := a.World
	w.SweepBut(a)
	before := len(w.Archetypes.List)
	a, err := a.Current()
	if err == nil {
		err = world.LimitErrorOf(w.Writer.Room(&a.Table.Table, n, n))
	}
	if err != nil {
		w.Forget(before)
	}
	return a, err
}

// CreateOption is ecs.CreateOption.
type CreateOption struct {
	World *world.World
	Unset world.Signature // columns that the caller fills
}

// unsetOf combines the options, after checking that they name types of a.
func unsetOf(a *world.Archetype, options []CreateOption) (unset world.Signature) {
	for i := range options {
		o := &options[i]
		if o.World != nil && o.World != a.World {
			panic("ecs: Archetype.CreateN: Uninitialized names types of another world")
		}
		for k, word := range o.Unset {
			if extra := word &^ a.Table.Sig[k]; extra != 0 {
				id := k*64 + bits.TrailingZeros64(extra)
				panic(fmt.Sprintf("ecs: Archetype.CreateN: Uninitialized names %s, which %v does not have",
					a.World.Types.List[id].Name, a))
			}
			unset[k] |= word
		}
	}
	return unset
}

// CreateN is ecs.Archetype.CreateN.
func CreateN(a *world.Archetype, n int, options ...CreateOption) (Batch, error) {
	w := a.World
	w.CheckUnlocked("Archetype.CreateN")
	if a.CleanupOnly {
		world.RefuseDying("Archetype.CreateN")
	}
	if n < 0 {
		panic(fmt.Sprintf("ecs: Archetype.CreateN: n=%d is negative", n))
	}
	unset := unsetOf(a, options)
	if n == 0 {
		return Batch{World: w, epoch: w.Writer.Epoch}, nil
	}
	if n > world.MostAlive-w.Living() {
		return Batch{}, world.WithOp("Archetype.CreateN", world.Limit("entities a world", world.MostAlive, nil))
	}
	a, err := makeRoom(a, n)
	if err != nil {
		return Batch{}, world.WithOp("Archetype.CreateN", err)
	}
	tx := w.Writer.Begin()
	tx.Note(w.Writer.CreateN(&a.Table.Table, n, &unset))
	return batch(w, n), nil
}
