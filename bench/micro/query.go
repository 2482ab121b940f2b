package micro

import (
	"math/rand/v2"
	"slices"

	"quarry/asm"
	"quarry/ecs"
	"quarry/layout"
)

var query = table{
	name: "Query", pkg: "ecs", what: "position += velocity of two float64, by a loop over rows",
	x: "entities", unit: "entity", sizes: powers,
	ways: []way{
		{name: "Slice", build: moveWay(func(s *world, q *ecs.Query, times int) {
			position, velocity := s.position, s.velocity
			for range times {
				for rows := range q.Rows() {
					step(position.Slice(rows), velocity.Slice(rows))
				}
			}
		})},
		{name: "Each", build: moveWay(func(s *world, q *ecs.Query, times int) {
			position, velocity := s.position, s.velocity
			for range times {
				for rows := range q.Rows() {
					p, v := position.Slice(rows), velocity.Slice(rows)
					for i := range rows.Each() {
						p[i].X += v[i].X
						p[i].Y += v[i].Y
					}
				}
			}
		})},
		{name: "slices", roof: true, build: func(n int) (*run, error) {
			return slicesMove(n, func(p []Position, v []Velocity, times int) {
				for range times {
					step(p, v)
				}
			}), nil
		}},
	},
}

var kernel = table{
	name: "Kernel", pkg: "ecs", what: "position += velocity of two float64, by asm.Add on flat columns",
	x: "entities", unit: "entity", sizes: powers,
	ways: []way{
		{name: "Rows", build: moveWay(func(s *world, q *ecs.Query, times int) {
			position, velocity := s.position, s.velocity
			for range times {
				for rows := range q.Rows() {
					asm.Add(layout.Flat[float64](position.Slice(rows)), layout.Flat[float64](velocity.Slice(rows)))
				}
			}
		})},
		{name: "slices", roof: true, build: func(n int) (*run, error) {
			return slicesMove(n, func(p []Position, v []Velocity, times int) {
				for range times {
					asm.Add(layout.Flat[float64](p), layout.Flat[float64](v))
				}
			}), nil
		}},
	},
}

// step is the loop over two columns, shared by all ways.
func step(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X
		p[i].Y += v[i].Y
	}
}

// movedTo is the position of entity i after that many steps.
func movedTo(i, steps int) Position {
	v := velocityOf(i)
	return Position{float64(i) + v.X*float64(steps), v.Y * float64(steps)}
}

// moveWay moves all entities of a world.
func moveWay(pass func(s *world, q *ecs.Query, times int)) func(int) (*run, error) {
	return func(n int) (*run, error) {
		s, err := newWorld(n)
		if err != nil {
			return nil, err
		}
		q := ecs.NewQuery(s.w, ecs.Write(s.position), ecs.Read(s.velocity))
		return &run{
			pass: func(times int) { pass(s, q, times) },
			check: func(steps int) error {
				for i, e := range s.list {
					if err := want("place", *s.position.Get(e), movedTo(i, steps)); err != nil {
						return err
					}
				}
				return nil
			},
			close: s.w.Close,
		}, nil
	}
}

// slicesMove moves two slices.
func slicesMove(n int, pass func(p []Position, v []Velocity, times int)) *run {
	p, v := make([]Position, n), make([]Velocity, n)
	for i := range p {
		p[i], v[i] = Position{X: float64(i)}, velocityOf(i)
	}
	return &run{
		pass: func(times int) { pass(p, v, times) },
		check: func(steps int) error {
			for i := range p {
				if err := want("place", p[i], movedTo(i, steps)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

var get = table{
	name: "Get", pkg: "ecs", what: "a value of each of n entities read by its id, in shuffled order",
	x: "entities", unit: "entity", sizes: powers,
	ways: []way{
		{name: "Get", build: getWay(func(s *world, times int) (last float64) {
			position := s.position
			for range times {
				last = 0
				for _, e := range s.list {
					last += position.Get(e).X
				}
			}
			return last
		})},
		{name: "GetList", build: getWay(getMany)},
		{name: "slices", roof: true, build: getTwin},
	},
}

// getMany looks up 256 entities at a time, so that their cache misses overlap.
func getMany(s *world, times int) (last float64) {
	const some = 256
	var room [some]*Position
	position := s.position
	for range times {
		last = 0
		for part := range slices.Chunk(s.list, some) {
			for _, p := range position.GetList(room[:0], part) {
				last += p.X
			}
		}
	}
	return last
}

// shuffle brings a list into an order that is the same in every run.
func shuffle[T any](list []T) {
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func getWay(pass func(s *world, times int) float64) func(int) (*run, error) {
	return func(n int) (*run, error) {
		s, err := newWorld(n)
		if err != nil {
			return nil, err
		}
		shuffle(s.list)
		r := fold(sumTo(n), func(times int) float64 { return pass(s, times) })
		r.close = s.w.Close
		return r, nil
	}
}

func getTwin(n int) (*run, error) {
	t, list := &twin{}, make([]twinEntity, n)
	for i := range list {
		list[i] = t.create()
		t.get(list[i]).X = float64(i)
	}
	shuffle(list)
	return fold(sumTo(n), func(times int) (last float64) {
		for range times {
			last = 0
			for _, e := range list {
				last += t.get(e).X
			}
		}
		return last
	}), nil
}
