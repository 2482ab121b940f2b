package main

import (
	"errors"

	"quarry/ecs"
)

// quarryAddRemove gives every entity a Velocity and takes it away again.
type quarryAddRemove struct {
	quarryWorld
	list []ecs.Entity
}

func buildQuarryAddRemove(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) { return newQuarryAddRemove(n, more, order) }
}

// newQuarryAddRemove makes n entities of Position and the first more of C1 to C10, and adds and
// removes Velocity once.
func newQuarryAddRemove(n, more int, order listOrder) (*quarryAddRemove, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	s := &quarryAddRemove{quarryWorld: w, list: make([]ecs.Entity, 0, n)}
	batch, err := ecs.NewArchetype(s.w, s.with(1<<more-1, s.position)...).CreateN(n)
	if err != nil {
		return nil, err
	}
	for rows := range batch.Rows() {
		p := s.position.Slice(rows)
		for i, e := range rows.Entities() {
			p[i] = placeOf(len(s.list))
			s.list = append(s.list, e)
		}
	}
	if order == shuffled {
		shuffle(s.list)
	}
	s.pass(1)
	return s, nil
}

func (s *quarryAddRemove) pass(times int) {
	velocity := s.velocity
	for range times {
		for _, e := range s.list {
			velocity.Add(e, Velocity{})
		}
		for _, e := range s.list {
			velocity.Remove(e)
		}
	}
}

func (s *quarryAddRemove) check(int) error {
	if err := wantCount("entities with Velocity", s.tally(true).count, 0); err != nil {
		return err
	}
	return s.tally(false).want(placed(len(s.list)))
}

// quarryEnable disables and enables a component, entity by entity.
type quarryEnable struct {
	w    *ecs.World
	c    ecs.Component[C1]
	on   *ecs.Query // the entities in which it is enabled
	all  *ecs.Query
	list []ecs.Entity
}

func buildQuarryEnable(n int) (trial, error) { return newQuarryEnable(n) }

func newQuarryEnable(n int) (*quarryEnable, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, err
	}
	s := &quarryEnable{w: w, c: ecs.Register[C1](w, ecs.Enableable)}
	position := ecs.Register[Position](w)
	s.on, s.all = ecs.NewQuery(w, ecs.With(s.c)), ecs.NewQuery(w, ecs.With(position))
	batch, err := ecs.NewArchetype(w, s.c, position).CreateN(n)
	if err != nil {
		return nil, err
	}
	for rows := range batch.Rows() {
		s.list = append(s.list, rows.Entities()...)
	}
	return s, nil
}

// once disables; enabling again is not timed.
func (s *quarryEnable) once() {
	c := s.c
	for _, e := range s.list {
		c.Disable(e)
	}
}

func (s *quarryEnable) restore() error {
	for _, e := range s.list {
		s.c.Enable(e)
	}
	return wantCount("enabled entities", s.on.Count(), len(s.list))
}

func (s *quarryEnable) check(int) error { return wantCount("enabled entities", s.on.Count(), 0) }

func (s *quarryEnable) close() error { return s.w.Close() }

func (s *quarryEnable) committed() int64 { return int64(s.w.Universe().Stats().Committed) }

// quarryAddRemoveSparse adds and removes a sparse type, whose values lie beside the chunks.
type quarryAddRemoveSparse struct {
	*quarryAddRemove
	speed ecs.Sparse[Velocity]
}

func buildQuarryAddRemoveSparse(more int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryAddRemove(n, more, shuffled)
		if err != nil {
			return nil, err
		}
		return &quarryAddRemoveSparse{s, ecs.RegisterSparse[Velocity](s.w)}, nil
	}
}

//go:noinline
func (s *quarryAddRemoveSparse) pass(times int) {
	speed := s.speed
	for range times {
		for _, e := range s.list {
			speed.Add(e, Velocity{})
		}
		for _, e := range s.list {
			speed.Remove(e)
		}
	}
}

func (s *quarryAddRemoveSparse) check(passes int) error {
	return errors.Join(wantCount("sparse values", s.speed.Len(), 0), s.quarryAddRemove.check(passes))
}

// quarryApplyListSparse does the same by a Change of a list.
type quarryApplyListSparse struct {
	*quarryAddRemoveSparse
	add, remove *ecs.Change
	err         error
}

func buildQuarryApplyListSparse(more int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		single, err := buildQuarryAddRemoveSparse(more)(n)
		if err != nil {
			return nil, err
		}
		s := single.(*quarryAddRemoveSparse)
		return &quarryApplyListSparse{quarryAddRemoveSparse: s, add: ecs.NewChange(s.w, ecs.Add(s.speed)),
			remove: ecs.NewChange(s.w, ecs.Remove(s.speed))}, nil
	}
}

func (s *quarryApplyListSparse) pass(times int) {
	for range times {
		_, added := s.add.ApplyList(s.list)
		_, removed := s.remove.ApplyList(s.list)
		s.err = errors.Join(s.err, added, removed)
	}
}

func (s *quarryApplyListSparse) check(passes int) error {
	return errors.Join(s.err, s.quarryAddRemoveSparse.check(passes))
}
