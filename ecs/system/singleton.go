package system

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// Singleton is a component that exactly one entity has, such as the score or the settings of a
// level. The entity is found by a query, so it is created and destroyed like any other.
type Singleton[T any] struct {
	c ecs.Component[T]
	q *ecs.Query
}

// NewSingleton returns a singleton of component c. Its query stays in the world until Close.
// Systems that use the singleton declare c by State.Uses. NewSingleton panics if c is Enableable,
// since its existence would then depend on an enable bit.
func NewSingleton[T any](w *ecs.World, c ecs.Component[T]) *Singleton[T] {
	if w == nil {
		panic("system: NewSingleton: the world is nil")
	}
	if door.TypeIndex(w, c) < 0 {
		panic(fmt.Sprintf(
			"system: NewSingleton: %v is not a type of the world: a zero handle, or registered in another world", c))
	}
	if door.FactsOf(c).Enableable {
		panic(fmt.Sprintf("system: NewSingleton: %v is Enableable, and a singleton is there or not", c))
	}
	return &Singleton[T]{c: c, q: ecs.NewQuery(w, ecs.With(c))}
}

// Entity returns the entity that has the component. If not exactly one entity has it, the error
// wraps ecs.ErrNotSingle and gives the number.
func (s *Singleton[T]) Entity() (ecs.Entity, error) { return s.q.Single() }

// Query returns the query that finds the entity, for State.Require.
func (s *Singleton[T]) Query() *ecs.Query { return s.q }

// Get returns the component for reading. The pointer is valid until the next structural change. The
// error is as for Entity.
func (s *Singleton[T]) Get() (*T, error) {
	e, err := s.q.Single()
	if err != nil {
		return nil, err
	}
	return s.c.Get(e), nil
}

// Mut is Get for writing: the component counts as changed.
func (s *Singleton[T]) Mut() (*T, error) {
	e, err := s.q.Single()
	if err != nil {
		return nil, err
	}
	return s.c.Mut(e), nil
}

// Set sets the component. The error is as for Entity.
func (s *Singleton[T]) Set(v T) error {
	e, err := s.q.Single()
	if err == nil {
		s.c.Set(e, v)
	}
	return err
}

// Close removes the query from the world.
func (s *Singleton[T]) Close() { s.q.Close() }
