package main

import "github.com/mlange-42/arche/ecs"

// archeLife is a world of arche in which entities are created and destroyed.
type archeLife struct {
	archeWorld
	ids  []ecs.ID
	all  ecs.Mask
	list []ecs.Entity
	n    int
}

// newArcheLife warms the world up, as newQuarryLife does.
func newArcheLife(n, components int) *archeLife {
	s := &archeLife{archeWorld: openArche(), list: make([]ecs.Entity, 0, n), n: n}
	s.ids = s.both
	if components != 2 {
		s.ids = s.with(1<<components - 1)
	}
	s.all = ecs.All(s.ids...)
	for q := s.w.Batch().NewQ(n, s.ids...); q.Next(); {
		*(*Position)(q.Get(s.ids[0])) = Position{1, 1}
	}
	s.clear()
	return s
}

func (s *archeLife) clear() {
	s.w.Batch().RemoveEntities(&s.all)
	s.list = s.list[:0]
}

func (s *archeLife) count() int {
	q := s.w.Query(&s.all)
	defer q.Close()
	return q.Count()
}

func (s *archeLife) restore() error {
	s.clear()
	return wantCount("entities", s.count(), 0)
}

// checkMade wants n entities; entities of two components stand at zero.
func (s *archeLife) checkMade() error {
	if len(s.ids) == 2 {
		return s.tally(true).want(tally{count: s.n})
	}
	return wantCount("entities", s.count(), s.n)
}

// archeCreate makes entities one by one.
type archeCreate struct{ *archeLife }

func buildArcheCreate(components int) func(int) (trial, error) {
	return func(n int) (trial, error) { return archeCreate{newArcheLife(n, components)}, nil }
}

func (s archeCreate) once() {
	list, w, ids := s.list, s.w, s.ids
	for range s.n {
		list = append(list, w.NewEntity(ids...))
	}
	s.list = list
}

func (s archeCreate) check(int) error {
	for _, e := range s.list {
		if !s.w.Alive(e) {
			return wrong("%v is not alive", e)
		}
	}
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	return s.checkMade()
}

// archeCreateBatch makes all entities at once.
type archeCreateBatch struct{ *archeLife }

func buildArcheCreateBatch(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		return archeCreateBatch{newArcheLife(n, components)}, nil
	}
}

func (s archeCreateBatch) once() { s.w.Batch().New(s.n, s.ids...) }

func (s archeCreateBatch) check(int) error { return s.checkMade() }

// archeAlloc makes entities in a fresh world each time.
type archeAlloc struct {
	archeWorld
	n     int
	batch bool
}

func buildArcheAlloc(batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return &archeAlloc{openArche(), n, batch}, nil }
}

func (s *archeAlloc) once() {
	if s.batch {
		s.w.Batch().New(s.n, s.both...)
		return
	}
	for range s.n {
		s.w.NewEntity(s.both...)
	}
}

func (s *archeAlloc) restore() error {
	s.archeWorld = openArche()
	return nil
}

func (s *archeAlloc) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// archeDelete destroys entities one by one.
type archeDelete struct{ *archeLife }

func newArcheDelete(n, components int) (archeDelete, error) {
	s := archeDelete{newArcheLife(n, components)}
	return s, s.restore()
}

func buildArcheDelete(components int) func(int) (trial, error) {
	return func(n int) (trial, error) { return newArcheDelete(n, components) }
}

func (s archeDelete) once() {
	for _, e := range s.list {
		s.w.RemoveEntity(e)
	}
}

func (s archeDelete) restore() error {
	s.list = s.list[:0]
	for q := s.w.Batch().NewQ(s.n, s.ids...); q.Next(); {
		s.list = append(s.list, q.Entity())
	}
	return nil
}

func (s archeDelete) check(int) error {
	for _, e := range s.list {
		if s.w.Alive(e) {
			return wrong("%v is alive", e)
		}
	}
	return wantCount("entities", s.count(), 0)
}

// archeDeleteBatch destroys all entities that match a filter.
type archeDeleteBatch struct{ archeDelete }

func buildArcheDeleteBatch(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newArcheDelete(n, components)
		return archeDeleteBatch{s}, err
	}
}

func (s archeDeleteBatch) once() { s.w.Batch().RemoveEntities(&s.all) }

// archeAddRemove gives every entity a Velocity and takes it away again.
type archeAddRemove struct {
	archeWorld
	list  []ecs.Entity
	speed []ecs.ID
	still ecs.Mask
}

func newArcheAddRemove(n, more int, order listOrder) *archeAddRemove {
	s := &archeAddRemove{archeWorld: openArche(), list: make([]ecs.Entity, n)}
	s.speed, s.still = []ecs.ID{s.velocity}, ecs.All(s.position)
	ids := s.with(1<<more-1, s.position)
	for i := range s.list {
		s.list[i] = s.w.NewEntity(ids...)
		*s.place(s.list[i]) = placeOf(i)
	}
	if order == shuffled {
		shuffle(s.list)
	}
	s.pass(1)
	return s
}

func buildArcheAddRemove(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) { return newArcheAddRemove(n, more, order), nil }
}

func (s *archeAddRemove) pass(times int) {
	w, speed := s.w, s.speed
	for range times {
		for _, e := range s.list {
			w.Add(e, speed...)
		}
		for _, e := range s.list {
			w.Remove(e, speed...)
		}
	}
}

func (s *archeAddRemove) check(int) error {
	if err := wantCount("entities with Velocity", s.tally(true).count, 0); err != nil {
		return err
	}
	return s.tally(false).want(placed(len(s.list)))
}

// archeAddRemoveBatch does the same by filters.
type archeAddRemoveBatch struct{ *archeAddRemove }

func buildArcheAddRemoveBatch(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) { return archeAddRemoveBatch{newArcheAddRemove(n, more, order)}, nil }
}

func (s archeAddRemoveBatch) pass(times int) {
	for range times {
		s.w.Batch().Add(&s.still, s.speed...)
		s.w.Batch().Remove(&s.moving, s.speed...)
	}
}

// archeHold is a world that is only held, for its memory.
type archeHold struct {
	archeWorld
	n int
}

func (s *archeHold) entities() int { return s.n }

func (s *archeHold) check(int) error {
	q := s.w.Query(ecs.All())
	defer q.Close()
	return wantCount("entities", q.Count(), s.n)
}

func buildArcheMemory(batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &archeHold{openArche(), n}
		if batch {
			for q := s.w.Batch().NewQ(n, s.both...); q.Next(); {
				*(*Position)(q.Get(s.position)), *(*Velocity)(q.Get(s.velocity)) = Position{1, 1}, Velocity{1, 1}
			}
			return s, nil
		}
		for range n {
			e := s.w.NewEntity(s.both...)
			*s.place(e), *(*Velocity)(s.w.Get(e, s.velocity)) = Position{1, 1}, Velocity{1, 1}
		}
		return s, nil
	}
}

func buildArcheArchetypes(n int) (trial, error) {
	s := &archeHold{openArcheWith(smallCapacity), n * archetypeRows}
	for i := range n {
		mask := archetypeMask(i)
		ids := s.with(mask)
		if mask&velocityBit != 0 {
			ids = append(ids, s.velocity)
		}
		if mask&positionBit != 0 {
			ids = append(ids, s.position)
		}
		for range archetypeRows {
			s.w.NewEntity(ids...)
		}
	}
	return s, nil
}
