package main

import (
	"time"

	"github.com/mlange-42/ark/ecs"
)

// arkLife is a world of ark in which entities are created and destroyed.
type arkLife struct {
	arkWorld
	list []ecs.Entity
	n    int
}

// newArkLife warms the world up, as newQuarryLife does.
func newArkLife(n int) *arkLife {
	s := &arkLife{arkWorld: openArk(), list: make([]ecs.Entity, 0, n), n: n}
	s.movers.NewBatch(n, &Position{1, 1}, &Velocity{1, 1})
	s.clear()
	return s
}

func (s *arkLife) clear() {
	s.w.RemoveEntities(s.moving.Batch(), nil)
	s.list = s.list[:0]
}

func (s *arkLife) restore() error {
	s.clear()
	return wantCount("entities", s.tally(true).count, 0)
}

// arkCreate makes entities one by one.
type arkCreate struct{ *arkLife }

func buildArkCreate(n int) (trial, error) { return arkCreate{newArkLife(n)}, nil }

func (s arkCreate) once() {
	list, movers := s.list, s.movers
	for range s.n {
		list = append(list, movers.NewEntityFn(nil))
	}
	s.list = list
}

func (s arkCreate) check(int) error {
	for _, e := range s.list {
		if !s.w.Alive(e) {
			return wrong("%v is not alive", e)
		}
	}
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	return s.tally(true).want(tally{count: s.n})
}

// arkCreateBatch makes all entities at once.
type arkCreateBatch struct{ *arkLife }

func buildArkCreateBatch(n int) (trial, error) { return arkCreateBatch{newArkLife(n)}, nil }

func (s arkCreateBatch) once() { s.movers.NewBatchFn(s.n, nil) }

func (s arkCreateBatch) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// arkAlloc makes entities in a fresh world each time.
type arkAlloc struct {
	arkWorld
	n     int
	batch bool
}

func buildArkAlloc(batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return &arkAlloc{openArk(), n, batch}, nil }
}

func (s *arkAlloc) once() {
	if s.batch {
		s.movers.NewBatchFn(s.n, nil)
		return
	}
	for range s.n {
		s.movers.NewEntityFn(nil)
	}
}

func (s *arkAlloc) restore() error {
	s.arkWorld = openArk()
	return nil
}

func (s *arkAlloc) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// arkDelete destroys entities one by one.
type arkDelete struct{ *arkLife }

func buildArkDelete(n int) (trial, error) {
	s := arkDelete{newArkLife(n)}
	return s, s.restore()
}

func (s arkDelete) once() {
	for _, e := range s.list {
		s.w.RemoveEntity(e)
	}
}

func (s arkDelete) restore() error {
	s.list = s.list[:0]
	s.movers.NewBatchFn(s.n, func(e ecs.Entity, _ *Position, _ *Velocity) { s.list = append(s.list, e) })
	return nil
}

func (s arkDelete) check(int) error {
	for _, e := range s.list {
		if s.w.Alive(e) {
			return wrong("%v is alive", e)
		}
	}
	return s.tally(true).want(tally{})
}

// arkDeleteBatch destroys all entities that match a filter.
type arkDeleteBatch struct{ arkDelete }

func buildArkDeleteBatch(n int) (trial, error) {
	s := arkDeleteBatch{arkDelete{newArkLife(n)}}
	return s, s.restore()
}

func (s arkDeleteBatch) once() { s.w.RemoveEntities(s.moving.Batch(), nil) }

// arkAddRemove gives every entity a Velocity and takes it away again.
type arkAddRemove struct {
	arkWorld
	list []ecs.Entity
	m    *ecs.Map1[Velocity]
	f    *ecs.Filter1[Position]
}

func newArkAddRemove(n, more int, order listOrder) *arkAddRemove {
	s := &arkAddRemove{arkWorld: openArk(), list: make([]ecs.Entity, n)}
	s.m, s.f = ecs.NewMap1[Velocity](s.w), ecs.NewFilter1[Position](s.w)
	u, ids := s.w.Unsafe(), s.with(1<<more-1, s.position)
	for i := range s.list {
		s.list[i] = u.NewEntity(ids...)
		*s.places.Get(s.list[i]) = placeOf(i)
	}
	if order == shuffled {
		shuffle(s.list)
	}
	s.pass(1)
	return s
}

func buildArkAddRemove(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) { return newArkAddRemove(n, more, order), nil }
}

func (s *arkAddRemove) pass(times int) {
	m := s.m
	for range times {
		for _, e := range s.list {
			m.AddFn(e, nil)
		}
		for _, e := range s.list {
			m.Remove(e)
		}
	}
}

func (s *arkAddRemove) check(int) error {
	if err := wantCount("entities with Velocity", s.tally(true).count, 0); err != nil {
		return err
	}
	return s.tally(false).want(placed(len(s.list)))
}

// arkAddRemoveBatch does the same by filters.
type arkAddRemoveBatch struct{ *arkAddRemove }

func buildArkAddRemoveBatch(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) { return arkAddRemoveBatch{newArkAddRemove(n, more, order)}, nil }
}

func (s arkAddRemoveBatch) pass(times int) {
	for range times {
		s.m.AddBatchFn(s.f.Batch(), nil)
		s.m.RemoveBatch(s.moving.Batch(), nil)
	}
}

// arkWorst times every single create in a fresh world.
type arkWorst struct {
	arkWorld
	n int
}

func buildArkWorst(n int) (trial, error) { return &arkWorst{openArk(), n}, nil }

func (s *arkWorst) steps(into []uint32) {
	for i := range into {
		start := time.Now()
		s.movers.NewEntityFn(nil)
		into[i] = nanos(start)
	}
}

func (s *arkWorst) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// arkHold is a world that is only held, for its memory.
type arkHold struct {
	arkWorld
	n int
}

func (s *arkHold) entities() int { return s.n }

func (s *arkHold) check(int) error {
	q := ecs.NewFilter0(s.w).Query()
	defer q.Close()
	return wantCount("entities", q.Count(), s.n)
}

func buildArkMemory(n int) (trial, error) {
	s := &arkHold{openArk(), n}
	for range n {
		s.movers.NewEntity(&Position{1, 1}, &Velocity{1, 1})
	}
	return s, nil
}

func buildArkMemoryBatch(n int) (trial, error) {
	s := &arkHold{openArk(), n}
	s.movers.NewBatch(n, &Position{1, 1}, &Velocity{1, 1})
	return s, nil
}

func buildArkArchetypes(capacity int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &arkHold{openArkWith(capacity), n * archetypeRows}
		u := s.w.Unsafe()
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
				u.NewEntity(ids...)
			}
		}
		return s, nil
	}
}
