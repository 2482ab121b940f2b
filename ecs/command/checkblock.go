package command

import (
	"slices"

	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// checkBlock collects commands about one entity each. They are checked together, so that the waits
// for memory of their entities overlap.
type checkBlock struct {
	n  int
	e  [128]ecs.Entity
	r  [128]*commandRecord
	op [128]int32
	at [128]*ecs.Archetype
	s  [128]int32 // last subjects of the entities
	no [128]int   // numbers of the records in their segment

	known *ecs.Archetype // entities of this archetype whose first command is by go to node to; nil if not known
	by    int32
	to    int32
}

// takes reports whether a command is about one existing entity and needs no other check.
func (b *checkBlock) takes(r *commandRecord, o *op) bool {
	return o.kind >= destroy && r.flags&(listed|hasPlaceholders|stale) == 0 && o.query == nil && !r.e.IsPlaceholder()
}

// add adds a command about one entity to the block.
func (p *player) add(e ecs.Entity, r *commandRecord, o int32) error {
	b := &p.block
	b.e[b.n], b.r[b.n], b.op[b.n], b.no[b.n] = e, r, o, p.number
	if b.n++; b.n == len(b.e) {
		return p.flush()
	}
	return nil
}

// flush checks the commands of the block and empties it.
func (p *player) flush() error {
	b := &p.block
	n := b.n
	if b.n = 0; n == 0 {
		return nil
	}
	if len(p.runs) == 1 {
		door.ArchetypesOf(p.w, b.at[:n], b.e[:n])
	}
	for i := range n { // in one loop, so that the waits for memory overlap
		if index := b.e[i].Index(); index < len(p.latest) {
			b.s[i] = p.latest[index]
		}
	}
	number := p.number
	for i := 0; i < n; i++ {
		if len(p.runs) == 1 {
			if i = p.repeat(i, n); i == n {
				break
			}
		}
		p.number = b.no[i]
		before := p.subjects.len()
		if err := p.about(b.r[i], b.op[i], b.e[i]); err != nil {
			return err
		}
		// Groups are destroyed one by one.
		if t := &p.subjects; len(p.runs) == 1 && t.len() > before && t.first[before] >= 0 &&
			!b.at[i].Has(p.linkedType) {
			b.known, b.by, b.to = b.at[i], b.op[i], t.node[before]
		}
	}
	p.number = number
	return nil
}

// repeat does the work of about for a run of commands that are each the first of their entity and
// lead from known by the same op to the same node. It returns the first index of [i, n) after that
// run.
func (p *player) repeat(i, n int) int {
	b := &p.block
	if b.known == nil {
		return i
	}
	t, latest := &p.subjects, p.latest
	subjects, links := t.len(), int32(len(t.links))
	t.grow(n - i)
	t.links = slices.Grow(t.links, n-i)
	at, by, to := b.known, b.by, b.to
	from := i
	for ; i < n && b.at[i] == at && b.op[i] == by; i++ {
		index := b.e[i].Index()
		if index >= len(latest) || latest[index] != 0 {
			break
		}
		latest[index] = subjects + int32(i-from)
	}
	more := i - from
	t.e = append(t.e, b.e[from:i]...)
	t.node, t.first, t.last, t.links = t.node[:int(subjects)+more], t.first[:int(subjects)+more],
		t.last[:int(subjects)+more], t.links[:int(links)+more]
	node, first, last, list := t.node[subjects:], t.first[subjects:], t.last[subjects:], t.links[links:]
	for j := range more {
		l := links + int32(j)
		node[j], first[j], last[j], list[j] = to, l, l, link{b.r[from+j].from(p.base), -1}
	}
	return i
}
