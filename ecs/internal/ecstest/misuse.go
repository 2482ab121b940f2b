package ecstest

import (
	"testing"

	"quarry/ecs"
)

// Misuse is a world with one of everything, for calls that are wrong.
type Misuse struct {
	World, Other *ecs.World
	Position     ecs.Component[Position]
	Velocity     ecs.Component[Velocity]
	Stun         ecs.Component[Stun] // Enableable
	Hits         ecs.Buffer[Hit]
	Archetype    *ecs.Archetype // of all four
	Entity       ecs.Entity     // the only one
	Stranger     ecs.Entity     // of the other world
	Query        *ecs.Query
}

// NewMisuse makes both worlds.
func NewMisuse(t testing.TB) *Misuse {
	m := &Misuse{World: NewWorld(t), Other: NewWorld(t)}
	m.Position, m.Velocity = ecs.Register[Position](m.World), ecs.Register[Velocity](m.World)
	m.Stun = ecs.Register[Stun](m.World, ecs.Enableable)
	m.Hits = ecs.RegisterBuffer[Hit](m.World)
	m.Archetype = ecs.NewArchetype(m.World, m.Position, m.Velocity, m.Hits, m.Stun)
	m.Entity = m.Archetype.Create()
	m.Stranger = ecs.NewArchetype(m.Other).Create()
	m.Query = ecs.NewQuery(m.World, ecs.Write(m.Position), ecs.Read(m.Hits), ecs.With(m.Stun))
	return m
}

// InLoop returns a function that calls f in a loop over the query.
func (m *Misuse) InLoop(f func(rows ecs.Rows)) func() { return InLoop(m.Query, f) }

// InLoop returns a function that calls f in a loop over a query.
func InLoop(q *ecs.Query, f func(rows ecs.Rows)) func() {
	return func() {
		for rows := range q.Rows() {
			f(rows)
		}
	}
}

// TooManyTypes is the text of the limit of types: the reason, and what to do.
const TooManyTypes = "the limit is 1024 component types a world: a set of types is 128 B, " +
	"a bit for each, in every archetype, query and change (make one type of those that always come together, variants of a type values of a field or of a shared type, or use a second world)"
