package main

// mover is an entity as a plain struct.
type mover struct {
	Position
	Velocity
}

// structs has entities in plain Go: all in a slice, or each an object.
type structs struct {
	endless
	list  []mover
	boxes []*mover
}

func (s *structs) entities() int { return len(s.list) + len(s.boxes) }

func (s *structs) check(int) error {
	var t tally
	for i := range s.list {
		t.add(&s.list[i].Position)
	}
	for _, m := range s.boxes {
		t.add(&m.Position)
	}
	n := s.entities()
	return t.want(tally{count: n, x: float64(n), y: float64(n)})
}

func buildSlicesHold(n int) (trial, error) {
	s := &structs{list: make([]mover, n)}
	for i := range s.list {
		s.list[i] = mover{Position{1, 1}, Velocity{1, 1}}
	}
	return s, nil
}

func buildBoxesHold(n int) (trial, error) {
	s := &structs{boxes: make([]*mover, n)}
	for i := range s.boxes {
		s.boxes[i] = &mover{Position{1, 1}, Velocity{1, 1}}
	}
	return s, nil
}
