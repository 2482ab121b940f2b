package main

import (
	"errors"

	"quarry/alloc"
	"quarry/ecs"
)

// quarryNewWorld makes a world; closing it is not timed.
type quarryNewWorld struct {
	w   *ecs.World
	err error
}

func buildQuarryNewWorld(int) (trial, error) { return &quarryNewWorld{}, nil }

func (s *quarryNewWorld) once() { s.w, s.err = ecs.NewWorld() }

func (s *quarryNewWorld) restore() error { return s.close() }

func (s *quarryNewWorld) check(int) error {
	if s.err != nil {
		return s.err
	}
	ecs.NewArchetype(s.w, ecs.Register[Position](s.w)).Create()
	return wantCount("entities", s.w.Stats().Alive, 1)
}

func (s *quarryNewWorld) committed() int64 { return int64(s.w.Universe().Stats().Committed) }

func (s *quarryNewWorld) close() error {
	if s.w == nil {
		return s.err
	}
	w := s.w
	s.w = nil
	return w.Close()
}

// quarryHold is a world that is only held, for its memory.
type quarryHold struct {
	quarryWorld
	n int
}

func (s *quarryHold) entities() int { return s.n }

func (s *quarryHold) check(int) error { return wantCount("entities", s.w.Stats().Alive, s.n) }

// buildQuarryMemory makes n movers one by one and writes the values of each.
func buildQuarryMemory(n int) (trial, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	a := w.movers()
	for range n {
		e := a.Create()
		w.position.Set(e, Position{1, 1})
		w.velocity.Set(e, Velocity{1, 1})
	}
	return &quarryHold{w, n}, nil
}

// buildQuarryMemoryN makes n movers at once.
func buildQuarryMemoryN(n int) (trial, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	batch, err := w.movers().CreateN(n, ecs.Uninitialized(w.position, w.velocity))
	if err != nil {
		return nil, err
	}
	for rows := range batch.Rows() {
		p, v := w.position.Slice(rows), w.velocity.Slice(rows)
		for i := range p {
			p[i], v[i] = Position{1, 1}, Velocity{1, 1}
		}
	}
	return &quarryHold{w, n}, nil
}

// buildQuarryArchetypes makes n archetypes of three entities each.
func buildQuarryArchetypes(n int) (trial, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	for i := range n {
		mask := archetypeMask(i)
		types := w.with(mask)
		if mask&velocityBit != 0 {
			types = append(types, w.velocity)
		}
		if mask&positionBit != 0 {
			types = append(types, w.position)
		}
		a := ecs.NewArchetype(w.w, types...)
		for range archetypeRows {
			a.Create()
		}
	}
	if err := wantCount("archetypes", w.w.Stats().Archetypes, n); err != nil {
		return nil, err
	}
	return &quarryHold{w, n * archetypeRows}, nil
}

// quarryTwoTypes makes worlds of two types on one universe and closes them.
type quarryTwoTypes struct {
	u *alloc.Universe
}

func buildQuarryTwoTypes(int) (trial, error) {
	u, err := alloc.NewUniverse()
	return &quarryTwoTypes{u}, err
}

func (s *quarryTwoTypes) open() (*ecs.World, ecs.Component[Position], ecs.Component[Velocity]) {
	w, err := ecs.NewWorld(ecs.WithUniverse(s.u))
	if err != nil {
		panic(err)
	}
	return w, ecs.Register[Position](w), ecs.Register[Velocity](w)
}

func (s *quarryTwoTypes) pass(times int) {
	for range times {
		w, _, _ := s.open()
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
}

func (s *quarryTwoTypes) check(int) error {
	w, position, velocity := s.open()
	ecs.NewArchetype(w, position, velocity).Create()
	return errors.Join(wantCount("entities", w.Stats().Alive, 1), w.Close())
}

func (s *quarryTwoTypes) close() error { return s.u.Close() }

func (s *quarryTwoTypes) committed() int64 { return int64(s.u.Stats().Committed) }
