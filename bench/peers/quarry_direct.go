package main

import (
	"quarry/asm"
	"quarry/ecs"
	"quarry/layout"
)

// quarryDirectly looks entities up by a Direct that each pass takes anew.
type quarryDirectly struct{ *quarryRandom }

func buildQuarryDirect(n int) (trial, error) {
	s, err := newQuarryRandom(n)
	return quarryDirectly{s}, err
}

//go:noinline
func (s quarryDirectly) pass(times int) {
	sum := 0.0
	for range times {
		positions := s.position.Direct()
		for _, e := range s.list {
			sum += positions.Get(e).X
		}
	}
	s.sum += sum
}

// quarryWriteDirectly changes Positions by a Direct.
type quarryWriteDirectly struct{ quarryWrite }

func buildQuarryDirectMut(n int) (trial, error) {
	s, err := newQuarryRandom(n)
	return quarryWriteDirectly{quarryWrite{s}}, err
}

//go:noinline
func (s quarryWriteDirectly) pass(times int) {
	for range times {
		positions := s.position.DirectMut()
		for _, e := range s.list {
			if p := positions.Get(e); p != nil {
				p.X++
			}
		}
	}
}

// quarryPairDirectly finds each entity once for both components.
type quarryPairDirectly struct{ *quarryPair }

func buildQuarryPairDirect(n int) (trial, error) {
	s, err := newQuarryPair(n)
	return quarryPairDirectly{s}, err
}

//go:noinline
func (s quarryPairDirectly) pass(times int) {
	sum := 0.0
	for range times {
		positions, velocities := s.position.Direct(), s.velocity.Direct()
		for _, e := range s.list {
			at := positions.Locate(e)
			sum += positions.At(at).X + velocities.At(at).Y
		}
	}
	s.sum += sum
}

// quarryByCursor is quarryQuery by the cursor of a view.
type quarryByCursor struct {
	*quarryQuery
	movers *ecs.View[quarryMover]
}

type quarryMover struct {
	P ecs.W[Position]
	V ecs.R[Velocity]
}

func buildQuarryCursor(fill func(*quarryWorld, int) error) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryQuery(n, fill)
		if err != nil {
			return nil, err
		}
		return quarryByCursor{s, ecs.NewView[quarryMover](s.w)}, nil
	}
}

//go:noinline
func (s quarryByCursor) pass(times int) {
	movers := s.movers
	for range times {
		for c := movers.Cursor(); c.Next(); {
			p, v := c.At().P, c.At().V
			v = v[:len(p)]
			for i := range p {
				p[i].X += v[i].X
				p[i].Y += v[i].Y
			}
		}
	}
}

// quarryFlatByCursor is quarryByCursor with the vector kernel on flat columns.
type quarryFlatByCursor struct{ quarryByCursor }

func buildQuarryFlatCursor(n int) (trial, error) {
	s, err := buildQuarryCursor(quarrySpread(8, 0))(n)
	if err != nil {
		return nil, err
	}
	return quarryFlatByCursor{s.(quarryByCursor)}, nil
}

//go:noinline
func (s quarryFlatByCursor) pass(times int) {
	movers := s.movers
	for range times {
		for c := movers.Cursor(); c.Next(); {
			m := c.At()
			asm.Add(layout.Flat[float64](m.P), layout.Flat[float64](m.V))
		}
	}
}
