package main

import (
	"time"

	ecs "github.com/yohamta/donburi"
	"github.com/yohamta/donburi/filter"
)

// donburiLife is a world of donburi in which entities are created and destroyed.
type donburiLife struct {
	donburiWorld
	types []ecs.IComponentType
	all   *ecs.Query
	list  []ecs.Entity
	n     int
}

// newDonburiLife warms the world up, as newQuarryLife does.
func newDonburiLife(n, components int) *donburiLife {
	s := &donburiLife{donburiWorld: openDonburi(), types: donburiBoth, n: n}
	if components != 2 {
		s.types = donburiWith(1<<components - 1)
	}
	s.all = ecs.NewQuery(filter.Contains(s.types...))
	s.list = s.w.CreateMany(n, s.types...)
	if components == 2 {
		for _, e := range s.list {
			donburiPosition.SetValue(s.w.Entry(e), Position{1, 1})
		}
	}
	s.clear()
	return s
}

// clear destroys the listed entities.
func (s *donburiLife) clear() {
	for _, e := range s.list {
		s.w.Remove(e)
	}
	s.list = s.list[:0]
}

func (s *donburiLife) restore() error {
	s.clear()
	return wantCount("entities", s.w.Len(), 0)
}

// check wants n entities, at zero if they have a position, and a list of them.
func (s *donburiLife) check(int) error {
	for _, e := range s.list {
		if !s.w.Valid(e) {
			return wrong("%v is not alive", e)
		}
	}
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	if len(s.types) == 2 {
		return s.tally(true).want(tally{count: s.n})
	}
	return wantCount("entities", s.all.Count(s.w), s.n)
}

// donburiCreate makes entities one by one.
type donburiCreate struct{ *donburiLife }

func buildDonburiCreate(components int) func(int) (trial, error) {
	return func(n int) (trial, error) { return donburiCreate{newDonburiLife(n, components)}, nil }
}

func (s donburiCreate) once() {
	list, w, types := s.list, s.w, s.types
	for range s.n {
		list = append(list, w.Create(types...))
	}
	s.list = list
}

// donburiCreateMany makes all entities at once.
type donburiCreateMany struct{ *donburiLife }

func buildDonburiCreateMany(components int) func(int) (trial, error) {
	return func(n int) (trial, error) { return donburiCreateMany{newDonburiLife(n, components)}, nil }
}

func (s donburiCreateMany) once() { s.list = s.w.CreateMany(s.n, s.types...) }

// donburiAlloc makes entities in a fresh world each time.
type donburiAlloc struct {
	donburiWorld
	n     int
	batch bool
}

func buildDonburiAlloc(batch bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return &donburiAlloc{openDonburi(), n, batch}, nil }
}

func (s *donburiAlloc) once() {
	if s.batch {
		s.w.CreateMany(s.n, donburiBoth...)
		return
	}
	for range s.n {
		s.w.Create(donburiBoth...)
	}
}

func (s *donburiAlloc) restore() error {
	s.donburiWorld = openDonburi()
	return nil
}

func (s *donburiAlloc) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// donburiDelete destroys entities one by one.
type donburiDelete struct{ *donburiLife }

func buildDonburiDelete(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := donburiDelete{newDonburiLife(n, components)}
		return s, s.restore()
	}
}

func (s donburiDelete) once() {
	w := s.w
	for _, e := range s.list {
		w.Remove(e)
	}
}

func (s donburiDelete) restore() error {
	s.list = s.w.CreateMany(s.n, s.types...)
	return nil
}

func (s donburiDelete) check(int) error {
	for _, e := range s.list {
		if s.w.Valid(e) {
			return wrong("%v is alive", e)
		}
	}
	return wantCount("entities", s.all.Count(s.w), 0)
}

// donburiAddRemove gives every entity a Velocity and takes it away again.
type donburiAddRemove struct {
	donburiWorld
	list []ecs.Entity
}

func buildDonburiAddRemove(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &donburiAddRemove{donburiWorld: openDonburi()}
		s.list = s.w.CreateMany(n, donburiWith(1<<more-1, donburiPosition)...)
		for i, e := range s.list {
			donburiPosition.SetValue(s.w.Entry(e), placeOf(i))
		}
		if order == shuffled {
			shuffle(s.list)
		}
		s.pass(1)
		return s, nil
	}
}

// pass gives no value to the components that it adds: donburi makes a zero value in any case, and a
// given value would be a second object.
func (s *donburiAddRemove) pass(times int) {
	w := s.w
	for range times {
		for _, e := range s.list {
			w.Entry(e).AddComponent(donburiVelocity)
		}
		for _, e := range s.list {
			w.Entry(e).RemoveComponent(donburiVelocity)
		}
	}
}

func (s *donburiAddRemove) check(int) error {
	if err := wantCount("entities with Velocity", s.tally(true).count, 0); err != nil {
		return err
	}
	return s.tally(false).want(placed(len(s.list)))
}

// donburiWorst times every single create in a fresh world.
type donburiWorst struct {
	donburiWorld
	n int
}

func buildDonburiWorst(n int) (trial, error) { return &donburiWorst{openDonburi(), n}, nil }

func (s *donburiWorst) steps(into []uint32) {
	for i := range into {
		start := time.Now()
		s.w.Create(donburiBoth...)
		into[i] = nanos(start)
	}
}

func (s *donburiWorst) check(int) error { return s.tally(true).want(tally{count: s.n}) }

// donburiNewWorld makes a world.
type donburiNewWorld struct {
	endless
	w ecs.World
}

func buildDonburiNewWorld(int) (trial, error) { return &donburiNewWorld{}, nil }

func (s *donburiNewWorld) once() { s.w = ecs.NewWorld() }

func (s *donburiNewWorld) restore() error { return nil }

func (s *donburiNewWorld) check(int) error {
	s.w.Create(donburiPosition)
	return wantCount("entities", s.w.Len(), 1)
}

// donburiHold is a world that is only held, for its memory.
type donburiHold struct {
	donburiWorld
	n int
}

func (s *donburiHold) entities() int { return s.n }

func (s *donburiHold) check(int) error { return wantCount("entities", s.w.Len(), s.n) }

func buildDonburiMemory(n int) (trial, error) {
	s := &donburiHold{openDonburi(), n}
	for range n {
		e := s.w.Entry(s.w.Create(donburiBoth...))
		donburiPosition.SetValue(e, Position{1, 1})
		donburiVelocity.SetValue(e, Velocity{1, 1})
	}
	return s, nil
}
