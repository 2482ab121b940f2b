package ecs

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
	"quarry/layout"
)

// Archetype is a set of component types, with one value for each shared type. It owns the chunks of
// all entities that have exactly these types and values. Its rows are dense: only the last chunk
// may be partly full, and a row that leaves is replaced by the last row.
//
// All methods belong to the world's owner: one goroutine at a time. While a borrow is out, its
// goroutines may call those that ask for types, rows and chunks: Has, Components, Len, Chunks,
// Chunk, String.
type Archetype struct{ core world.Archetype }

func (a *Archetype) inner() *world.Archetype {
	return (*world.Archetype)(unsafe.Pointer(a)) // Safe because an Archetype is its core.
}
func archetypeFrom(a *world.Archetype) *Archetype {
	return (*Archetype)(unsafe.Pointer(a)) // Safe because an Archetype is its core.
}

// NewArchetype returns the archetype with the given types (components, buffers and others), in any
// order. The same set always yields the same archetype. A shared type is given by a value, see
// Shared.Of; the type alone stands for its zero value. NewArchetype panics for a type of another
// world and for a type that is given twice. It panics with a *LimitError if a row does not fit in a
// chunk. The archetype and the shared values it names stay until World.Close, so with many values
// over time use Archetype.With, whose archetypes World.Shrink gives up.
func NewArchetype(w *World, types ...Type) *Archetype {
	w.inner().CheckNew("NewArchetype")
	var sig world.Signature
	given := make([]*value.Shared, 0, world.UsualValues)
	for _, t := range types {
		id := w.idOf("NewArchetype", t)
		if sig.Has(id) {
			panic(fmt.Sprintf("ecs: NewArchetype: %s is given twice", w.core.Types.List[id].Name))
		}
		if id == world.CleanupEntityID {
			world.RefuseDying("NewArchetype")
		}
		if w.core.Types.List[id].Place() == world.PerEntity {
			panic(fmt.Sprintf("ecs: NewArchetype: %s is sparse: no archetype has it; add it to entities",
				w.core.Types.List[id].Name))
		}
		sig.Add(id)
		if s, ok := t.(SharedValue); ok {
			given = append(given, s.core.Value)
		}
	}
	a, err := w.inner().ArchetypeOf(sig, w.inner().ValuesFor(make([]*value.Shared, 0, world.UsualValues), &sig,
		given, nil, nil))
	if err != nil {
		panic(world.WithOp("NewArchetype", err))
	}
	if !w.Lent() { // goroutines may look up what is there, at once
		a.Pinned = true
	}
	return archetypeFrom(a)
}

// Len returns the number of entities that have exactly the archetype's types and shared values.
func (a *Archetype) Len() int {
	if a.core.Table.Closed {
		a = archetypeFrom(a.inner().CurrentOrNil())
	}
	return a.core.Table.Store.Len()
}

// Has reports whether the archetype has the type. It panics for a type of another world.
func (a *Archetype) Has(t Type) bool { return a.core.Table.Sig.Has(a.World().idOf("Archetype.Has", t)) }

// World returns the archetype's world; for an archetype of a snapshot, the one that took it.
func (a *Archetype) World() *World {
	if a.core.SnapshotView != nil {
		return worldFrom(a.core.World.Types.List[0].Live.World)
	}
	return worldFrom(a.core.World)
}

// Chunks returns the number of chunks that hold rows.
func (a *Archetype) Chunks() int { return len(a.inner().CurrentOrNil().Table.Store.Chunks()) }

// Chunk returns the i'th chunk's offset in bytes from the universe's base, its size in bytes, and
// its number of rows. The size is a power of two: 2 KiB, or 16 KiB to 1 MiB. All chunks but the
// last are full. Chunk panics if i is not in [0, Chunks()).
func (a *Archetype) Chunk(i int) (offset, bytes, rows int) {
	if a = archetypeFrom(a.inner().CurrentOrNil()); uint(i) >= uint(len(a.core.Table.Store.Chunks())) {
		panic(fmt.Sprintf("ecs: Archetype.Chunk: %d is not in [0, %d) of %v", i, len(a.core.Table.Store.Chunks()), a))
	}
	c := a.core.Table.Store.Chunks()[i]
	return int(c.First) * store.SmallSize, c.Bytes(), a.core.Table.Store.RowsOf(i)
}

// Plan returns the layout of a 16 KiB unit; it prints as a drawing. A chunk of n units has n times
// the rows, and each column at n times the offset. For a small chunk of 2 KiB, n is 1/8 and the row
// count is rounded down; for a chunk of 1 MiB with more than four columns, n is 63. The layout may
// change while the archetype has no rows, see Change.ApplyQuery. Cost: the layout is computed at
// each call.
func (a *Archetype) Plan() layout.Plan {
	a = archetypeFrom(a.inner().CurrentOrNil())
	return a.core.Table.Plan()
}

// String lists the archetype's types.
func (a *Archetype) String() string { return a.inner().String() }

// Create creates an entity with the archetype's types. Components are zero, buffers empty. It
// panics inside a loop over rows, and with a *LimitError if there is no room.
func (a *Archetype) Create() Entity { return Entity(edit.Create(a.inner())) }

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
