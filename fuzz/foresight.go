package fuzz

import "quarry/ecs"

// foresight is the model's prediction for a change or a destruction of many entities.
type foresight struct {
	moved, ended []ecs.Entity
	to           map[ecs.Entity]*group // for the entities that move
	touched      touch
	need         need
}

// foresee predicts what a change does to a list of entities, which are alive and listed once, and
// records where rows are.
func (d *world) foresee(list []ecs.Entity, c change) foresight {
	s := foresight{to: map[ecs.Entity]*group{}, touched: touch{}}
	arrivals := map[*group]int{}
	var targets []*group
	for _, e := range list {
		x := d.m.entities[e]
		f := c.of(x.group.form)
		if f.ends() {
			s.ended = append(s.ended, e)
			s.touched[x.group]--
			continue
		}
		g := d.m.groupOf(f)
		if g == x.group {
			continue
		}
		if arrivals[g] == 0 {
			targets = append(targets, g)
		}
		arrivals[g]++
		s.moved, s.to[e] = append(s.moved, e), g
		s.touched[x.group]--
		s.touched[g]++
	}
	for _, g := range targets {
		one := d.rowsNeed(g, arrivals[g], false)
		s.need.run, s.need.chunks = max(s.need.run, one.run), s.need.chunks+one.chunks
	}
	s.need.entries = c.entry > 0
	d.sit(s.touched)
	return s
}

// fulfil applies the prediction to the model.
func (d *world) fulfil(s foresight) error {
	m := d.m
	m.set.loose = true
	for rows := range d.all.q.Rows() { // archetypes in order of creation
		for _, e := range rows.Entities() {
			if g := s.to[e]; g != nil {
				d.bind(g, rows.Archetype())
				break
			}
		}
	}
	for _, e := range s.moved {
		x := m.entities[e]
		m.become(e, x, s.to[e])
		x.group = s.to[e]
		m.arrive(x)
	}
	for _, e := range s.ended {
		m.end(e)
	}
	return d.reread(s.touched)
}
