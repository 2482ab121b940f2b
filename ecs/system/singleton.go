package system

import (
	"fmt"

	"quarry/ecs"
	"quarry/internal/seam"
)

// Singleton is a component that one entity has, and no other: the score, the settings of a
// level. It is found by a query, so the entity is made and destroyed as any other.
type Singleton[T any] struct {
	c ecs.Component[T]
	q *ecs.Query
}

// NewSingleton makes a singleton of a component. It panics for one that is Enableable: whether
// there is one would depend on a bit. Systems that use it declare the component by
// State.Uses. Its query is the world's until Close.
func NewSingleton[T any](w *ecs.World, c ecs.Component[T]) *Singleton[T] {
	if w == nil {
		panic("system: NewSingleton: the world is nil")
	}
	if seam.FactsOf(c).Enableable {
		panic(fmt.Sprintf("system: NewSingleton: %v is Enableable, and a singleton is there or not", c))
	}
	return &Singleton[T]{c: c, q: ecs.NewQuery(w, ecs.With(c))}
}

// Entity returns the entity. An error wraps ecs.ErrNotSingle and says how many there are.
func (s *Singleton[T]) Entity() (ecs.Entity, error) { return s.q.Single() }

// Query returns the query that finds it, for State.Require.
func (s *Singleton[T]) Query() *ecs.Query { return s.q }

// Get returns the component to read, good until the next structural change; the error is Entity's.
func (s *Singleton[T]) Get() (*T, error) {
	e, err := s.q.Single()
	if err != nil {
		return nil, err
	}
	return s.c.Get(e), nil
}

// Mut is Get to write: the component counts as changed.
func (s *Singleton[T]) Mut() (*T, error) {
	e, err := s.q.Single()
	if err != nil {
		return nil, err
	}
	return s.c.Mut(e), nil
}

// Set sets the component; the error is Entity's.
func (s *Singleton[T]) Set(v T) error {
	e, err := s.q.Single()
	if err == nil {
		s.c.Set(e, v)
	}
	return err
}

// Close takes the query out of the world.
func (s *Singleton[T]) Close() { s.q.Close() }
