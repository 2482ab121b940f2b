package command

import (
	"slices"

	"quarry/ecs"
)

// A group is the subjects of a run that end at one node, so their entities have the same commands.
// The subjects of a run are sorted by group before it is played.

// sortSubjects orders the subjects of a run by node.
func (p *player) sortSubjects(r *run, number int32) {
	w := &p.work
	w.touched, w.groups = w.touched[:0], 0
	if len(p.runs) > 1 || len(p.placed) > 0 {
		p.resolve(r)
	}
	// Neighbours mostly end at the same node.
	list := p.subjects.node[r.first:r.end]
	for i := 0; i < len(list); {
		nd, n := &p.nodes[list[i]], alike(list[i:])
		if nd.run != number {
			nd.run, nd.count, nd.filled = number, 0, false
			w.touched = append(w.touched, list[i])
		}
		nd.count += n
		i += int(n)
	}
	total := int32(0)
	for _, n := range w.touched {
		nd := &p.nodes[n]
		nd.first = total
		total += nd.count
		nd.count = 0
	}
	w.order = slices.Grow(w.order[:0], int(total))[:total]
	for i := 0; i < len(list); {
		nd, n := &p.nodes[list[i]], alike(list[i:])
		order := w.order[nd.first+nd.count:][:n]
		for j := range order {
			order[j] = r.first + int32(i+j)
		}
		nd.count += n
		i += int(n)
	}
}

// alike returns how many leading elements of a list are equal.
func alike(list []int32) int32 {
	n := 1
	for n < len(list) && list[n] == list[0] {
		n++
	}
	return int32(n)
}

// resolve replaces placeholders with the entities that earlier runs made, and makes the run's
// subjects the last subjects of their entities.
func (p *player) resolve(r *run) {
	for s := r.first; s < r.end; s++ {
		e := p.real(p.subjects.e[s])
		if p.subjects.e[s] = e; len(p.runs) > 1 && !e.IsPlaceholder() {
			p.note(e, s)
		}
	}
}

// subjectsOf returns the subjects of a group.
func (p *player) subjectsOf(n int32) []int32 {
	nd := &p.nodes[n]
	return p.work.order[nd.first : nd.first+nd.count]
}

// entitiesOf returns the entities of a group.
func (p *player) entitiesOf(n int32) []ecs.Entity {
	list := p.work.list[:0]
	for _, s := range p.subjectsOf(n) {
		list = append(list, p.subjects.e[s])
	}
	p.work.list, p.peak.list = list, max(p.peak.list, len(list))
	return list
}

// valuesOf returns the values of the i'th command of each subject, in the order of the subjects,
// which are a group or a part of one. Successive calls must have rising i; a negative steps starts
// over.
func (p *player) valuesOf(group []int32, i int) source {
	w := &p.work
	p.peak.list = max(p.peak.list, len(group))
	w.values = slices.Grow(w.values[:0], len(group))[:len(group)]
	if w.steps < 0 || w.steps > i {
		w.cursor, w.steps = slices.Grow(w.cursor[:0], len(group))[:len(group)], 0
		for j, s := range group {
			w.cursor[j] = p.subjects.first[s]
		}
	}
	for ; w.steps < i; w.steps++ {
		p.advance(w.cursor)
	}
	for j, l := range w.cursor {
		if l < 0 {
			w.values[j] = uint32(^l) + recordSize/8
		} else {
			w.values[j] = p.subjects.links[l].at + recordSize/8
		}
	}
	if p.listed { // reads each record, which waits for memory
		for j, l := range w.cursor {
			w.values[j] = p.recordOf(l).valueAt(p.base)
		}
	}
	return source{p.base, w.values, w.made}
}

// advance moves from one command to the next, for subjects with the same commands. Packed subjects
// at one node have records of the same sizes.
func (p *player) advance(cursor []int32) {
	size := int32(0)
	for j, l := range cursor {
		if l >= 0 {
			cursor[j] = p.subjects.links[l].next
			continue
		}
		if size == 0 {
			size = int32(p.recordOf(l).size / 8)
		}
		cursor[j] = l - size
	}
}

// sortAs puts the subjects of a group into the order of the rows of a batch.
func (p *player) sortAs(n int32, batch ecs.Batch) {
	group, i := p.subjectsOf(n), 0
	for rows := range batch.Rows() {
		for _, e := range rows.Entities() {
			group[i] = p.latest[e.Index()]
			i++
		}
	}
}
