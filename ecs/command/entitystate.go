package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/edit"
)

// The state of an entity after the commands that have been checked: its subject in the current run,
// its archetype, and the members of its group.

// about adds a command about one entity to the entity's subject.
func (p *player) about(r *commandRecord, o int32, recorded ecs.Entity) error {
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
	// Like World.Destroy, not if the entity is already dying.
	if one.kind == destroy && !one.member && n != p.subjects.node[s] {
		if err := p.destroyGroup(r, s); err != nil {
			return err
		}
	}
	if n != p.subjects.node[s] {
		if p.subjects.last[s] == packed {
			p.unpack(s)
		}
		p.subjects.link(s, r.from(p.base))
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
		place, ok := p.w.Locate(e)
		if !ok {
			return key, isDead, nil
		}
		key.at, key.ended = place.Archetype, place.Archetype.Has(p.cleanupEntity)
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
		if !matches || one.change == nil || one.kind == set && !has || one.kind == put && has && !one.shared ||
			one.kind == add && has {
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

// destroyGroup destroys the members of an entity's group before a command destroys the entity.
func (p *player) destroyGroup(r *commandRecord, s int32) error {
	before := &p.nodes[p.subjects.node[s]]
	if before.at == nil || !before.at.Has(p.linkedType) {
		return nil
	}
	o := p.numberOf(op{kind: destroy, member: true, change: door.Destruction(p.w)}, nil)
	for _, m := range p.membersOf(s) {
		if m.Entity == p.subjects.e[s] || !p.w.Owns(m.Entity) && !m.Entity.IsPlaceholder() {
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
		members = append(members, p.linkedType.Slice(e)...)
	}
	if p.subjects.last[s] == packed {
		p.unpack(s)
	}
	path := p.path(p.subjects.node[s])
	for i, l := 0, p.subjects.first[s]; l >= 0; i, l = i+1, p.subjects.links[l].next {
		one := &p.ops[p.nodes[path[i]].op]
		if at := p.nodes[path[i]].at; at == nil || !at.Has(p.linkedType) ||
			one.t == ecs.Type(p.linkedType) && one.kind != appendTo {
			members = members[:0]
		}
		if one.t == ecs.Type(p.linkedType) && one.valued {
			// Safe because the elements lie after their number.
			first := (*ecs.LinkedEntity)(unsafe.Add(p.recordOf(l).value(), 8))
			members = append(members, unsafe.Slice(first, p.recordOf(l).number())...)
		}
	}
	return members
}
