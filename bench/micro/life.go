package micro

import (
	"errors"

	"quarry/ecs"
)

var create = table{
	name: "Create", pkg: "ecs", what: "entities of Position and Velocity made one by one where as many were before",
	x: "entities", unit: "entity", sizes: batches,
	ways: []way{
		{name: "Create", build: createWay(func(s *world) error {
			list, movers := s.list, s.movers
			for i := range list {
				list[i] = movers.Create()
			}
			return nil
		})},
		{name: "slices", roof: true, build: createTwin},
	},
}

var createBatch = table{
	name: "CreateN", pkg: "ecs", what: "n entities made at once where as many were before, zeroed",
	x: "entities", unit: "entity", sizes: batches,
	ways: []way{
		{name: "CreateN", build: createWay(func(s *world) error {
			_, err := s.movers.CreateN(s.n)
			return err
		})},
		{name: "Uninitialized", build: createWay(func(s *world) error {
			_, err := s.movers.CreateN(s.n, ecs.Uninitialized(s.velocity)) // the check looks at positions
			return err
		})},
		{name: "slices", roof: true, build: func(n int) (*run, error) {
			p, v, ids := make([]Position, n), make([]Velocity, n), make([]twinEntity, n)
			made := uint32(0)
			return &run{
				pass: func(times int) {
					for range times {
						clear(p)
						clear(v)
						made++
						for i := range ids {
							ids[i] = twinEntity{uint32(i), made}
						}
					}
				},
				check: func(steps int) error {
					return errors.Join(want("last id", ids[n-1], twinEntity{uint32(n - 1), uint32(steps)}),
						want("last place", p[n-1], Position{}))
				},
			}, nil
		}},
	},
}

// createWay fills an emptied world; the new entities must stand at zero.
func createWay(make func(*world) error) func(int) (*run, error) {
	return func(n int) (*run, error) {
		s, err := newWorld(n)
		if err != nil {
			return nil, err
		}
		all := ecs.NewQuery(s.w, ecs.With(s.position))
		s.w.DestroyQuery(all)
		var failed error
		return &run{
			pass: func(int) { failed = make(s) },
			undo: func() error {
				s.w.DestroyQuery(all)
				return errors.Join(failed, s.wantNone())
			},
			check: func(int) error {
				sum, count := s.sum()
				return errors.Join(failed, want("entities", count, n), want("sum of X", sum, 0))
			},
			close: s.w.Close,
		}, nil
	}
}

func createTwin(n int) (*run, error) {
	t, list := &twin{}, make([]twinEntity, n)
	for i := range list {
		list[i] = t.create()
	}
	empty := func() error {
		for _, e := range list {
			if !t.destroy(e) {
				return want("destroyed", false, true)
			}
		}
		return nil
	}
	return &run{
		pass: func(int) {
			for i := range list {
				list[i] = t.create()
			}
		},
		undo:  empty,
		check: func(int) error { return want("entities", len(t.moving.ids), n) },
	}, empty()
}

var destroy = table{
	name: "Destroy", pkg: "ecs", what: "entities of Position and Velocity ended one by one, in shuffled order",
	x: "entities", unit: "entity", sizes: batches,
	ways: []way{
		{name: "Destroy", build: destroyWay(func(s *world, _ *ecs.Query) {
			w := s.w
			for _, e := range s.list {
				w.Destroy(e)
			}
		})},
		{name: "slices", roof: true, build: destroyTwin},
	},
}

var destroyBatch = table{
	name: "DestroyAll", pkg: "ecs", what: "n entities ended at once, by query in their order, by list shuffled",
	x: "entities", unit: "entity", sizes: batches,
	ways: []way{
		{name: "DestroyQuery", build: destroyWay(func(s *world, all *ecs.Query) { s.w.DestroyQuery(all) })},
		{name: "DestroyList", build: destroyWay(func(s *world, _ *ecs.Query) { s.w.DestroyList(s.list) })},
		{name: "slices", roof: true, build: destroyAllTwin},
	},
}

func destroyWay(pass func(s *world, all *ecs.Query)) func(int) (*run, error) {
	return func(n int) (*run, error) {
		s, err := newWorld(n)
		if err != nil {
			return nil, err
		}
		shuffle(s.list)
		all := ecs.NewQuery(s.w, ecs.With(s.position))
		return &run{
			pass: func(int) { pass(s, all) },
			undo: func() error {
				if err := s.wantNone(); err != nil {
					return err
				}
				err := s.fill()
				shuffle(s.list)
				return err
			},
			check: func(int) error { return s.wantNone() },
			close: s.w.Close,
		}, nil
	}
}

// filled makes n entities in a twin and shuffles their ids.
func (t *twin) filled(n int) []twinEntity {
	list := make([]twinEntity, n)
	for i := range list {
		list[i] = t.create()
	}
	shuffle(list)
	return list
}

func destroyTwin(n int) (*run, error) {
	t := &twin{}
	list := t.filled(n)
	return &run{
		pass: func(int) {
			for _, e := range list {
				t.destroy(e)
			}
		},
		undo: func() error {
			list = t.filled(n)
			return nil
		},
		check: func(int) error { return want("entities", len(t.moving.ids), 0) },
	}, nil
}

// destroyAllTwin destroys entities in row order.
func destroyAllTwin(n int) (*run, error) {
	t := &twin{}
	t.filled(n)
	return &run{
		pass: func(int) { t.destroyAll() },
		undo: func() error {
			t.filled(n)
			return nil
		},
		check: func(int) error {
			return errors.Join(want("entities", len(t.moving.ids), 0), want("free ids", len(t.free), n))
		},
	}, nil
}
