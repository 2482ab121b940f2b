package ecstest

import "quarry/ecs"

// Position is two numbers, as long as Velocity.
type Position struct{ X, Y float64 }

// Velocity is two numbers, as long as Position.
type Velocity struct{ X, Y float64 }

// Tag has no bytes.
type Tag struct{}

// Health is two small numbers.
type Health struct{ HP, Max int32 }

// Stun is registered with enable bits.
type Stun struct{ Left float32 }

// Owner names an entity.
type Owner struct{ Of ecs.Entity }

// Hit is an element of buffers, which names an entity.
type Hit struct {
	By     ecs.Entity
	Damage int32
}

// Socket is a cleanup type.
type Socket struct{ FD int32 }

// Burning is a sparse type.
type Burning struct{ Heat, For float64 }

// Marked is a sparse type with enable bits, which names an entity.
type Marked struct{ By ecs.Entity }

// Weapon has a pointer, so it is a managed type or none.
type Weapon struct {
	Damage int32
	Name   string
}

// Flag has no bytes, and is registered with enable bits.
type Flag struct{}
