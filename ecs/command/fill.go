package command

import (
	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// Values are copied from records to the entities of a group, which all have the same commands. If
// the rows of the group are at hand, because it was just made or moved, a column is written from
// the first row to the last.

// fill writes the values of a group whose rows are the rows of a batch, in the same order. What
// does not fit the rows is left to spread.
func (p *player) fill(n int32, path []int32, batch ecs.Batch) {
	w, from := &p.work, int32(0)
	group := p.subjectsOf(n)
	p.nodes[n].late = lateRange{int32(len(w.late)), 0}
	for rows := range batch.Rows() { // chunk by chunk, so that the records read are close together
		w.steps = -1
		w.unfit.clear()
		for i, m := range path {
			one, c := &p.ops[p.nodes[m].op], p.codecs[p.nodes[m].op]
			if !one.valued || one.shared || !c.fills() || !p.live(path, i) {
				continue
			}
			w.unfit.rows = w.unfit.rows[:0]
			c.fill(one.kind, rows, p.valuesOf(group[from:int(from)+rows.Len()], path, i), &w.unfit)
			for _, row := range w.unfit.rows {
				w.late = append(w.late, lateValue{int32(i), from + row})
			}
		}
		from += int32(rows.Len())
	}
	p.nodes[n].filled = true
	p.nodes[n].late.end = int32(len(w.late))
}

// lateValue is a value that fill has left to spread: of a command of a path, for an entity of a
// group.
type lateValue struct{ step, at int32 }

// lateRange is a range of work.late.
type lateRange struct{ first, end int32 }

// unfitRows are the rows of a chunk whose elements do not fit the chunk.
type unfitRows struct {
	rows []int32  // those of one command, rising
	bits []uint64 // those of any command before, whose later elements must wait too
}

// has reports whether elements of a row wait.
func (u *unfitRows) has(row int) bool { return row/64 < len(u.bits) && u.bits[row/64]>>(row%64)&1 != 0 }

// add notes that the elements of a row wait.
func (u *unfitRows) add(row int) {
	for len(u.bits) <= row/64 {
		u.bits = append(u.bits, 0)
	}
	u.bits[row/64] |= 1 << (row % 64)
	u.rows = append(u.rows, int32(row))
}

// clear begins another chunk.
func (u *unfitRows) clear() { u.bits = u.bits[:0] }

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
		filled := one.valued && p.nodes[n].filled && c.fills()
		if filled && p.nodes[n].late.first == p.nodes[n].late.end || !p.live(path, i) ||
			one.sparse && p.nodes[n].ended {
			continue
		}
		if list == nil {
			list = p.entitiesOf(n)
			p.work.changed = true
		}
		switch {
		case one.kind == enable || one.kind == disable:
			if one.sparse {
				p.findLacking(n, path, i, one, list)
			}
			p.toggle(one, list)
		case !one.valued:
			door.Change(one.change).EnterList(door.IDs(list))
		case filled:
			p.spreadLate(n, path, i, list)
		default:
			p.spreadValues(one, c, list, p.valuesOf(p.subjectsOf(n), path, i), 0)
		}
	}
}

// spreadLate writes the values of the i'th command of a group that fill has left.
func (p *player) spreadLate(n int32, path []int32, i int, list []ecs.Entity) {
	one, c := &p.ops[p.nodes[path[i]].op], p.codecs[p.nodes[path[i]].op]
	late := p.work.late[p.nodes[n].late.first:p.nodes[n].late.end]
	var values source
	for len(late) > 0 {
		if late[0].step != int32(i) {
			late = late[1:]
			continue
		}
		if values.at == nil {
			values = p.valuesOf(p.subjectsOf(n), path, i)
		}
		at, k := int(late[0].at), 1
		for k < len(late) && late[k] == (lateValue{int32(i), int32(at + k)}) {
			k++
		}
		p.spreadValues(one, c, list[:at+k], values, at)
		late = late[k:]
	}
}

// spreadValues writes the values of the entities of a list from one on, and notes those that find
// no room.
func (p *player) spreadValues(one *op, c codec, list []ecs.Entity, values source, from int) {
	for at := from; at < len(list); {
		done, err := c.spread(one.kind, list[at:], values.from(at))
		if at += done; err != nil {
			p.failLate(p.recordAt(at), one, list[at], err)
			at++
		}
	}
}

// findLacking notes the failures of the i'th command of a group, which toggles a sparse type, for
// the entities that do not have it.
func (p *player) findLacking(n int32, path []int32, i int, one *op, list []ecs.Entity) {
	has := one.t.(interface{ Has(ecs.Entity) bool })
	p.valuesOf(p.subjectsOf(n), path, i) // and so the records
	for at, e := range list {
		if !has.Has(e) {
			p.failLate(p.recordAt(at), one, e, errLacks)
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
		group := p.subjectsOf(n)
		p.valuesOf(group, path, i)
		for _, l := range p.work.linked { // no value of a packed subject has placeholders
			if p.recordAt(int(l.at)).flags&hasPlaceholders != 0 {
				c.patch(p.subjects.e[group[l.at]], p.work.made)
			}
		}
	}
}
