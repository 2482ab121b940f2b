package command

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// work is what playing a run needs, kept for reuse.
type work struct {
	order   []int32      // stints of the run, by node
	touched []int32      // nodes at which stints of the run end, as they came first
	made    []ecs.Entity // by number of placeholder
	gone    []bool       // placeholders that came to nothing
	list    []ecs.Entity
	values  []uint32
	cursor  []int32                // links
	steps   int                    // that the cursor has gone
	heirs   []ecs.Entity           // members of groups that are destroyed
	rooms   map[*ecs.Archetype]int // by archetype: its place in room
	room    []ecs.Room
	moves   []move
	changed bool // the run has changed the world
}

func (w *work) end() {
	clear(w.rooms)
	clear(w.room)
	clear(w.moves)
}

// Play makes the changes that were recorded, all of them: when one cannot apply, the error is
// a *PlayError that says which, the world is untouched, and the commands stay recorded:
// who goes on calls PlayRest or Clear, else the next Play fails of them too. Afterwards the
// buffer is empty, or with Keep as it was; Play again returns ErrPlayed without. It is a structural change of the world, and its owner's; it panics in a loop over
// rows, and for a buffer that is closed or being played.
//
// When memory runs out the error is a *ecs.LimitError; room for rows is made before the
// first change of a run of commands, see docs/command.md.
func (b *Buffer) Play() error { return b.play("Buffer.Play", false) }

// PlayRest makes the changes that can apply. The error is a *PlayError that says which could
// not, with Applied set.
func (b *Buffer) PlayRest() error { return b.play("Buffer.PlayRest", true) }

func (b *Buffer) play(op string, rest bool) error {
	b.checkMade(op)
	b.w.CheckChange(op) // it waits for jobs, which may record
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

// apply does what check has worked out, and returns how many runs it has changed the world by. Before a run
// that check was not sure of, the commands that are left are checked again, in the world as it
// is by then.
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
		p.sortStints(&r, int32(i))
		if err := p.makeRoom(); err != nil {
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

// applyRun plays the stints of one run: first copies, which see the world as it is before,
// then what each group of stints becomes, and its values; at last what needs all entities.
func (p *player) applyRun() error {
	for _, n := range p.work.touched {
		if err := p.copies(n); err != nil {
			return err
		}
	}
	p.work.heirs = p.work.heirs[:0]
	for _, n := range p.work.touched {
		p.noteHeirs(n)
	}
	for _, n := range p.work.touched {
		if err := p.settle(n); err != nil {
			return err
		}
	}
	if _, err := p.b.w.Destruction().ApplyList(p.work.heirs); err != nil {
		return err
	}
	for _, n := range p.work.touched {
		p.spread(n)
	}
	for _, n := range p.work.touched {
		p.patch(n)
	}
	return nil
}

// sortStints orders the stints of a run by node.
func (p *player) sortStints(r *run, number int32) {
	w := &p.work
	w.touched = w.touched[:0]
	if len(p.runs) > 1 || len(p.placed) > 0 {
		p.resolve(r)
	}
	// Neighbours mostly end at the same node.
	list := p.stints.node[r.first:r.end]
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

// resolve finds the entities of placeholders that were made by runs before, and makes the
// run's stints the last ones of their entities.
func (p *player) resolve(r *run) {
	for s := r.first; s < r.end; s++ {
		e := p.real(p.stints.e[s])
		if p.stints.e[s] = e; len(p.runs) > 1 && !e.IsPlaceholder() {
			p.note(e, s)
		}
	}
}

// stintsOf returns the stints of a group.
func (p *player) stintsOf(n int32) []int32 {
	nd := &p.nodes[n]
	return p.work.order[nd.first : nd.first+nd.count]
}

// entitiesOf returns the entities of a group.
func (p *player) entitiesOf(n int32) []ecs.Entity {
	list := p.work.list[:0]
	for _, s := range p.stintsOf(n) {
		list = append(list, p.stints.e[s])
	}
	p.work.list, p.peak.list = list, max(p.peak.list, len(list))
	return list
}

// unseen reports whether entities are made and destroyed by the same run, and nobody sees them. The
// members of a copied group may stay when the copy ends as a member of another.
func (p *player) unseen(root, nd *node) bool {
	return root.created && nd.at == nil && !(root.copied && root.at.Has(p.group))
}

// copies makes the entities of a group that are copies of another. Those that are unseen come to
// nothing, copies or not.
func (p *player) copies(n int32) error {
	root, nd := p.rootOf(n, p.path(n)), &p.nodes[n]
	if p.unseen(root, nd) {
		for _, s := range p.stintsOf(n) {
			number, _ := p.stints.e[s].Placeholder()
			p.work.gone[number] = true
		}
		nd.count = 0
	}
	if !root.copied || !root.created || nd.count == 0 {
		return nil
	}
	source := p.real(root.source)
	group := p.stintsOf(n)
	batch, err := p.b.w.InstantiateN(source, len(group))
	if err != nil {
		return err
	}
	p.born(group, batch)
	return nil
}

// noteHeirs notes the members of groups whose entities the run destroys, as they are in the
// world: copies are, that no command can be about. Members that the run adds have stints.
func (p *player) noteHeirs(n int32) {
	path := p.path(n)
	if root := p.rootOf(n, path); root.created && !root.copied {
		return
	}
	for _, m := range path {
		nd := &p.nodes[m]
		before, one := &p.nodes[nd.parent], &p.ops[nd.op]
		if before.at == nil || !before.at.Has(p.group) || one.t == ecs.Type(p.group) && one.kind != appendTo {
			return
		}
		if one.kind != destroy || one.member {
			continue
		}
		for _, s := range p.stintsOf(n) {
			for _, m := range p.group.Slice(p.stints.e[s]) {
				if p.b.w.Alive(m.Entity) && m.Entity != p.stints.e[s] {
					p.work.heirs = append(p.work.heirs, m.Entity)
				}
			}
		}
		return
	}
}

// born gives the stints of placeholders the entities that a batch begins with.
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
			number, _ := p.stints.e[s].Placeholder()
			p.stints.e[s], p.work.made[number], p.latest[e.Index()] = e, e, s
		}
		group = group[len(list):]
	}
	p.work.changed = true
}

// settle makes the entities of a group what they are at the end.
func (p *player) settle(n int32) error {
	path := p.path(n)
	root, nd := p.rootOf(n, path), &p.nodes[n]
	now := root.at
	if nd.count == 0 {
		return nil
	}
	if root.created && !root.copied {
		now = p.bornAs(path, now)
		batch, err := now.CreateN(len(p.stintsOf(n)))
		if err != nil {
			return err
		}
		p.born(p.stintsOf(n), batch)
		if now == nd.at {
			p.fill(n, path, batch)
			return nil
		}
	}
	if now == nd.at && !nd.ended && !p.stops(path) {
		return nil
	}
	list := p.entitiesOf(n)
	now, err := p.through(path, now, list)
	if err != nil || now == nil || now == nd.at {
		return err
	}
	batch, err := nd.at.AdoptList(list)
	if err != nil {
		return err
	}
	p.work.changed = true
	if batch.Len() == len(list) {
		p.sortAs(n, batch)
		p.fill(n, path, batch)
	}
	return nil
}

func (p *player) stops(path []int32) bool {
	for _, m := range path {
		if p.nodes[m].stop {
			return true
		}
	}
	return false
}

// through takes entities along their path as far as one move does not do. It returns what
// they are then.
func (p *player) through(path []int32, now *ecs.Archetype, list []ecs.Entity) (*ecs.Archetype, error) {
	moves, err := p.movesOf(path, now)
	if err != nil {
		return nil, err
	}
	for _, m := range moves {
		if m.by != nil {
			_, err = m.by.ApplyList(list)
		} else {
			_, err = m.to.AdoptList(list)
		}
		if err != nil {
			return nil, err
		}
		now, p.work.changed = m.to, true
	}
	return now, nil
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

// reach finds the entities that a Put, Set or Append by a query is about, and gives them the
// type where they may lack it, or their shared value.
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
