package command

import (
	"slices"
	"unsafe"

	"quarry/ecs"
)

// A group is the subjects of a run that end at one node, so their entities have the same commands.
// The subjects of a run are sorted by group before it is played.

// sortSubjects orders the subjects of a run by node.
func (p *player) sortSubjects(r *run, number int32) {
	w := &p.work
	w.touched, w.groups = w.touched[:0], 0
	if len(p.runs) > 1 || p.work.born {
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
// which are a group with a path, or a part of one. Successive calls must have rising i; a negative
// steps starts over.
//
// The records of packed subjects are as far behind their first ones in each of them, until a
// command has elements: so walking on to the next command of the whole group is one addition.
func (p *player) valuesOf(group []int32, path []int32, i int) source {
	w := &p.work
	p.peak.list = max(p.peak.list, len(group))
	if w.steps < 0 || w.steps > i {
		p.beginWalk(group)
	}
	for ; w.steps < i; w.steps++ {
		p.advance(p.codecs[p.nodes[path[w.steps]].op])
	}
	if !p.listed {
		// Safe because the value of a record about one entity lies behind its first bytes.
		return source{unsafe.Add(p.base, int(w.skip)*8+recordSize), w.records, w.made}
	}
	w.values = slices.Grow(w.values[:0], len(group))[:len(group)]
	for j := range group { // reads each record, which waits for memory
		w.values[j] = p.recordAt(j).valueAt(p.base)
	}
	return source{p.base, w.values, w.made}
}

// beginWalk finds the records of the first command of each subject of a group.
func (p *player) beginWalk(group []int32) {
	w := &p.work
	w.steps, w.skip, w.linked = 0, 0, w.linked[:0]
	w.records = slices.Grow(w.records[:0], len(group))[:len(group)]
	for j, s := range group {
		l := p.subjects.first[s]
		if l >= 0 {
			w.linked = append(w.linked, linked{int32(j), l})
			l = ^int32(p.subjects.links[l].at)
		}
		w.records[j] = ^l
	}
}

// linked is a subject of a group that has links: its number in the group, and the link of the
// current command.
type linked struct{ at, link int32 }

// advance moves from a command with a codec to the next, for subjects with the same commands.
func (p *player) advance(c codec) {
	w := &p.work
	switch {
	case len(w.linked) == len(w.records):
	case c != nil && c.counted():
		for j := range w.records {
			w.records[j] += int32(p.recordAt(j).size / 8)
		}
	default: // the records of all subjects without links have one size
		first := 0
		for first < len(w.linked) && w.linked[first].at == int32(first) {
			first++
		}
		w.skip += int32(p.recordAt(first).size / 8)
	}
	for i := range w.linked {
		one := &w.linked[i]
		one.link = p.subjects.links[one.link].next
		if one.link >= 0 {
			w.records[one.at] = int32(p.subjects.links[one.link].at) - w.skip
		}
	}
}

// recordAt returns the record of the current command of the j'th subject of a group.
func (p *player) recordAt(j int) *commandRecord {
	// Safe because a record lies there until the buffer is cleared.
	return (*commandRecord)(unsafe.Add(p.base, (int(p.work.records[j])+int(p.work.skip))*8))
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
