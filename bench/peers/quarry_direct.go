package main

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

// quarryByCursor is quarryQuery by a cursor.
type quarryByCursor struct{ *quarryQuery }

func buildQuarryCursor(n int) (trial, error) {
	s, err := newQuarryQuery(n, quarryPlain)
	return quarryByCursor{s}, err
}

//go:noinline
func (s quarryByCursor) pass(times int) {
	q, position, velocity := s.q, s.position, s.velocity
	for range times {
		for c := q.Cursor(); c.Next(); {
			p, v := position.Slice(c.Rows()), velocity.Slice(c.Rows())
			v = v[:len(p)]
			for i := range p {
				p[i].X += v[i].X
				p[i].Y += v[i].Y
			}
		}
	}
}
