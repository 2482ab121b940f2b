package ecs

import "quarry/ecs/internal/entity"

// Direct finds a component's values by entity, as Component.Get does in 1.3 times, and Mut in twice
// the time: it is what they look up in, as it was when Component.Direct was called, so a loop over
// entities keeps it in registers. Keep it in a local variable, and pass it by value.
//
// Like a slice, a Direct is valid until the next structural change of the world, and until the type
// is lent to a job; debug builds panic where memory has moved since. After World.Close a look-up
// faults. It belongs to the world's owner.
type Direct[T any] struct{ core entity.Direct }

// Spot is where an entity's row is until the next structural change, for the Direct of any
// component. The zero value is the spot of no entity.
type Spot struct{ core entity.Spot }

// Direct returns a Direct for reading. It panics while the type is lent for writing. Cost: as one
// Get.
func (c Component[T]) Direct() Direct[T] { return Direct[T]{c.t.Direct("Component.Direct")} }

// DirectMut returns a Direct through which values may be written. Writes are not marked one by one:
// DirectMut marks the component changed in all chunks and, where the type has TrackRows, all rows.
// It keeps all values for the snapshots that are alive. So take a new one after a snapshot, and
// after the world's version has advanced, as a loop over a query with Changed or Ordered makes it
// do. It panics while the type is lent. Cost: per archetype, and per chunk that has the type.
func (c Component[T]) DirectMut() Direct[T] { return Direct[T]{c.t.DirectMut("Component.DirectMut")} }

// Get returns a pointer to e's value, or nil if e is not alive, does not have the component, or
// belongs to another world. The pointer is valid as long as the Direct.
func (d Direct[T]) Get(e Entity) *T {
	return (*T)(d.core.At(entity.ID(e))) // Safe because it is the address of a T, or nil.
}

// Locate returns where e's row is. It serves several components of one entity, whose record is then
// read once:
//
//	at := positions.Locate(e)
//	p, v := positions.At(at), velocities.At(at)
func (d Direct[T]) Locate(e Entity) Spot { return Spot{d.core.Spot(entity.ID(e))} }

// At returns the value in the row at a spot, or nil if the spot is no entity's or the entity does
// not have the component. The Direct of any component of the same world may have given the spot.
func (d Direct[T]) At(s Spot) *T { return (*T)(d.core.ValueIn(s.core)) } // Safe because Get is.
