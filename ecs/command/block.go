package command

import "quarry/ecs"

// block is commands about one entity each, which are checked together so that the waits for
// memory of what is known of the entities overlap.
type block struct {
	n  int
	e  [128]ecs.Entity
	r  [128]*record
	op [128]int32
	at [128]*ecs.Archetype
	s  [128]int32 // last stints
	no [128]int   // numbers of the records in the segment
}

// takes reports whether a command is about one entity that is there, and nothing else.
func (b *block) takes(r *record, o *op) bool {
	return o.kind > destroy && r.flags&(listed|linked) == 0 && o.query == nil && !r.e.IsPlaceholder()
}

// add adds a command about one entity to the block.
func (p *player) add(e ecs.Entity, r *record, o int32) error {
	b := &p.block
	b.e[b.n], b.r[b.n], b.op[b.n], b.no[b.n] = e, r, o, p.number
	if b.n++; b.n == len(b.e) {
		return p.flush()
	}
	return nil
}

// flush checks the commands of the block.
func (p *player) flush() error {
	b := &p.block
	n := b.n
	if b.n = 0; n == 0 {
		return nil
	}
	if len(p.runs) == 1 {
		p.b.w.ArchetypesOf(b.at[:n], b.e[:n])
	}
	for i := range n { // all at once: their waits for memory overlap
		if index := b.e[i].Index(); index < len(p.latest) {
			b.s[i] = p.latest[index]
		}
	}
	number := p.number
	for i := range n {
		if len(p.runs) > 1 || !p.quick(i) {
			p.number = b.no[i]
			if err := p.about(b.r[i], b.op[i], b.e[i]); err != nil {
				return err
			}
		}
	}
	p.number = number
	return nil
}

// quick is about for the first command of an entity that leads where one before it did. It
// reports whether it was.
func (p *player) quick(i int) bool {
	b := &p.block
	index := b.e[i].Index()
	if index >= len(p.latest) || p.latest[index] != 0 || b.at[i] == nil || p.lastRoot < 0 ||
		p.lastKey != (rootKey{at: b.at[i]}) {
		return false
	}
	root := &p.nodes[p.lastRoot]
	if root.lastOp != b.op[i] || root.last < 0 || root.last == p.lastRoot {
		return false
	}
	l := int32(len(p.links))
	p.links = append(p.links, link{b.r[i].from(p.base), -1})
	p.latest[index] = p.stints.add(b.e[i], root.last, l)
	return true
}
