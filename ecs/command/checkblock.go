package command

import (
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/internal/debug"
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

	known [256]knownStep // by Index of the archetype's table, and op
}

// knownStep is where entities of an archetype go whose first command is by: to a node. It is not
// known if the archetype is nil.
type knownStep struct {
	at     *ecs.Archetype
	by, to int32
}

// stepOf returns the place of what is known of an op and an archetype, which may hold another step.
func (b *checkBlock) stepOf(at *ecs.Archetype, op int32) *knownStep {
	return &b.known[(door.Archetype(at).Table.Index+uint32(op)*37)%uint32(len(b.known))]
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
		// Groups are destroyed one by one. A command about an entity with a subject may add others.
		if t := &p.subjects; len(p.runs) == 1 && t.len() > before && t.e[before] == b.e[i] && t.first[before] >= 0 &&
			!b.at[i].Has(p.linkedType) {
			*b.stepOf(b.at[i], b.op[i]) = knownStep{b.at[i], b.op[i], t.node[before]}
		}
	}
	p.number = number
	return nil
}

// repeat does the work of about for a run of commands that are each the first of their entity and
// lead by known steps to a node. It returns the first index of [i, n) after that run.
func (p *player) repeat(i, n int) int {
	b := &p.block
	t, latest := &p.subjects, p.latest
	subjects, links := t.len(), int32(len(t.links))
	t.grow(n - i)
	t.links = slices.Grow(t.links, n-i)
	node, list := t.node[subjects:int(subjects)+n-i], t.links[links:int(links)+n-i]
	from := i
	for ; i < n && b.at[i] != nil; i++ {
		step, index := b.stepOf(b.at[i], b.op[i]), b.e[i].Index()
		if step.at != b.at[i] || step.by != b.op[i] || index >= len(latest) || latest[index] != 0 {
			break
		}
		if debug.On {
			p.verifyStep(step, b.e[i])
		}
		latest[index] = subjects + int32(i-from)
		node[i-from], list[i-from] = step.to, link{b.r[i].from(p.base), -1}
	}
	more := i - from
	t.e = append(t.e, b.e[from:i]...)
	t.node, t.first, t.last, t.links = t.node[:int(subjects)+more], t.first[:int(subjects)+more],
		t.last[:int(subjects)+more], t.links[:int(links)+more]
	first, last := t.first[subjects:], t.last[subjects:]
	for j := range more {
		first[j], last[j] = links+int32(j), links+int32(j)
	}
	return i
}

// verifyStep panics unless what is known of a step is what about would find for an entity.
func (p *player) verifyStep(known *knownStep, e ecs.Entity) {
	to := int32(-1)
	key, _, err := p.stateOf(e, 0)
	if err == nil {
		to, err = p.root(key)
	}
	if err == nil {
		to, err = p.step(to, known.by)
	}
	if err != nil || to != known.to {
		panic(fmt.Sprintf(
			"command: Buffer.Play: the first command of %v leads to node %d, that of others led to %d: %v",
			e, to, known.to, err))
	}
}
