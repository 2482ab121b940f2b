package command

import (
	"slices"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/world"
)

// player is the state of one Play, kept for reuse.
type player struct {
	b        *Buffer
	base     unsafe.Pointer // of the universe
	group    ecs.Buffer[ecs.LinkedEntity]
	dying    ecs.Component[ecs.CleanupEntity]
	segments []segment
	ops      []op
	codecs   []codec
	byOp     map[op]int32
	canon    [][]int32 // by stream and number of its op: number in ops; -1 if not looked up yet

	nodes    []node
	edges    map[edge]int32
	roots    map[rootKey]int32
	lastKey  rootKey
	lastRoot int32 // -1 if none
	way      []int32

	subjects subjects
	links    []link
	latest   []int32 // by index of entity: its last subject
	placed   []int32 // by number of placeholder: its last subject
	runs     []run

	here       place
	segment    *segment  // of the current record
	number     int       // of the current record in its segment
	failures   []Failure // found by check
	failed     int       // player.failed when it began
	late       []Failure // found while playing
	lateFailed int
	cause      error // of the last late failure

	judges []world.Judge
	stale  map[named]bool

	listed  bool // some command about a list has a value
	block   block
	pattern pattern
	lasts   lasts
	work    work
	peak    peak
	need    need // of lists, in bytes
}

// run is commands that are played together. A command about a query ends a run.
type run struct {
	first, end int32   // subjects
	query      *record // that ends the run; nil if a copy or the last command does
	op         int32
	unsure     bool  // the effects of earlier queries could not be predicted: see sync
	from       place // its first command
	failures   int   // len(player.failures) when the run began
	failed     int
}

// begin prepares a Play.
func (p *player) begin() {
	b := p.b
	if p.edges == nil {
		p.edges, p.roots, p.byOp = map[edge]int32{}, map[rootKey]int32{}, map[op]int32{}
		p.group, p.dying = ecs.RegisterBuffer[ecs.LinkedEntity](b.w), ecs.Register[ecs.CleanupEntity](b.w)
	}
	p.base = b.w.Universe().Base()
	p.segments = b.inOrder(p.segments[:0])
	for i, s := range b.streams {
		if len(p.canon) == i {
			p.canon = append(p.canon, nil)
		}
		if s != nil {
			p.canon[i] = slices.Grow(p.canon[i][:0], len(s.list))[:len(s.list)]
			for n := range p.canon[i] {
				p.canon[i][n] = -1
			}
		}
	}
	p.placed = zeroed(p.placed, int(b.numbers.Load()))
	p.work.made = zeroed(p.work.made, len(p.placed))
	p.work.gone = zeroed(p.work.gone, len(p.placed))
	p.subjects.clear()
	p.subjects.grow(int(b.numbers.Load()))
	p.restart()
	p.pattern.stream, p.pattern.wait, p.pattern.pause = nil, 0, 0
	p.lastRoot, p.listed, p.lasts.node, p.block.n, p.block.known = -1, false, -1, 0, nil
	p.failures, p.failed, p.late, p.lateFailed, p.cause = p.failures[:0], 0, p.late[:0], 0, nil
}

// zeroed returns a slice of n zeros.
func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// end drops the state of the Play, and everything that refers to the world.
func (p *player) end() {
	p.restart()
	p.keep()
	p.judges = nil
	clear(p.nodes)
	clear(p.segments)
	clear(p.runs)
	p.nodes = p.nodes[:0]
	// Ops are kept for the next Play, unless some hold shared values or queries.
	if len(p.ops) > mostOps || slices.ContainsFunc(p.ops, func(o op) bool { return o.shared || o.query != nil }) {
		clear(p.ops)
		clear(p.codecs)
		p.ops, p.codecs = p.ops[:0], p.codecs[:0]
		clear(p.byOp)
	}
	clear(p.edges)
	clear(p.roots)
}

// place is where a record is in the order of playback.
type place struct {
	segment int
	c       cursor // at the record
	number  int    // of the record in the segment
}

// check goes through the commands from a place on, in order, and works out what they do to each
// entity. It changes nothing of the world, except that it may make archetypes. The error is a
// *LimitError.
func (p *player) check(from place) error {
	for i := from.segment; i < len(p.segments); i++ {
		p.segment, p.number = &p.segments[i], 0
		canon := p.canon[p.segment.stream.worker]
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
			o := canon[r.op]
			if o < 0 || p.ops[o].shared && p.ops[o].valued {
				o = p.opOf(canon, r)
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
				n, err := p.spawn(&c, canon)
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
				p.turn()
			}
		}
		if err := p.flush(); err != nil { // while p.segment is the block's
			return err
		}
	}
	p.runs[len(p.runs)-1].end = p.subjects.len()
	return nil
}

// restart drops the subjects, so that the commands that follow are worked out from the world as it
// is.
func (p *player) restart() {
	most := &p.peak
	for _, e := range p.subjects.e[1:] {
		if i := e.Index(); !e.IsPlaceholder() && i < len(p.latest) {
			p.latest[i] = 0
			most.index = max(most.index, i+1)
		}
	}
	most.subjects, most.links = max(most.subjects, int(p.subjects.len())), max(most.links, len(p.links))
	p.subjects.clear()
	p.links, p.runs = p.links[:0], append(p.runs[:0], run{first: 1})
	clear(p.placed)
}

// opOf returns the number of a record's op among the player's.
func (p *player) opOf(canon []int32, r *record) int32 {
	s := p.segment.stream
	one := s.list[r.op]
	if one.shared && one.valued {
		one.value = s.values[r.number()]
	}
	canon[r.op] = p.numberOf(one, s.codecs[r.op])
	return canon[r.op]
}

// numberOf returns the number of an op, and adds the op if it is new.
func (p *player) numberOf(one op, c codec) int32 {
	n, ok := p.byOp[one]
	if !ok {
		n = int32(len(p.ops))
		p.byOp[one] = n
		if one.change == nil {
			one.change = p.changeOf(&one, c)
		}
		p.ops, p.codecs = append(p.ops, one), append(p.codecs, c)
	}
	return n
}

// changeOf returns the change that an op makes, or nil.
func (p *player) changeOf(o *op, c codec) *ecs.Change {
	w := p.b.w
	switch {
	case o.kind == destroy:
		return door.Destruction(w)
	case o.kind == remove:
		return ecs.NewChange(w, ecs.Remove(o.t))
	case o.shared && o.kind == add:
		return ecs.NewChange(w, ecs.Add(c.shared(o.value)))
	case o.shared:
		return ecs.NewChange(w, ecs.Put(c.shared(o.value)))
	case o.kind == add, o.kind == put:
		return ecs.NewChange(w, ecs.Add(o.t))
	}
	return nil
}

// checkOne checks one record.
func (p *player) checkOne(r *record, o int32) error {
	one := &p.ops[o]
	if p.isStale(r, one, ecs.Null) || p.isStale(r, one, r.e) || one.kind == instantiate && p.isStale(r, one, r.source()) {
		return nil
	}
	if r.flags&linked != 0 && !p.namesSomebody(r, one, p.codecs[o]) {
		p.fail(r, one, r.e, namesNobody)
		return nil
	}
	switch {
	case one.query != nil:
		if one.query.World() == nil {
			// errors.md: `a query was closed between the recording of ... and Play; nothing was
			// changed`, `the query is nil, closed or belongs to another world` | A command about a
			// query that is closed. | Make queries once, and close them after the buffer.
			panic("command: Buffer.Play: a query was closed between the recording of " + one.String() + " and Play; nothing was changed")
		}
		now := &p.runs[len(p.runs)-1]
		now.query, now.op = r, o
		return nil
	case r.flags&listed != 0:
		p.listed = p.listed || one.valued
		for _, e := range r.list() {
			var err error
			if p.isStale(r, one, e) {
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
		return p.place(r, rootKey{at: one.archetype, created: true})
	case one.kind == instantiate:
		return p.copy(r, one)
	}
	return p.about(r, o, r.e)
}

// turn ends a run and begins the next.
func (p *player) turn() {
	end := p.subjects.len()
	p.runs[len(p.runs)-1].end = end
	p.runs = append(p.runs, run{first: end, from: p.here, failures: len(p.failures), failed: p.failed})
}

// namesSomebody reports whether earlier commands create all placeholders in a record's value.
func (p *player) namesSomebody(r *record, o *op, c codec) bool {
	n, at := 1, r.value()
	if door.FactsOf(o.t).Kind == ecs.KindBuffer {
		n, at = r.number(), unsafe.Add(at, 8) // Safe because the elements lie behind their number.
	}
	return p.created(c.links(), at, n, c.size())
}

// created reports whether earlier commands create all placeholders in n values at at, size bytes
// each.
func (p *player) created(links []world.Link, at unsafe.Pointer, n int, size uintptr) bool {
	for i := range n {
		for j := range links {
			// Safe because each value has what its links say.
			l, at := &links[j], unsafe.Add(at, uintptr(i)*size+links[j].Offset)
			if l.Count > 0 {
				if !p.created(l.Each, at, l.Count, l.Size) {
					return false
				}
				continue
			}
			e := *(*ecs.Entity)(at)
			if number, _ := door.Number(e); e.IsPlaceholder() && p.placed[number] == 0 && p.work.made[number] == ecs.Null && !p.work.gone[number] {
				return false
			}
		}
	}
	return true
}

// place begins the first subject of a placeholder.
func (p *player) place(r *record, key rootKey) error {
	number, _ := door.Number(r.e)
	root, err := p.root(key)
	if err == nil {
		p.placed[number] = p.subjects.add(r.e, root, -1)
	}
	return err
}

// copy begins the subject of a copy. If this run has commands about the source or may have some
// about its group, the run ends first, so that these are played before the copy is made.
func (p *player) copy(r *record, o *op) error {
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
	if s != 0 && s >= now.first || key.at.Has(p.group) && p.subjects.len() > now.first {
		p.turn()
	}
	return p.place(r, rootKey{at: key.at, source: source, created: true})
}

// about adds a command about one entity to the entity's subject.
func (p *player) about(r *record, o int32, recorded ecs.Entity) error {
	e := p.real(recorded)
	s, why, err := p.subjectOf(e)
	if err != nil {
		return err
	}
	one := &p.ops[o]
	if s == 0 {
		if one.kind != destroy && one.kind != remove || why == notCreated {
			p.fail(r, one, recorded, why)
		}
		return nil
	}
	n, err := p.step(p.subjects.node[s], o)
	switch {
	case err != nil:
		return err
	case n < 0:
		p.fail(r, one, recorded, reason(-n))
		return nil
	}
	if one.kind == destroy && !one.member && n != p.subjects.node[s] { // like World.Destroy, not if the entity is already dying
		if err := p.destroyGroup(r, s); err != nil {
			return err
		}
	}
	if n != p.subjects.node[s] {
		p.link(s, r)
		p.subjects.node[s] = n
	}
	return nil
}

// subjectOf returns the subject of an entity in the current run, made if need be, or 0 and the
// reason why there is none.
func (p *player) subjectOf(e ecs.Entity) (int32, reason, error) {
	s := p.last(e)
	if s >= p.runs[len(p.runs)-1].first {
		return s, 0, nil
	}
	key, why, err := p.stateOf(e, s)
	if err != nil || why != 0 {
		return 0, why, err
	}
	root, err := p.root(key)
	if err != nil {
		return 0, 0, err
	}
	n := p.subjects.add(e, root, -1)
	p.subjects.follow(n, s)
	if e.IsPlaceholder() {
		number, _ := door.Number(e)
		p.placed[number] = n
	} else {
		p.note(e, n)
	}
	return n, 0, nil
}

// stateOf returns the state of an entity after the commands so far. s is its last subject.
func (p *player) stateOf(e ecs.Entity, s int32) (key rootKey, why reason, err error) {
	since := 0
	switch {
	case s == 0 && e.IsPlaceholder():
		if number, _ := door.Number(e); p.work.gone[number] {
			return key, hasEnded, nil
		}
		return key, notCreated, nil
	case s == 0:
		place, ok := p.b.w.Locate(e)
		if !ok {
			return key, isDead, nil
		}
		key.at, key.ended = place.Archetype, place.Archetype.Has(p.dying)
	default:
		nd := &p.nodes[p.subjects.node[s]]
		key.at, key.ended, since = nd.at, nd.ended, p.runOf(s)
	}
	if key.at != nil {
		err = p.sync(e, s, since, &key)
	}
	if key.at == nil {
		why = hasEnded
	}
	return key, why, err
}

// runOf returns the index of the run that has subject s.
func (p *player) runOf(s int32) int {
	i := len(p.runs) - 1
	for p.runs[i].first > s {
		i--
	}
	return i
}

// sync applies to the state of an entity the queries that have ended runs since run since. If
// enable bits decide and earlier commands may have switched them, the result cannot be predicted,
// and the current run becomes unsure.
func (p *player) sync(e ecs.Entity, s int32, since int, key *rootKey) error {
	now := len(p.runs) - 1
	for i := since; i < now && key.at != nil; i++ {
		if p.runs[i].query == nil {
			continue
		}
		one := &p.ops[p.runs[i].op]
		matches, bits := door.MatchesArchetype(one.query, key.at)
		if bits {
			p.runs[now].unsure = p.runs[now].unsure || s != 0 || i > 0
			matches = s == 0 && one.query.Matches(e)
		}
		if one.kind == destroy { // which may destroy groups, too
			p.runs[now].unsure = true
		}
		has := one.t != nil && key.at.Has(one.t)
		if !matches || one.change == nil || one.kind == set && !has || one.kind == put && has && !one.shared || one.kind == add && has {
			continue
		}
		out, err := edit.OutcomeOf(door.Archetype(key.at)).After(door.Change(one.change))
		if err != nil {
			return err
		}
		key.at = door.At(&out)
		key.ended = key.ended || one.kind == destroy
	}
	return nil
}

// real returns the entity that runs already played have made for placeholder e; otherwise it
// returns e.
func (p *player) real(e ecs.Entity) ecs.Entity {
	if e.IsPlaceholder() {
		if number, _ := door.Number(e); p.work.made[number] != ecs.Null {
			return p.work.made[number]
		}
	}
	return e
}

// last returns the last subject of an entity, or 0.
func (p *player) last(e ecs.Entity) int32 {
	if e.IsPlaceholder() {
		number, _ := door.Number(e)
		return p.placed[number]
	}
	if i := e.Index(); i < len(p.latest) {
		if s := p.latest[i]; s != 0 && p.subjects.e[s] == e {
			return s
		}
	}
	return 0
}

// note makes s the last subject of e.
func (p *player) note(e ecs.Entity, s int32) {
	p.know(e.Index())
	p.latest[e.Index()] = s
}

// know grows latest to include an index, with some room to spare.
func (p *player) know(index int) {
	if index >= len(p.latest) {
		p.latest = append(p.latest, make([]int32, index+1+index/2-len(p.latest))...)
	}
}

// destroyGroup destroys the members of an entity's group before a command destroys the entity.
func (p *player) destroyGroup(r *record, s int32) error {
	before := &p.nodes[p.subjects.node[s]]
	if before.at == nil || !before.at.Has(p.group) {
		return nil
	}
	o := p.numberOf(op{kind: destroy, member: true, change: door.Destruction(p.b.w)}, nil)
	for _, m := range p.membersOf(s) {
		if m.Entity == p.subjects.e[s] || !p.b.w.Owns(m.Entity) && !m.Entity.IsPlaceholder() {
			continue
		}
		if err := p.about(r, o, m.Entity); err != nil {
			return err
		}
	}
	return nil
}

// membersOf returns the members of an entity's group after the commands of subject s. It excludes
// the members of copies, which are copies themselves that no command can be about.
func (p *player) membersOf(s int32) (members []ecs.LinkedEntity) {
	if before := p.subjects.before[s]; before != 0 {
		members = p.membersOf(before)
	} else if e := p.subjects.e[s]; !e.IsPlaceholder() {
		members = append(members, p.group.Slice(e)...)
	}
	if p.subjects.last[s] == packed {
		p.unpack(s)
	}
	path := p.path(p.subjects.node[s])
	for i, l := 0, p.subjects.first[s]; l >= 0; i, l = i+1, p.links[l].next {
		one := &p.ops[p.nodes[path[i]].op]
		if at := p.nodes[path[i]].at; at == nil || !at.Has(p.group) || one.t == ecs.Type(p.group) && one.kind != appendTo {
			members = members[:0]
		}
		if one.t == ecs.Type(p.group) && one.valued {
			// Safe because the elements lie behind their number.
			first := (*ecs.LinkedEntity)(unsafe.Add(p.recordOf(l).value(), 8))
			members = append(members, unsafe.Slice(first, p.recordOf(l).number())...)
		}
	}
	return members
}
