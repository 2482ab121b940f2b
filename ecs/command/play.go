package command

import (
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/internal/seam"
)

// work is what playing a run needs, kept for reuse.
type work struct {
	order   []int32      // subjects of the run, by node
	touched []int32      // nodes at which subjects of the run end, as they came first
	made    []ecs.Entity // by number of placeholder
	gone    []bool       // placeholders that came to nothing
	list    []ecs.Entity
	values  []uint32
	cursor  []int32      // links
	steps   int          // that the cursor has gone
	heirs   []ecs.Entity // members of groups that are destroyed, and copies that are
	tx      seam.Transaction
	groups  int  // of tx
	changed bool // the run has changed the world
}

// Play makes the changes that were recorded, all of them: when one cannot apply, the error is a
// *PlayError that says which, the world is untouched, and the commands stay recorded. Call PlayRest
// or Clear; otherwise the next Play fails again. Afterwards the buffer is empty, or with Keep as it
// was; Play again returns ErrPlayed without. It is a structural change of the world, and its
// owner's; it panics in a loop over rows, and for a buffer that is closed or being played.
//
// When memory runs out the error is a *ecs.LimitError; room for rows is made before the first
// change of a run of commands, see docs/command.md.
func (b *Buffer) Play() error { return b.play("Buffer.Play", false) }

// PlayRest makes the changes that can apply. The error is a *PlayError that says which could not,
// with Applied set.
func (b *Buffer) PlayRest() error { return b.play("Buffer.PlayRest", true) }

func (b *Buffer) play(op string, rest bool) error {
	b.checkMade(op)
	seam.CheckChange(b.w, op) // it waits for jobs, which may record
	if !b.state.CompareAndSwap(recording, playing) {
		if b.state.Load() == played {
			return ErrPlayed
		}
		b.refuse(op)
	}
	if b.torn.Load() {
		b.clear()
		b.state.Store(recording)
		return fmt.Errorf("command: %s: nothing was changed, and what was recorded is dropped: %w", op, ErrTorn)
	}
	after := int32(recording)
	p := &b.player
	defer func() {
		p.end()
		b.state.Store(after)
	}()
	p.begin()
	if err := p.check(place{}); err != nil {
		return fmt.Errorf("command: %s: %w", op, err)
	}
	if p.failed > 0 && !rest {
		return p.failure(false)
	}
	runs, err := p.apply()
	if (err == nil || runs > 0) && len(p.segments) > 0 && !b.keep {
		after = played
	}
	switch {
	case err == nil:
		return p.failure(true)
	case runs > 0:
		return fmt.Errorf("command: %s: after %d runs of commands, which are applied; the others are not: %w", op, runs, err)
	}
	return fmt.Errorf("command: %s: nothing was changed: %w", op, err)
}

// apply does what check has worked out, and returns how many runs it has changed the world by.
// Before a run that check was not sure of, the commands that are left are checked again, in the
// world as it is by then.
func (p *player) apply() (runs int, err error) {
	for i := 0; i < len(p.runs); i++ {
		r := p.runs[i]
		if r.unsure {
			p.failures, p.failed = p.failures[:r.failures], r.failed
			p.restart()
			if err := p.check(r.from); err != nil {
				return runs, err
			}
			i, r = 0, p.runs[0]
			for n := range p.nodes {
				p.nodes[n].run = -1
			}
		}
		p.sortSubjects(&r, int32(i))
		if err := p.reserve(); err != nil {
			return runs, err
		}
		p.work.changed = false
		err := p.applyRun()
		if p.work.changed {
			runs++
		}
		if err == nil {
			err = p.applyQuery(&r)
		}
		if err != nil {
			return runs, err
		}
		if r.query != nil && !p.work.changed {
			runs++
		}
	}
	return runs, nil
}

// reserve says what is to become of each group of a run, and makes room for it.
func (p *player) reserve() error {
	w := &p.work
	seam.Begin(&w.tx, p.b.w, "Buffer.Play")
	for _, n := range w.touched {
		path, nd := p.path(n), &p.nodes[n]
		root := p.rootOf(n, path)
		nd.group = -1
		switch {
		case p.unseen(root, nd):
			p.leaveOut(n)
			continue
		case root.copied && root.created:
			out := &nd.out
			if nd.at == nil {
				out = &root.out // the members of its group may stay
			}
			seam.Copy(&w.tx, p.real(root.source), out, int(nd.count))
		case root.created:
			seam.Create(&w.tx, &nd.out, int(nd.count))
		case seam.Stays(&nd.out):
			continue
		default:
			seam.Move(&w.tx, p.entitiesOf(n), &nd.out)
		}
		nd.group = w.groups
		w.groups++
	}
	return seam.Reserve(&w.tx)
}

// leaveOut makes nothing of the placeholders of a group.
func (p *player) leaveOut(n int32) {
	for _, s := range p.subjectsOf(n) {
		number, _ := seam.Number(p.subjects.e[s])
		p.work.gone[number] = true
	}
	p.nodes[n].count = 0
}

// applyRun plays the subjects of one run, for which reserve has made room: first copies, which see
// the world as it is before, and what is created, then what each other group of subjects becomes;
// at last what needs all entities.
func (p *player) applyRun() error {
	w := &p.work
	w.heirs = w.heirs[:0]
	for _, n := range w.touched {
		p.noteHeirs(n)
	}
	for _, copied := range [...]bool{true, false} {
		for _, n := range w.touched {
			if root := p.rootOf(n, p.path(n)); root.created && root.copied == copied && p.nodes[n].group >= 0 {
				p.make(n, copied)
			}
		}
	}
	for _, n := range w.touched {
		if root := p.rootOf(n, p.path(n)); !root.created && p.nodes[n].group >= 0 {
			p.move(n)
		}
	}
	seam.Finish(&w.tx)
	_, err := seam.Destruction(p.b.w).ApplyList(w.heirs) // it may lack room for what Cleanup leaves of members
	for _, n := range w.touched {
		p.spread(n)
	}
	for _, n := range w.touched {
		p.patch(n)
	}
	return err
}

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

// alike returns how many of the first of a list are equal.
func alike(list []int32) int32 {
	n := 1
	for n < len(list) && list[n] == list[0] {
		n++
	}
	return int32(n)
}

// resolve finds the entities of placeholders that were made by runs before, and makes the run's
// subjects the last ones of their entities.
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

// unseen reports whether entities are made and destroyed by the same run, and nobody sees them. The
// members of a copied group may stay when the copy ends as a member of another.
func (p *player) unseen(root, nd *node) bool {
	return root.created && nd.at == nil && !(root.copied && root.at.Has(p.group))
}

// make makes the entities of a group, copies of another or new ones, and writes the values of new
// ones.
func (p *player) make(n int32, copied bool) {
	nd := &p.nodes[n]
	batch, group := seam.Run(&p.work.tx, nd.group), p.subjectsOf(n)
	p.born(group, batch)
	if !copied {
		p.fill(n, p.path(n), batch)
		return
	}
	made := batch.Entities(p.work.list[:0])
	p.work.list = made
	if nd.at == nil {
		p.work.heirs = append(p.work.heirs, made[:len(group)]...)
	}
	if p.destroysGroup(n) {
		p.work.heirs = append(p.work.heirs, made[len(group):]...)
	}
}

// move moves the entities of a group, or ends them, and writes the values of those that are there
// still.
func (p *player) move(n int32) {
	batch := seam.Run(&p.work.tx, p.nodes[n].group)
	p.work.changed = true
	if batch.Len() > 0 {
		p.sortAs(n, batch)
		p.fill(n, p.path(n), batch)
	}
}

// noteHeirs notes the members of groups whose entities the run destroys, as they are in the world:
// copies are among them, that no command can be about. Members that the run adds have subjects.
func (p *player) noteHeirs(n int32) {
	if root := p.rootOf(n, p.path(n)); root.created || !p.destroysGroup(n) {
		return
	}
	for _, s := range p.subjectsOf(n) {
		for _, m := range p.group.Slice(p.subjects.e[s]) {
			if p.b.w.Alive(m.Entity) && m.Entity != p.subjects.e[s] {
				p.work.heirs = append(p.work.heirs, m.Entity)
			}
		}
	}
}

// destroysGroup reports whether the program of a group destroys its entities, not as members of
// another group, while they have the members that they began with.
func (p *player) destroysGroup(n int32) bool {
	for _, m := range p.path(n) {
		nd := &p.nodes[m]
		before, one := &p.nodes[nd.parent], &p.ops[nd.op]
		switch {
		case before.at == nil || !before.at.Has(p.group) || one.t == ecs.Type(p.group) && one.kind != appendTo:
			return false
		case one.kind == destroy && !one.member:
			return true
		}
	}
	return false
}

// born gives the subjects of placeholders the entities that a batch begins with.
func (p *player) born(group []int32, batch ecs.Batch) {
	for rows := range batch.Rows() {
		list := rows.Entities()
		list = list[:min(len(list), len(group))]
		last := 0
		for _, e := range list {
			last = max(last, e.Index())
		}
		p.know(last)
		for i, e := range list {
			s := group[i]
			number, _ := seam.Number(p.subjects.e[s])
			p.subjects.e[s], p.work.made[number], p.latest[e.Index()] = e, e, s
		}
		group = group[len(list):]
	}
	p.work.changed = true
}

// destroy destroys the entities that match a query, and the members of their groups.
func (p *player) destroy(q *ecs.Query) (err error) {
	defer func() {
		if r := recover(); r != nil {
			limit, ok := r.(*ecs.LimitError)
			if !ok {
				panic(r)
			}
			err = limit
		}
	}()
	p.b.w.DestroyQuery(q)
	return nil
}

// applyQuery does what a command about a query does.
func (p *player) applyQuery(r *run) error {
	if r.query == nil {
		return nil
	}
	one, c := &p.ops[r.op], p.codecs[r.op]
	q := one.query
	switch one.kind {
	case destroy:
		return p.destroy(q)
	case enable:
		one.t.(toggled).EnableQuery(q)
		return nil
	case disable:
		one.t.(toggled).DisableQuery(q)
		return nil
	}
	if !one.valued || one.shared && one.kind != set {
		_, err := one.change.ApplyQuery(q)
		return err
	}
	if one.kind == add { // those that lack it are those that move
		batch, err := one.change.ApplyQuery(q)
		if err != nil {
			return err
		}
		p.work.list = batch.Entities(p.work.list[:0])
		if c.fills() {
			for rows := range batch.Rows() {
				c.fill(rows, p.repeated(r.query, rows.Len()))
			}
		}
	} else if err := p.reach(one, q); err != nil || one.shared {
		return err
	}
	list := p.work.list
	p.peak.list = max(p.peak.list, len(list))
	if one.kind != add || !c.fills() {
		values := p.repeated(r.query, len(list))
		for at := 0; at < len(list); {
			done, err := c.spread(one.kind, list[at:], values.from(at))
			if at += done; err != nil {
				p.failLate(r.query, one, list[at], err)
				at++
			}
		}
	}
	if r.query.flags&linked != 0 {
		for _, e := range list {
			c.patch(e, p.work.made)
		}
	}
	return nil
}

// reach finds the entities that a Put, Set or Append by a query is about, and gives them the type
// where they may lack it, or their shared value.
func (p *player) reach(one *op, q *ecs.Query) error {
	p.work.list = q.Entities(p.work.list[:0])
	if one.kind != put {
		p.work.list = slices.DeleteFunc(p.work.list, func(e ecs.Entity) bool {
			place, _ := p.b.w.Locate(e)
			return !place.Archetype.Has(one.t)
		})
	}
	if one.change == nil {
		return nil
	}
	_, err := one.change.ApplyList(p.work.list)
	return err
}

// repeated returns n times the value of a record.
func (p *player) repeated(r *record, n int) source {
	values := p.work.values[:0]
	for range n {
		values = append(values, r.valueAt(p.base))
	}
	p.work.values = values
	return source{p.base, values, p.work.made}
}
