package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// The check of a buffer. It reads all records in the order of playback, finds for each entity the
// program that its commands make (program.go draws programs, nodes, subjects and links), and
// collects failures. It does not change the world, except that it may make archetypes.
//
// Terminology, beside that of program.go
//
//	record    a command in memory: 16 B, then its value (commandrecord.go)
//	segment   the records of one writer with one key, flight and part
//	place     a position between two records: segment, cursor and number
//	block     records about one entity each that wait to be checked together (checkblock.go)
//	spawn     a Create and the commands about its entity, repeated; one pattern checks all (pattern.go)
//	run       subjects that are played together. A command about a query ends a run, because its
//	          entities are known only after the run was played; so does an Instantiate if the run
//	          may change the source or its group, because the copy is made of what is there then
//	          (player.copy)
//
// Each record takes one of five ways, the cheapest first:
//
//	record                                   way
//	Add, Put, Set, Remove ... of one entity  into the block; the next record of another way flushes it
//	the same of a list                       checkOne puts the list's existing entities into the
//	                                         block, and flushes it after the last one
//	Create                                   spawn: the records that follow are compared with a pattern
//	any command about a query                checkOne; then the run ends
//	others, and Create that no pattern fits  checkOne, entity by entity
//
// Two entities that are created alike, then a Remove of a query, then an Add to one entity:
//
//	byte      0       16      40      64       80      104     128      144       168
//	record    Create  Set     Add     Create   Set     Add     Remove   Add
//	          +-- a pattern --------+ +-- repeats it -------+  query    block
//	run       0                                                         1
//
// Some records about one entity go to checkOne instead of the block: those about a placeholder,
// those whose value has placeholders (hasPlaceholders), which earlier commands must have created,
// and those that name an entity which a restore has ended since (stale, see stale.go), which fail.
//
// A record that cannot apply becomes a Failure and is left out of its program. The check goes on,
// so that one PlayError counts all failures; it lists the first MostFailures, 100.
//
// The check predicts what a command about a query does to later commands. Where it cannot, the run
// is marked unsure, and before that run is played the check is repeated from run.from on, in the
// world as it is by then (player.apply).

// check checks the commands from a place on. The error is a *LimitError.
func (p *player) check(from place) error {
	for i := from.segment; i < len(p.segments); i++ {
		p.segment, p.number = &p.segments[i], 0
		remap := p.remap[p.segment.stream.worker]
		c := p.segment.cursor()
		if i == from.segment && from.number > 0 {
			c, p.number = from.c, from.number
		}
		for {
			at := c
			r := c.next()
			if r == nil {
				break
			}
			o := remap[r.op]
			if o < 0 || p.ops[o].shared && p.ops[o].valued {
				o = p.opOf(remap, r)
			}
			if p.block.takes(r, &p.ops[o]) {
				if err := p.add(r.e, r, o); err != nil {
					return err
				}
				p.number++
				continue
			}
			if err := p.flush(); err != nil {
				return err
			}
			if p.ops[o].kind == create {
				c = at
				n, err := p.spawn(&c, remap)
				if err != nil {
					return err
				}
				if p.number += n; n > 0 {
					continue
				}
				c.next()
			}
			p.here = place{i, at, p.number}
			if err := p.checkOne(r, o); err != nil {
				return err
			}
			p.number++
			if p.ops[o].query != nil {
				p.here = place{i, c, p.number}
				p.endRun()
			}
		}
		if err := p.flush(); err != nil { // first: it uses p.segment, which the next loop changes
			return err
		}
	}
	p.runs[len(p.runs)-1].end = p.subjects.len()
	return nil
}

// checkOne checks a record by itself.
func (p *player) checkOne(r *commandRecord, o int32) error {
	one := &p.ops[o]
	if p.failStale(r, one, ecs.Null) || p.failStale(r, one, r.e) ||
		one.kind == instantiate && p.failStale(r, one, r.source()) {
		return nil
	}
	if r.flags&hasPlaceholders != 0 {
		p.named = true
		if !p.namesSomebody(r, one, p.codecs[o]) {
			p.fail(r, one, r.e, namesNobody)
			return nil
		}
	}
	switch {
	case one.query != nil:
		if door.WorldOf(one.query) == nil {
			panic("command: Buffer.Play: a query was closed between the recording of " + one.String() +
				" and Play; nothing was changed")
		}
		now := &p.runs[len(p.runs)-1]
		now.query, now.op = r, o
		return nil
	case r.flags&listed != 0:
		p.listed = p.listed || one.valued
		for _, e := range r.list() {
			var err error
			if p.failStale(r, one, e) {
				continue
			}
			if one.kind >= destroy && !e.IsPlaceholder() {
				err = p.add(e, r, o)
			} else if err = p.flush(); err == nil {
				err = p.about(r, o, e)
			}
			if err != nil {
				return err
			}
		}
		return p.flush() // while p.number is the record's
	case one.kind == create:
		return p.beginSubject(r, rootKey{at: one.archetype, created: true})
	case one.kind == instantiate:
		return p.copy(r, one)
	}
	return p.about(r, o, r.e)
}

// endRun ends the present run and begins the next.
func (p *player) endRun() {
	end := p.subjects.len()
	p.runs[len(p.runs)-1].end = end
	p.runs = append(p.runs, run{first: end, from: p.here, failures: len(p.failures), failed: p.failed})
}

// namesSomebody reports whether earlier commands create all placeholders in a record's value.
func (p *player) namesSomebody(r *commandRecord, o *op, c codec) bool {
	n, at := 1, r.value()
	if door.FactsOf(o.t).Kind == ecs.KindBuffer {
		n, at = r.number(), unsafe.Add(at, 8) // Safe because the elements lie after their number.
	}
	return p.created(c.links(), at, n, c.size())
}

// created reports whether earlier commands create all placeholders in n values at at, size bytes
// each.
func (p *player) created(links []world.Link, at unsafe.Pointer, n int, size uintptr) bool {
	for i := range n {
		for j := range links {
			// Safe because each value has entities at its links.
			l, at := &links[j], unsafe.Add(at, uintptr(i)*size+links[j].Offset)
			if l.Count > 0 {
				if !p.created(l.Each, at, l.Count, l.Size) {
					return false
				}
				continue
			}
			e := *(*ecs.Entity)(at)
			if number, _ := door.Number(e); e.IsPlaceholder() && p.placed[number] == 0 &&
				p.work.made[number] == ecs.Null && !p.work.gone[number] {
				return false
			}
		}
	}
	return true
}

// beginSubject begins the first subject of a placeholder.
func (p *player) beginSubject(r *commandRecord, key rootKey) error {
	number, _ := door.Number(r.e)
	root, err := p.root(key)
	if err == nil {
		p.placed[number] = p.subjects.add(r.e, root, -1)
	}
	return err
}

// copy begins the subject of a copy. If the present run has commands about the source, or may have
// some about its group, the run ends first, so that they are played before the copy is made.
func (p *player) copy(r *commandRecord, o *op) error {
	source := p.real(r.source())
	s := p.last(source)
	key, why, err := p.stateOf(source, s)
	if err != nil {
		return err
	}
	if why != 0 || key.ended {
		p.fail(r, o, r.e, hasNoCopy)
		return nil
	}
	now := &p.runs[len(p.runs)-1]
	if s != 0 && s >= now.first || key.at.Has(p.linkedType) && p.subjects.len() > now.first {
		p.endRun()
	}
	return p.beginSubject(r, rootKey{at: key.at, source: source, created: true})
}
