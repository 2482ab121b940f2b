package main

import (
	"time"

	ecs "github.com/akmonengine/volt"
)

// voltLife is a world of volt in which entities are created and destroyed.
type voltLife struct {
	voltWorld
	list       []ecs.EntityId
	n          int
	components int // two, or C1 to C10
	err        error
}

// newVoltLife warms the world up, as newQuarryLife does.
func newVoltLife(n, components int) (*voltLife, error) {
	s := &voltLife{voltWorld: openVolt(), list: make([]ecs.EntityId, 0, n), n: n, components: components}
	if err := s.fill(Position{1, 1}); err != nil {
		return nil, err
	}
	s.clear()
	return s, wantCount("entities", s.count(), 0)
}

// fill makes n entities one by one; entities of two components stand at p.
func (s *voltLife) fill(p Position) error {
	w, list := s.w, s.list
	for range s.n {
		var e ecs.EntityId
		var err error
		if s.components == 2 {
			e, err = ecs.CreateEntityWithComponents2(w, p, Velocity(p))
		} else {
			e, err = createVoltLarge(w)
		}
		if err != nil {
			return err
		}
		list = append(list, e)
	}
	s.list = list
	return nil
}

// createVoltLarge makes an entity of C1 to C10. No call takes more than eight components; creating
// two first and adding eight copies two to the next archetype instead of eight.
func createVoltLarge(w *ecs.World) (ecs.EntityId, error) {
	e, err := ecs.CreateEntityWithComponents2(w, C1{}, C2{})
	if err != nil {
		return e, err
	}
	return e, ecs.AddComponents8(w, e, C3{}, C4{}, C5{}, C6{}, C7{}, C8{}, C9{}, C10{})
}

// clear destroys the listed entities.
func (s *voltLife) clear() {
	for _, e := range s.list {
		s.w.RemoveEntity(e)
	}
	s.list = s.list[:0]
}

func (s *voltLife) count() int {
	if s.components == 2 {
		return s.moving.Count()
	}
	q := ecs.CreateQuery2[C1, C10](s.w, ecs.QueryConfiguration{})
	return q.Count()
}

// voltCreate makes entities one by one.
type voltCreate struct{ *voltLife }

func buildVoltCreate(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newVoltLife(n, components)
		return voltCreate{s}, err
	}
}

func (s voltCreate) once() { s.err = s.fill(Position{}) }

func (s voltCreate) restore() error {
	s.clear()
	return wantCount("entities", s.count(), 0)
}

func (s voltCreate) check(int) error {
	if s.err != nil {
		return s.err
	}
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	if s.components == 2 {
		return s.tally(true).want(tally{count: s.n})
	}
	return wantCount("entities", s.count(), s.n)
}

// voltAlloc makes entities in a fresh world each time.
type voltAlloc struct {
	voltWorld
	n   int
	err error
}

func buildVoltAlloc(n int) (trial, error) { return &voltAlloc{voltWorld: openVolt(), n: n}, nil }

func (s *voltAlloc) once() {
	for range s.n {
		if _, err := ecs.CreateEntityWithComponents2(s.w, Position{}, Velocity{}); err != nil {
			s.err = err
			return
		}
	}
}

func (s *voltAlloc) restore() error {
	s.voltWorld = openVolt()
	return nil
}

func (s *voltAlloc) check(int) error {
	if s.err != nil {
		return s.err
	}
	return s.tally(true).want(tally{count: s.n})
}

// voltDelete destroys entities one by one.
type voltDelete struct{ *voltLife }

func buildVoltDelete(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newVoltLife(n, components)
		if err != nil {
			return nil, err
		}
		return voltDelete{s}, s.fill(Position{})
	}
}

func (s voltDelete) once() {
	w := s.w
	for _, e := range s.list {
		w.RemoveEntity(e)
	}
}

func (s voltDelete) restore() error {
	s.list = s.list[:0]
	return s.fill(Position{})
}

// check counts only: volt cannot report whether an entity is alive.
func (s voltDelete) check(int) error { return wantCount("entities", s.count(), 0) }

// voltAddRemove gives every entity a Velocity and takes it away again.
type voltAddRemove struct {
	voltWorld
	list []ecs.EntityId
	err  error
}

func buildVoltAddRemove(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &voltAddRemove{voltWorld: openVolt(), list: make([]ecs.EntityId, n)}
		for i := range s.list {
			e, err := s.create(1<<more-1, voltPosition)
			if err != nil {
				return nil, err
			}
			s.list[i] = e
			*ecs.GetComponent[Position](s.w, e) = placeOf(i)
		}
		if order == shuffled {
			shuffle(s.list)
		}
		s.pass(1)
		return s, s.err
	}
}

func (s *voltAddRemove) pass(times int) {
	w := s.w
	for range times {
		for _, e := range s.list {
			if err := ecs.AddComponent(w, e, Velocity{}); err != nil {
				s.err = err
			}
		}
		for _, e := range s.list {
			if err := ecs.RemoveComponent[Velocity](w, e); err != nil {
				s.err = err
			}
		}
	}
}

func (s *voltAddRemove) check(int) error {
	if s.err != nil {
		return s.err
	}
	if err := wantCount("entities with Velocity", s.tally(true).count, 0); err != nil {
		return err
	}
	return s.tally(false).want(placed(len(s.list)))
}

// voltWorst times every single create in a fresh world.
type voltWorst struct {
	voltWorld
	n   int
	err error
}

func buildVoltWorst(n int) (trial, error) { return &voltWorst{voltWorld: openVolt(), n: n}, nil }

func (s *voltWorst) steps(into []uint32) {
	for i := range into {
		start := time.Now()
		if _, err := ecs.CreateEntityWithComponents2(s.w, Position{}, Velocity{}); err != nil {
			s.err = err
		}
		into[i] = nanos(start)
	}
}

func (s *voltWorst) check(int) error {
	if s.err != nil {
		return s.err
	}
	return s.tally(true).want(tally{count: s.n})
}

// voltNewWorld makes a world.
type voltNewWorld struct {
	endless
	w *ecs.World
}

func buildVoltNewWorld(int) (trial, error) { return &voltNewWorld{}, nil }

func (s *voltNewWorld) once() { s.w = ecs.CreateWorld(worldCapacity) }

func (s *voltNewWorld) restore() error { return nil }

func (s *voltNewWorld) check(int) error {
	registerVolt[Position](s.w)
	if err := ecs.AddComponent(s.w, s.w.CreateEntity(), Position{}); err != nil {
		return err
	}
	q := ecs.CreateQuery1[Position](s.w, ecs.QueryConfiguration{})
	return wantCount("entities", q.Count(), 1)
}

// voltHold is a world that is only held, for its memory.
type voltHold struct {
	voltWorld
	n int
}

func (s *voltHold) entities() int { return s.n }

func (s *voltHold) check(int) error { return wantCount("entities", s.w.Count(), s.n) }

// buildVoltMemory requests no initial room: volt would count the room as entities, and its storage
// grows by doubling anyway.
func buildVoltMemory(n int) (trial, error) {
	s := &voltHold{openVoltWith(0), n}
	for range n {
		if _, err := ecs.CreateEntityWithComponents2(s.w, Position{1, 1}, Velocity{1, 1}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func buildVoltArchetypes(n int) (trial, error) {
	s := &voltHold{openVoltWith(0), n * archetypeRows}
	for i := range n {
		mask := archetypeMask(i)
		var ids []ecs.ComponentId
		if mask&velocityBit != 0 {
			ids = append(ids, voltVelocity)
		}
		if mask&positionBit != 0 {
			ids = append(ids, voltPosition)
		}
		for range archetypeRows {
			if _, err := s.create(mask, ids...); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}
