package main

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

const quarrySide = "quarry"

// world keeps units as entities of one archetype; a unit that is stunned has its speed disabled.
type world struct {
	w      *ecs.World
	place  ecs.Component[place]
	speed  ecs.Component[speed]
	health ecs.Component[health]
	items  ecs.Component[items]
	number ecs.Component[number]
	stuns  ecs.Component[stun]
	units  *ecs.Archetype
	movers *ecs.Query
	all    *ecs.Query
}

func newQuarry() (*world, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s := &world{
		w: w, place: ecs.Register[place](w), speed: ecs.Register[speed](w, ecs.Enableable),
		health: ecs.Register[health](w), items: ecs.Register[items](w), number: ecs.Register[number](w),
		stuns: ecs.Register[stun](w),
	}
	s.units = ecs.NewArchetype(w, s.place, s.speed, s.health, s.items, s.number, s.stuns)
	s.movers = ecs.NewQuery(w, ecs.Write(s.place), ecs.Read(s.speed))
	s.all = ecs.NewQuery(w, ecs.Read(s.place), ecs.Read(s.health), ecs.Read(s.number))
	return s, nil
}

func (s *world) spawn(units []unit, list []ecs.Entity) ([]ecs.Entity, error) {
	batch, err := s.units.CreateN(len(units))
	if err != nil {
		return list, fmt.Errorf("server: %w", err)
	}
	for rows := range batch.Rows() {
		p, v, h := s.place.Slice(rows), s.speed.Slice(rows), s.health.Slice(rows)
		i, n, t := s.items.Slice(rows), s.number.Slice(rows), s.stuns.Slice(rows)
		for at, u := range units[:len(p)] {
			p[at], v[at], h[at], i[at], n[at], t[at] = u.Place, u.Speed, u.Health, u.Items, u.Number, u.Stun
		}
		units = units[len(p):]
	}
	return batch.Entities(list), nil
}

func (s *world) remove(e ecs.Entity)                         { s.w.Destroy(e) }
func (s *world) hit(e ecs.Entity, points int32) (left int32) { return s.health.Mut(e).hit(points) }

func (s *world) stun(e ecs.Entity, until int64) {
	s.stuns.Set(e, stun{until})
	s.speed.Disable(e)
}

func (s *world) recover(e ecs.Entity, frame int64) {
	if t := s.stuns.Get(e); t != nil && t.Until == frame {
		s.stuns.Set(e, stun{})
		s.speed.Enable(e)
	}
}

func (s *world) move() {
	for rows := range s.movers.Rows() {
		p, v := s.place.Slice(rows), s.speed.Slice(rows)
		for from, to := range rows.Runs() {
			for i := from; i < to; i++ {
				p[i].move(v[i])
			}
		}
	}
}

// moment is a state of a world.
type moment struct {
	*ecs.Snapshot
	of *world
}

func (s *world) state() state { return moment{s.w.Snapshot(), s} }

func (m moment) read() (total sum) {
	for rows := range m.Rows(m.of.all) {
		p, h, n := m.of.place.Slice(rows), m.of.health.Slice(rows), m.of.number.Slice(rows)
		for i := range p {
			total.add(p[i], h[i], n[i])
		}
	}
	return total
}

func (m moment) end() { m.Close() }

func (s *world) close() error { return errors.Join(s.w.Verify(), s.w.Close()) }
