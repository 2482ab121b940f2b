package ecs

import "quarry/ecs/internal/entity"

// MakeEntity makes one of its bits.
func MakeEntity(ref, version uint32) Entity {
	return Entity(entity.FromBits(uint64(version)<<32 | uint64(ref)))
}

// Bits returns those of an entity.
func (e Entity) Bits() (ref, version uint32) { return uint32(entity.ID(e).Bits()), e.Version() }
