package main

import (
	"slices"

	"github.com/mlange-42/ark/ecs"
)

const arkSide = "ark"

// arkWorld keeps units as entities; one that is stunned has one component more, and so lies in
// another table.
type arkWorld struct {
	w      *ecs.World
	units  *ecs.Map5[place, speed, health, items, number]
	health *ecs.Map[health]
	stuns  *ecs.Map1[stun]
	until  *ecs.Map[stun]
	movers *ecs.Filter2[place, speed]
	all    *ecs.Filter5[place, speed, health, items, number]
	late   *ecs.Filter1[stun]
	spare  []*columns
}

func newArk() (*arkWorld, error) {
	w := ecs.NewWorld()
	return &arkWorld{
		w: w, units: ecs.NewMap5[place, speed, health, items, number](w), health: ecs.NewMap[health](w),
		stuns: ecs.NewMap1[stun](w), until: ecs.NewMap[stun](w),
		movers: ecs.NewFilter2[place, speed](w).Without(ecs.C[stun]()).Register(),
		all:    ecs.NewFilter5[place, speed, health, items, number](w).Register(),
		late:   ecs.NewFilter1[stun](w).Register(),
	}, nil
}

func (s *arkWorld) spawn(units []unit, list []ecs.Entity) ([]ecs.Entity, error) {
	at := 0
	s.units.NewBatchFn(len(units), func(e ecs.Entity, p *place, v *speed, h *health, i *items, n *number) {
		u := &units[at]
		*p, *v, *h, *i, *n = u.Place, u.Speed, u.Health, u.Items, u.Number
		list = append(list, e)
		at++
	})
	return list, nil
}

func (s *arkWorld) remove(e ecs.Entity)                  { s.w.RemoveEntity(e) }
func (s *arkWorld) hit(e ecs.Entity, points int32) int32 { return s.health.Get(e).hit(points) }

func (s *arkWorld) stun(e ecs.Entity, until int64) {
	if s.until.Has(e) {
		s.until.Get(e).Until = until
		return
	}
	s.stuns.Add(e, &stun{until})
}

func (s *arkWorld) recover(e ecs.Entity, frame int64) {
	if s.w.Alive(e) && s.until.Has(e) && s.until.Get(e).Until == frame {
		s.stuns.Remove(e)
	}
}

func (s *arkWorld) move() {
	for q := s.movers.Query(); q.NextTable(); {
		p, v := q.GetColumns()
		v = v[:len(p)]
		for i := range p {
			p[i].move(v[i])
		}
	}
}

// columns is a state: a copy of all columns.
type columns struct {
	places  []place
	speeds  []speed
	healths []health
	items   []items
	numbers []number
	stuns   []stun
	of      *arkWorld
}

func (s *arkWorld) state() state {
	c := &columns{of: s}
	if last := len(s.spare) - 1; last >= 0 {
		c, s.spare = s.spare[last], s.spare[:last]
	}
	n := s.all.Query()
	count := n.Count()
	n.Close()
	c.places, c.speeds, c.healths = slices.Grow(c.places[:0], count), slices.Grow(c.speeds[:0], count),
		slices.Grow(c.healths[:0], count)
	c.items, c.numbers, c.stuns = slices.Grow(c.items[:0], count), slices.Grow(c.numbers[:0], count), c.stuns[:0]
	for q := s.all.Query(); q.NextTable(); {
		p, v, h, i, n := q.GetColumns()
		c.places, c.speeds, c.healths = append(c.places, p...), append(c.speeds, v...), append(c.healths, h...)
		c.items, c.numbers = append(c.items, i...), append(c.numbers, n...)
	}
	for q := s.late.Query(); q.NextTable(); {
		c.stuns = append(c.stuns, q.GetColumns()...)
	}
	return c
}

func (c *columns) read() (s sum) {
	for i := range c.places {
		s.add(c.places[i], c.healths[i], c.numbers[i])
	}
	return s
}

func (c *columns) end()          { c.of.spare = append(c.of.spare, c) }
func (s *arkWorld) close() error { return nil }
