package ecs

import (
	"fmt"
	"math/bits"
)

// Creating one entity or n entities of an archetype, with zero components. Instantiate copies
// entities (instantiate.go); CreateReserved gives rows to reserved ids (reserve.go).

// Create creates an entity with the archetype's types. Components are zero, buffers empty. It
// panics inside a loop over rows, and with a *LimitError if there is no room.
func (a *Archetype) Create() Entity {
	w := a.w
	if w != nil && w.loops.open == 0 && !a.dying && w.ids.Free() > 0 && !a.table.Store.Full() {
		return Entity(w.rows.Create(&a.table.Table))
	}
	e, err := a.TryCreate()
	if err != nil {
		panic(err)
	}
	return e
}

// TryCreate is like Create but returns the *LimitError; nothing has changed then.
func (a *Archetype) TryCreate() (Entity, error) {
	w := a.w
	w.checkUnlocked("Archetype.Create")
	if a.dying {
		refuseDying("Archetype.Create")
	}
	if w.ids.Free() == 0 || a.table.Store.Full() {
		var err error
		if a, err = a.makeRoom(1); err != nil {
			return Null, during("Archetype.Create", err)
		}
	}
	return Entity(w.rows.Create(&a.table.Table)), nil
}

// makeRoom ensures that n entities can be created. It returns the archetype to create them in,
// which is a unless a was retired. On an error nothing has changed.
func (a *Archetype) makeRoom(n int) (*Archetype, error) {
	w := a.w
	w.sweepBut(a)
	before := len(w.archetypes.list)
	a, err := a.again()
	if err == nil {
		err = refused(w.rows.Room(&a.table.Table, n, n))
	}
	if err != nil {
		w.forget(before)
	}
	return a, err
}

// CreateOption is an option of CreateN.
type CreateOption struct {
	w     *World
	unset signature // columns that the caller fills
}

// Uninitialized declares that the caller writes every row of the columns of these types itself, so
// CreateN need not zero them. It panics for a buffer and for a managed type, whose rows must begin
// as zero, and for a type of another world. Create the option once for many batches.
func Uninitialized(types ...Type) CreateOption {
	var o CreateOption
	for _, t := range types {
		info := infoOf("Uninitialized", t)
		if o.w == nil {
			o.w = info.world()
		}
		o.w.checkOwn("Uninitialized", info)
		if info.kind == KindBuffer {
			// errors.md, Types, terms and handles: `its header must be zero`, `the slots of ...
			// must be zero`, `Uninitialized names ..., which ... does not have` | `Uninitialized`
			// of a buffer, of a managed type, or of a type that the archetype lacks. | Name
			// components of the archetype only.
			panic(fmt.Sprintf("ecs: Uninitialized: %s is a buffer: its header must be zero", info.name))
		}
		if info.kind == KindManaged {
			panic(fmt.Sprintf("ecs: Uninitialized: the slots of %s must be zero", info.name))
		}
		o.unset.Add(info.id)
	}
	return o
}

// unsetOf combines the options, after checking that they name types of a.
func (a *Archetype) unsetOf(options []CreateOption) (unset signature) {
	for i := range options {
		o := &options[i]
		if o.w != nil && o.w != a.w {
			panic("ecs: Archetype.CreateN: Uninitialized names types of another world")
		}
		for k, word := range o.unset {
			if extra := word &^ a.table.Sig[k]; extra != 0 {
				id := k*64 + bits.TrailingZeros64(extra)
				panic(fmt.Sprintf("ecs: Archetype.CreateN: Uninitialized names %s, which %v does not have", a.w.types.list[id].name, a))
			}
			unset[k] |= word
		}
	}
	return unset
}

// CreateN creates n entities with the archetype's types. Components are zero, except in columns
// named by Uninitialized. Either all n entities are created or none; an error is a *LimitError.
// CreateN panics for a negative n and inside a loop over rows. Cost: per chunk rather than per
// entity, except for the ids.
func (a *Archetype) CreateN(n int, options ...CreateOption) (Batch, error) {
	w := a.w
	w.checkUnlocked("Archetype.CreateN")
	if a.dying {
		refuseDying("Archetype.CreateN")
	}
	if n < 0 {
		panic(fmt.Sprintf("ecs: Archetype.CreateN: n=%d is negative", n))
	}
	unset := a.unsetOf(options)
	if n == 0 {
		return Batch{w: w, epoch: w.rows.Epoch}, nil
	}
	if n > mostAlive-w.alive() {
		return Batch{}, during("Archetype.CreateN", limit("entities a world", mostAlive, nil))
	}
	a, err := a.makeRoom(n)
	if err != nil {
		return Batch{}, during("Archetype.CreateN", err)
	}
	tx := w.rows.Begin()
	tx.Note(w.rows.CreateN(&a.table.Table, n, &unset))
	return w.batch(n), nil
}
