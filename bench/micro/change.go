package micro

import (
	"errors"

	"quarry/ecs"
)

var addRemove = table{
	name: "AddRemove", pkg: "ecs", what: "Velocity added to all one by one, then removed; ns for both",
	x: "entities", unit: "entity", sizes: powers,
	ways: []way{
		{name: "Component", build: changeWay(func(c *changes, times int) error {
			velocity, list := c.velocity, c.list
			for range times {
				for _, e := range list {
					velocity.Add(e, Velocity{})
				}
				for _, e := range list {
					velocity.Remove(e)
				}
			}
			return nil
		})},
		{name: "Change", build: changeWay(func(c *changes, times int) error {
			for range times {
				for _, e := range c.list {
					if _, err := c.add.Apply(e); err != nil {
						return err
					}
				}
				for _, e := range c.list {
					if _, err := c.remove.Apply(e); err != nil {
						return err
					}
				}
			}
			return nil
		})},
		{name: "slices", roof: true, build: func(n int) (*run, error) {
			return changeTwin(n, func(t *twin, list []twinEntity, times int) {
				for range times {
					for _, e := range list {
						t.add(e, Velocity{})
					}
					for _, e := range list {
						t.remove(e)
					}
				}
			})
		}},
	},
}

var addRemoveBatch = table{
	name: "AddRemoveAll", pkg: "ecs", what: "Velocity added to all at once, then removed; ns for both",
	x: "entities", unit: "entity", sizes: powers,
	ways: []way{
		{name: "ApplyQuery", build: changeWay(func(c *changes, times int) error {
			for range times {
				if err := c.all(c.add.ApplyQuery(c.still)); err != nil {
					return err
				}
				if err := c.all(c.remove.ApplyQuery(c.moving)); err != nil {
					return err
				}
			}
			return nil
		})},
		{name: "ApplyList", build: changeWay(func(c *changes, times int) error {
			for range times {
				if err := c.all(c.add.ApplyList(c.list)); err != nil {
					return err
				}
				if err := c.all(c.remove.ApplyList(c.list)); err != nil {
					return err
				}
			}
			return nil
		})},
		{name: "slices", roof: true, build: func(n int) (*run, error) {
			return changeTwin(n, func(t *twin, _ []twinEntity, times int) {
				for range times {
					t.addAll()
					t.removeAll()
				}
			})
		}},
	},
}

// changes is a world whose entities have no Velocity before a step.
type changes struct {
	*world
	add, remove   *ecs.Change
	still, moving *ecs.Query
}

// all checks that a batch has all entities.
func (c *changes) all(b ecs.Batch, err error) error {
	return errors.Join(err, want("entities changed", b.Len(), c.n))
}

func changeWay(pass func(c *changes, times int) error) func(int) (*run, error) {
	return func(n int) (*run, error) {
		s, err := newWorld(n)
		if err != nil {
			return nil, err
		}
		c := &changes{
			world: s, add: ecs.NewChange(s.w, ecs.Add(s.velocity)), remove: ecs.NewChange(s.w, ecs.Remove(s.velocity)),
			still:  ecs.NewQuery(s.w, ecs.With(s.position), ecs.Without(s.velocity)),
			moving: ecs.NewQuery(s.w, ecs.With(s.position), ecs.With(s.velocity)),
		}
		_, failed := c.remove.ApplyQuery(c.moving)
		return &run{
			pass: func(times int) { failed = errors.Join(failed, pass(c, times)) },
			check: func(int) error {
				return errors.Join(failed, want("entities that move", c.moving.Count(), 0), s.wantAll())
			},
			close: s.w.Close,
		}, nil
	}
}

func changeTwin(n int, pass func(t *twin, list []twinEntity, times int)) (*run, error) {
	t, list := &twin{}, make([]twinEntity, n)
	for i := range list {
		list[i] = t.create()
		t.get(list[i]).X = float64(i)
	}
	t.removeAll()
	return &run{
		pass: func(times int) { pass(t, list, times) },
		check: func(int) error {
			sum := 0.0
			for _, e := range list {
				sum += t.get(e).X
			}
			return errors.Join(want("entities", len(t.still.ids), n), want("sum of X", sum, sumTo(n)))
		},
	}, nil
}

var toggle = table{
	name: "Toggle", pkg: "ecs", what: "a component switched off and on for all; ns for one switch",
	x: "entities", unit: "switch", sizes: powers,
	ways: []way{
		{name: "Disable", build: toggleWay(func(c ecs.Component[Position], list []ecs.Entity, _ *ecs.Query,
			times int) (switched int) {
			for range times {
				for _, e := range list {
					c.Disable(e)
				}
				for _, e := range list {
					c.Enable(e)
				}
				switched += 2 * len(list)
			}
			return switched
		})},
		{name: "DisableList", build: toggleWay(func(c ecs.Component[Position], list []ecs.Entity, _ *ecs.Query,
			times int) (switched int) {
			for range times {
				switched += c.DisableList(list) + c.EnableList(list)
			}
			return switched
		})},
		{name: "DisableQuery",
			build: toggleWay(func(c ecs.Component[Position], _ []ecs.Entity, all *ecs.Query, times int) (switched int) {
				for range times {
					switched += c.DisableQuery(all) + c.EnableQuery(all)
				}
				return switched
			})},
		{name: "bools", roof: true, build: func(n int) (*run, error) {
			on, switched := make([]bool, n), 0
			return &run{ops: 2 * n,
				pass: func(times int) {
					for range times {
						for i := range on {
							on[i] = false
						}
						for i := range on {
							on[i] = true
						}
						switched += 2 * len(on)
					}
				},
				check: func(steps int) error {
					return errors.Join(want("switched", switched, 2*n*steps), want("last", on[n-1], true))
				},
			}, nil
		}},
	},
}

// toggleWay has entities with one component that can be disabled; pass returns how many times it
// toggled one.
func toggleWay(pass func(c ecs.Component[Position], list []ecs.Entity, all *ecs.Query,
	times int) int) func(int) (*run, error) {
	return func(n int) (*run, error) {
		w, err := ecs.NewWorld()
		if err != nil {
			return nil, err
		}
		c := ecs.Register[Position](w, ecs.Enableable)
		batch, err := ecs.NewArchetype(w, c).CreateN(n)
		if err != nil {
			return nil, err
		}
		list := batch.Entities(nil)
		enabled, all := ecs.NewQuery(w, ecs.With(c)), ecs.NewQuery(w, ecs.Present(c))
		switched := 0
		return &run{ops: 2 * n,
			pass: func(times int) { switched += pass(c, list, all, times) },
			check: func(steps int) error {
				return errors.Join(want("switched", switched, 2*n*steps), want("enabled", enabled.Count(), n))
			},
			close: w.Close,
		}, nil
	}
}
