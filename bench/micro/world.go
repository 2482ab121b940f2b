package micro

import (
	"quarry/ecs"
)

var ecsTables = []table{query, kernel, get, create, createBatch, destroy, destroyBatch, addRemove,
	addRemoveBatch, toggle}

// world is a world of ours with n entities of Position and Velocity.
type world struct {
	w        *ecs.World
	position ecs.Component[Position]
	velocity ecs.Component[Velocity]
	movers   *ecs.Archetype
	list     []ecs.Entity
	n        int
}

// newWorld gives entity i the position {i, 0} and velocityOf(i).
func newWorld(n int) (*world, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, err
	}
	s := &world{w: w, position: ecs.Register[Position](w), velocity: ecs.Register[Velocity](w), n: n}
	s.movers = ecs.NewArchetype(w, s.position, s.velocity)
	return s, s.fill()
}

// fill makes the n entities.
func (s *world) fill() error {
	batch, err := s.movers.CreateN(s.n)
	if err != nil {
		return err
	}
	s.list = batch.Entities(s.list[:0])
	i := 0
	for rows := range batch.Rows() {
		p, v := s.position.Slice(rows), s.velocity.Slice(rows)
		for k := range p {
			p[k], v[k] = Position{X: float64(i)}, velocityOf(i)
			i++
		}
	}
	return nil
}

// sum returns the sum of all X and the number of positions.
func (s *world) sum() (sum float64, count int) {
	q := ecs.NewQuery(s.w, ecs.Read(s.position))
	defer q.Close()
	for rows := range q.Rows() {
		for _, p := range s.position.Slice(rows) {
			sum += p.X
		}
		count += rows.Len()
	}
	return sum, count
}

// wantAll checks that all entities are where fill put them.
func (s *world) wantAll() error {
	sum, count := s.sum()
	if err := want("entities", count, s.n); err != nil {
		return err
	}
	return want("sum of X", sum, sumTo(s.n))
}

// wantNone checks that the world is empty.
func (s *world) wantNone() error { return want("entities", s.w.Stats().Alive, 0) }
