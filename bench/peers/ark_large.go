package main

import "github.com/mlange-42/ark/ecs"

// arkLarge is a world of ark in which entities of C1 to C10 are created and destroyed.
type arkLarge struct {
	endless
	w    *ecs.World
	m    *ecs.Map10[C1, C2, C3, C4, C5, C6, C7, C8, C9, C10]
	f    *ecs.Filter1[C1]
	list []ecs.Entity
	n    int
}

// newArkLarge warms the world up, as newQuarryLife does.
func newArkLarge(n int) *arkLarge {
	w := ecs.NewWorld(worldCapacity)
	s := &arkLarge{
		w: w, m: ecs.NewMap10[C1, C2, C3, C4, C5, C6, C7, C8, C9, C10](w),
		f: ecs.NewFilter1[C1](w), list: make([]ecs.Entity, 0, n), n: n,
	}
	s.m.NewBatchFn(n, nil)
	s.clear()
	return s
}

func (s *arkLarge) clear() {
	s.w.RemoveEntities(s.f.Batch(), nil)
	s.list = s.list[:0]
}

// fill makes n entities and a list of them.
func (s *arkLarge) fill() {
	s.list = s.list[:0]
	s.m.NewBatchFn(s.n, func(e ecs.Entity, _ *C1, _ *C2, _ *C3, _ *C4, _ *C5, _ *C6, _ *C7, _ *C8, _ *C9, _ *C10) {
		s.list = append(s.list, e)
	})
}

func (s *arkLarge) count() int {
	q := s.f.Query()
	defer q.Close()
	return q.Count()
}

// arkCreate10Batch makes all entities at once.
type arkCreate10Batch struct{ *arkLarge }

func buildArkCreate10Batch(n int) (trial, error) { return arkCreate10Batch{newArkLarge(n)}, nil }

func (s arkCreate10Batch) once() { s.m.NewBatchFn(s.n, nil) }

func (s arkCreate10Batch) restore() error {
	s.clear()
	return wantCount("entities", s.count(), 0)
}

func (s arkCreate10Batch) check(int) error { return wantCount("entities", s.count(), s.n) }

// arkCreate10 makes entities one by one.
type arkCreate10 struct{ arkCreate10Batch }

func buildArkCreate10(n int) (trial, error) {
	return arkCreate10{arkCreate10Batch{newArkLarge(n)}}, nil
}

func (s arkCreate10) once() {
	list, m := s.list, s.m
	for range s.n {
		list = append(list, m.NewEntityFn(nil))
	}
	s.list = list
}

func (s arkCreate10) check(passes int) error {
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	return s.arkCreate10Batch.check(passes)
}

// arkDelete10 destroys entities one by one.
type arkDelete10 struct{ *arkLarge }

func buildArkDelete10(n int) (trial, error) {
	s := arkDelete10{newArkLarge(n)}
	return s, s.restore()
}

func (s arkDelete10) once() {
	for _, e := range s.list {
		s.w.RemoveEntity(e)
	}
}

func (s arkDelete10) restore() error {
	s.fill()
	return wantCount("entities", s.count(), s.n)
}

func (s arkDelete10) check(int) error {
	for _, e := range s.list {
		if s.w.Alive(e) {
			return wrong("%v is alive", e)
		}
	}
	return wantCount("entities", s.count(), 0)
}

// arkDelete10Batch destroys all entities that match a filter.
type arkDelete10Batch struct{ arkDelete10 }

func buildArkDelete10Batch(n int) (trial, error) {
	s := arkDelete10Batch{arkDelete10{newArkLarge(n)}}
	return s, s.restore()
}

func (s arkDelete10Batch) once() { s.w.RemoveEntities(s.f.Batch(), nil) }

// arkNewWorld makes a world.
type arkNewWorld struct {
	endless
	w *ecs.World
}

func buildArkNewWorld(int) (trial, error) { return &arkNewWorld{}, nil }

func (s *arkNewWorld) once() { s.w = ecs.NewWorld(worldCapacity) }

func (s *arkNewWorld) restore() error { return nil }

func (s *arkNewWorld) check(int) error {
	ecs.NewMap1[Position](s.w).NewBatchFn(1, nil)
	q := ecs.NewFilter1[Position](s.w).Query()
	defer q.Close()
	return wantCount("entities", q.Count(), 1)
}

// arkTwoTypes makes worlds of two types; the collector ends them.
type arkTwoTypes struct {
	endless
	w *ecs.World
}

func (s *arkTwoTypes) pass(times int) {
	for range times {
		s.w = ecs.NewWorld(worldCapacity)
		ecs.ComponentID[Position](s.w)
		ecs.ComponentID[Velocity](s.w)
	}
}

func (s *arkTwoTypes) check(int) error {
	ecs.NewMap2[Position, Velocity](s.w).NewBatchFn(1, nil)
	q := ecs.NewFilter2[Position, Velocity](s.w).Query()
	defer q.Close()
	return wantCount("entities", q.Count(), 1)
}
