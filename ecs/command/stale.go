package command

import (
	"cmp"
	"slices"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// Commands from before a World.Restore. An entity that came after the snapshot is gone, and its ID
// may be another's when the commands are played. So a stream marks where it first names an entity
// after a snapshot or a restore, and Play asks of each record from before a restore whether the
// entities that it names are those of then:
//
//	era      0                1   snapshot              2   restore
//	marks    (none: era 0)    |                         |
//	records  Set 1v1  Set 2v1 |Set 3v1  Destroy 2v1     |Set 3v1
//	                           stale, if 3v1 came since   good

// findStale finds entities in records that are no longer the ones that were named, and marks these
// records.
func (p *player) findStale(judges []world.Judge) {
	p.judges = judges
	clear(p.stale)
	if len(judges) == 0 {
		return
	}
	for i := range p.segments {
		s, c := p.segments[i].stream, p.segments[i].cursor()
		for r := c.next(); r != nil; r = c.next() {
			r.flags &^= stale
			if era := s.eraAt(c.page, c.at-int(r.size)); era > 0 {
				p.findStaleOf(s, r, era)
			}
		}
	}
}

// findStaleOf looks at one record.
func (p *player) findStaleOf(s *stream, r *commandRecord, era uint64) {
	p.judge(r, r.e, era)
	if r.flags&listed != 0 {
		for _, e := range r.list() {
			p.judge(r, e, era)
		}
	}
	one, c := &s.list[r.op], s.codecs[r.op]
	switch {
	case one.kind == instantiate:
		p.judge(r, r.source(), era)
	case one.valued && !one.shared && c != nil && len(c.links()) > 0:
		n, at := 1, r.value()
		if door.FactsOf(one.t).Kind == ecs.KindBuffer {
			n, at = r.number(), unsafe.Add(at, 8) // Safe because the elements lie after their number.
		}
		p.judgeValues(r, c.links(), at, n, c.size(), era)
	}
}

// judgeValues judges the entities in n values at at, size bytes each.
func (p *player) judgeValues(r *commandRecord, links []world.Link, at unsafe.Pointer, n int, size uintptr, era uint64) {
	for i := range n {
		for j := range links {
			// Safe because each value has entities at its links.
			l, at := &links[j], unsafe.Add(at, uintptr(i)*size+links[j].Offset)
			if l.Count > 0 {
				p.judgeValues(r, l.Each, at, l.Count, l.Size, era)
			} else if p.judge(r, *(*ecs.Entity)(at), era) {
				p.noteStale(r, ecs.Null)
			}
		}
	}
}

// judge notes an entity that a record names and that is not the one it named, and reports whether
// it is such a one. An entity that is not alive is nobody else.
func (p *player) judge(r *commandRecord, e ecs.Entity, era uint64) bool {
	if e.IsPlaceholder() || !p.w.Alive(e) {
		return false
	}
	good := !slices.ContainsFunc(p.judges, func(j world.Judge) bool { return !j.Has(e.Index(), e.Version(), era) })
	if !good {
		p.noteStale(r, e)
	}
	return !good
}

// noteStale notes that a record names an entity that is stale; Null stands for one in its value.
func (p *player) noteStale(r *commandRecord, e ecs.Entity) {
	if p.stale == nil {
		p.stale = map[named]bool{}
	}
	p.stale[named{r, e}] = true
	r.flags |= stale
}

// failStale reports whether an entity that a record names is stale, or with Null one in its value,
// so that the command cannot be made, and notes the failure.
func (p *player) failStale(r *commandRecord, o *op, e ecs.Entity) bool {
	if r.flags&stale == 0 || !p.stale[named{r, e}] {
		return false
	}
	p.fail(r, o, cmp.Or(e, r.e), isOthers)
	return true
}
