package main

import (
	"time"

	"github.com/unitoftime/ecs"
)

// uotLife is a world of unitoftime/ecs in which entities are created and destroyed.
type uotLife struct {
	uotWorld
	types []ecs.Component
	list  []ecs.Id
	n     int
}

// newUotLife warms the world up, as newQuarryLife does.
func newUotLife(n, components int) *uotLife {
	s := &uotLife{uotWorld: openUot(), list: make([]ecs.Id, 0, n), n: n}
	s.types = []ecs.Component{ecs.C(Position{1, 1}), ecs.C(Velocity{1, 1})}
	if components != 2 {
		s.types = uotWith(1<<components - 1)
	}
	s.fill()
	s.clear()
	if components == 2 {
		s.types = uotBoth
	}
	return s
}

// fill makes n entities one by one.
func (s *uotLife) fill() {
	list, w, types := s.list, s.w, s.types
	for range s.n {
		id := w.NewId()
		w.Write(id, types...)
		list = append(list, id)
	}
	s.list = list
}

// clear destroys the listed entities.
func (s *uotLife) clear() {
	for _, e := range s.list {
		ecs.Delete(s.w, e)
	}
	s.list = s.list[:0]
}

func (s *uotLife) count() int {
	if len(s.types) == 2 {
		return s.moving.Count()
	}
	return ecs.Query2[C1, C10](s.w).Count()
}

// uotCreate makes entities one by one.
type uotCreate struct{ *uotLife }

func buildUotCreate(components int) func(int) (trial, error) {
	return func(n int) (trial, error) { return uotCreate{newUotLife(n, components)}, nil }
}

func (s uotCreate) once() { s.fill() }

func (s uotCreate) restore() error {
	s.clear()
	return wantCount("entities", s.count(), 0)
}

func (s uotCreate) check(int) error {
	for _, e := range s.list {
		if !s.w.Exists(e) {
			return wrong("%v is not alive", e)
		}
	}
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	if len(s.types) == 2 {
		return s.tally(true).want(tally{count: s.n})
	}
	return wantCount("entities", s.count(), s.n)
}

// uotAlloc makes entities in a fresh world each time.
type uotAlloc struct {
	uotWorld
	n int
}

func buildUotAlloc(n int) (trial, error) { return &uotAlloc{openUot(), n}, nil }

func (s *uotAlloc) once() {
	w := s.w
	for range s.n {
		w.Write(w.NewId(), uotBoth...)
	}
}

func (s *uotAlloc) restore() error {
	s.uotWorld = openUot()
	return nil
}

func (s *uotAlloc) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// uotDelete destroys entities one by one.
type uotDelete struct{ *uotLife }

func buildUotDelete(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := uotDelete{newUotLife(n, components)}
		return s, s.restore()
	}
}

func (s uotDelete) once() {
	w := s.w
	for _, e := range s.list {
		ecs.Delete(w, e)
	}
}

func (s uotDelete) restore() error {
	s.list = s.list[:0]
	s.fill()
	return nil
}

func (s uotDelete) check(int) error {
	for _, e := range s.list {
		if s.w.Exists(e) {
			return wrong("%v is alive", e)
		}
	}
	return wantCount("entities", s.count(), 0)
}

// uotAddRemove gives every entity a Velocity and takes it away again.
type uotAddRemove struct {
	uotWorld
	list []ecs.Id
}

func buildUotAddRemove(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &uotAddRemove{openUot(), make([]ecs.Id, n)}
		for i := range s.list {
			s.list[i] = s.create(uotWith(1<<more-1, ecs.C(placeOf(i)))...)
		}
		if order == shuffled {
			shuffle(s.list)
		}
		s.pass(1)
		return s, nil
	}
}

func (s *uotAddRemove) pass(times int) {
	w, speed := s.w, uotBoth[1:]
	for range times {
		for _, e := range s.list {
			w.Write(e, speed...)
		}
		for _, e := range s.list {
			ecs.DeleteComponent(w, e, speed...)
		}
	}
}

func (s *uotAddRemove) check(int) error {
	if err := wantCount("entities with Velocity", s.tally(true).count, 0); err != nil {
		return err
	}
	return s.tally(false).want(placed(len(s.list)))
}

// uotWorst times every single create in a fresh world.
type uotWorst struct {
	uotWorld
	n int
}

func buildUotWorst(n int) (trial, error) { return &uotWorst{openUot(), n}, nil }

func (s *uotWorst) steps(into []uint32) {
	w := s.w
	for i := range into {
		start := time.Now()
		w.Write(w.NewId(), uotBoth...)
		into[i] = nanos(start)
	}
}

func (s *uotWorst) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// uotNewWorld makes a world.
type uotNewWorld struct {
	endless
	w *ecs.World
}

func buildUotNewWorld(int) (trial, error) { return &uotNewWorld{}, nil }

func (s *uotNewWorld) once() { s.w = ecs.NewWorld() }

func (s *uotNewWorld) restore() error { return nil }

func (s *uotNewWorld) check(int) error {
	s.w.Write(s.w.NewId(), uotBoth[:1]...)
	return wantCount("entities", ecs.Query1[Position](s.w).Count(), 1)
}

// uotHold is a world that is only held, for its memory. It can only report whether an entity
// exists; the ids are consecutive from first.
type uotHold struct {
	uotWorld
	first ecs.Id
	n     int
}

func newUotHold(n int) *uotHold {
	s := &uotHold{uotWorld: openUot(), n: n}
	s.first = s.w.NewId() + 1
	return s
}

func (s *uotHold) entities() int { return s.n }

func (s *uotHold) check(int) error {
	count := 0
	for s.w.Exists(s.first + ecs.Id(count)) {
		count++
	}
	return wantCount("entities", count, s.n)
}

func buildUotMemory(n int) (trial, error) {
	s := newUotHold(n)
	types := []ecs.Component{ecs.C(Position{1, 1}), ecs.C(Velocity{1, 1})}
	for range n {
		s.create(types...)
	}
	return s, nil
}

func buildUotArchetypes(n int) (trial, error) {
	s := newUotHold(n * archetypeRows)
	for i := range n {
		mask := archetypeMask(i)
		list := uotWith(mask)
		if mask&velocityBit != 0 {
			list = append(list, uotBoth[1])
		}
		if mask&positionBit != 0 {
			list = append(list, uotBoth[0])
		}
		for range archetypeRows {
			s.create(list...)
		}
	}
	return s, nil
}
