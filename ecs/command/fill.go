package command

import (
	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// Values are copied from records to the entities of a group, which all have the same commands. If
// the rows of the group are at hand, because it was just made or moved, a column is written from
// the first row to the last.

// fill writes the values of a group whose rows are the rows of a batch, in the same order.
func (p *player) fill(n int32, path []int32, batch ecs.Batch) {
	group := p.subjectsOf(n)
	for rows := range batch.Rows() { // chunk by chunk, so that the records read are close together
		p.work.steps = -1
		for i, m := range path {
			one, c := &p.ops[p.nodes[m].op], p.codecs[p.nodes[m].op]
			if !one.valued || one.shared || !c.fills() || !p.live(path, i) {
				continue
			}
			c.fill(rows, p.valuesOf(group[:rows.Len()], i))
		}
		group = group[rows.Len():]
	}
	p.nodes[n].filled = true
}

// spread writes, entity by entity, the values and enable bits of a group that fill has not written.
func (p *player) spread(n int32) {
	path := p.path(n)
	if p.nodes[n].at == nil || len(p.subjectsOf(n)) == 0 {
		return
	}
	p.work.steps = -1
	var list []ecs.Entity
	for i, m := range path {
		one, c := &p.ops[p.nodes[m].op], p.codecs[p.nodes[m].op]
		if !p.live(path, i) || one.valued && p.nodes[n].filled && c.fills() || one.sparse && p.nodes[n].ended {
			continue
		}
		if list == nil {
			list = p.entitiesOf(n)
			p.work.changed = true
		}
		if one.kind == enable || one.kind == disable {
			if one.sparse {
				p.findLacking(n, i, one, list)
			}
			p.toggle(one, list)
			continue
		}
		if !one.valued {
			door.Change(one.change).EnterList(door.IDs(list))
			continue
		}
		values := p.valuesOf(p.subjectsOf(n), i)
		for at := 0; at < len(list); {
			done, err := c.spread(one.kind, list[at:], values.from(at))
			if at += done; err != nil {
				p.failLate(p.recordOf(p.work.cursor[at]), one, list[at], err)
				at++
			}
		}
	}
}

// findLacking notes the failures of the i'th command of a group, which toggles a sparse type, for
// the entities that do not have it.
func (p *player) findLacking(n int32, i int, one *op, list []ecs.Entity) {
	has := one.t.(interface{ Has(ecs.Entity) bool })
	p.valuesOf(p.subjectsOf(n), i) // and so the records
	for at, e := range list {
		if !has.Has(e) {
			p.failLate(p.recordOf(p.work.cursor[at]), one, e, errLacks)
		}
	}
}

// toggle enables or disables the op's component for the entities of a list.
func (p *player) toggle(one *op, list []ecs.Entity) {
	if one.kind == enable {
		one.t.(toggled).EnableList(list)
	} else {
		one.t.(toggled).DisableList(list)
	}
}

// toggled is implemented by the types that are Enableable.
type toggled interface {
	EnableList([]ecs.Entity) int
	DisableList([]ecs.Entity) int
	EnableQuery(*ecs.Query) int
	DisableQuery(*ecs.Query) int
}

// patch replaces the placeholders in the components of a group with the entities made for them.
func (p *player) patch(n int32) {
	path := p.path(n)
	if p.nodes[n].at == nil {
		return
	}
	p.work.steps = -1
	for i, m := range path {
		one, c := &p.ops[p.nodes[m].op], p.codecs[p.nodes[m].op]
		if !one.valued || c == nil || !c.fills() || len(c.links()) == 0 || !p.live(path, i) {
			continue
		}
		p.valuesOf(p.subjectsOf(n), i)
		for j, s := range p.subjectsOf(n) {
			if p.recordOf(p.work.cursor[j]).flags&hasPlaceholders != 0 {
				c.patch(p.subjects.e[s], p.work.made)
			}
		}
	}
}
