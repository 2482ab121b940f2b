package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// After a call by query or by list the model reads the order of the rows from the world, because
// predicting it would copy the implementation. It checks that the rows are the expected ones, that
// their records lead to them, and some values.

// touch has the groups that a call affects, and how many more rows each will have.
type touch map[*group]int

// rowPlace is the place of a row: the start of its chunk, and the row in the chunk.
type rowPlace struct {
	chunk int
	row   int
}

// sit records the places of the rows of some groups.
func (d *world) sit(touched touch) {
	for _, g := range d.m.groups {
		if _, ok := touched[g]; ok && g.a != nil {
			d.eachPlace(g, func(x *entity, at rowPlace) { x.place = at })
		}
	}
}

// eachPlace walks the places of the rows of a group.
func (d *world) eachPlace(g *group, f func(x *entity, at rowPlace)) {
	row := 0
	for i := range g.a.Chunks() {
		first, _, n := g.a.Chunk(i)
		for j := range n {
			f(d.m.entities[g.rows[row+j]], rowPlace{first, j})
		}
		row += n
	}
}

// reread takes the order of the rows of some groups from the world. The model's entities already
// know their groups.
func (d *world) reread(touched touch) error {
	fresh := map[*ecs.Archetype][]ecs.Entity{}
	for rows := range d.all.q.Rows() {
		fresh[rows.Archetype()] = append(fresh[rows.Archetype()], rows.Entities()...)
	}
	seen := map[ecs.Entity]bool{}
	for _, g := range d.m.groups {
		more, ok := touched[g]
		if !ok {
			continue
		}
		rows := fresh[g.a]
		if len(rows) != len(g.rows)+more || g.a.Len() != len(rows) {
			return fmt.Errorf("%v: got %d rows, length %d, want %d", g.a, len(rows), g.a.Len(), len(g.rows)+more)
		}
		for _, e := range rows {
			if x := d.m.entities[e]; x == nil || x.group != g || seen[e] {
				return fmt.Errorf("%v: got %v (seen before: %v), which is not one of its entities", g.a, e, seen[e])
			}
			seen[e] = true
		}
		g.rows, g.stirred = slices.Clone(rows), d.m.version
		for i, e := range rows {
			d.m.entities[e].row = i
		}
		d.eachPlace(g, func(x *entity, at rowPlace) {
			if x.place != at {
				x.arrived, x.place = d.m.version, at
			}
		})
	}
	d.m.reordered = d.m.version
	return d.compareSome(touched)
}

// compareSome compares about a hundred rows of some groups, including the last ones.
func (d *world) compareSome(touched touch) error {
	const most = 200
	for _, g := range d.m.groups {
		if _, ok := touched[g]; !ok {
			continue
		}
		step := 1 + len(g.rows)/most
		for i := len(g.rows) - 1; i >= 0; i -= step {
			e := g.rows[i]
			if err := d.compare(e, d.m.entities[e]); err != nil {
				return err
			}
		}
		if n := len(g.rows); n > 0 {
			if err := d.compareLocation(g.rows[n/2], d.m.entities[g.rows[n/2]]); err != nil {
				return err
			}
		}
	}
	return nil
}
