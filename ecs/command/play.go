package command

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/entity"
)

// Files of the package:
//
//	to find out                                    look into
//	what a command is in memory                    commandrecord.go, op.go, codec.go, stream.go
//	in which order commands are played             stream.go: before, inOrder
//	who may record, and when                       buffer.go: Part, Parallel, wake
//	how commands are recorded                      writer.go, target.go; bundle.go; component.go and others by kind
//	how they are checked                           check.go, checkblock.go, pattern.go, stale.go, entitystate.go
//	what they make of entities                     program.go, subject.go, subjectgroup.go
//	how they are applied                           play.go, player.go, fill.go, query.go
//	the text of an error                           failure.go

// Play makes all recorded changes. If a command cannot apply, the error is a *PlayError that names
// it, the world is unchanged, and the commands stay recorded. Call PlayRest or Clear; otherwise the
// next Play fails again. After a success the buffer is empty, or unchanged if made with Keep. Play
// of an empty buffer does nothing. Play is a structural change and belongs to the world's owner. It
// panics in a loop over rows, and if the buffer is closed or being played.
//
// If memory runs out, the error wraps a *ecs.LimitError. Each run of commands reserves room for its
// rows before its first change; see docs/semantics.md.
func (b *Buffer) Play() error { return b.play("Buffer.Play", false) }

// PlayRest makes the changes that can be made. The error is a *PlayError with Applied set that
// names the commands that could not apply.
func (b *Buffer) PlayRest() error { return b.play("Buffer.PlayRest", true) }

func (b *Buffer) play(op string, rest bool) error {
	b.checkMade(op)
	door.CheckChange(b.w, op) // completes jobs, which may record
	if !b.state.CompareAndSwap(recording, playing) {
		if b.state.Load() == played {
			return nil
		}
		b.refuse(op)
	}
	b.stream.quick = 0
	if b.torn.Load() {
		b.clear()
		b.state.Store(recording)
		return fmt.Errorf("command: %s: nothing was changed, and what was recorded is dropped: %w", op, ErrTorn)
	}
	after := int32(recording)
	p := &b.player
	defer func() {
		p.end()
		if after == played {
			b.recordings.Forget(&b.recording)
		}
		b.state.Store(after)
	}()
	p.begin(b.w, b.streams, int(b.numbers.Load()))
	p.findStale(b.recordings.Judges(&b.recording))
	if err := p.check(place{}); err != nil {
		return fmt.Errorf("command: %s: %w", op, err)
	}
	if p.failed > 0 && !rest {
		return p.failure(op, false)
	}
	runs, err := p.apply()
	if (err == nil || runs > 0) && len(p.segments) > 0 && !b.keep {
		after = played
	}
	switch {
	case err == nil:
		return p.failure(op, true)
	case runs > 0:
		return fmt.Errorf("command: %s: after %d runs of commands, which are applied; the others are not: %w",
			op, runs, err)
	}
	return fmt.Errorf("command: %s: nothing was changed: %w", op, err)
}

// apply makes the changes that check has worked out, and returns the number of runs that changed
// the world. Before a run that check was unsure of, it checks the remaining commands again, in the
// world as it is then.
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

// reserve adds each group of a run to the transaction, and makes room for all of them.
func (p *player) reserve() error {
	w := &p.work
	w.tx.Begin(door.World(p.w), "Buffer.Play")
	for _, n := range w.touched {
		path, nd := p.path(n), &p.nodes[n]
		root := p.rootOf(n, path)
		nd.group = -1
		p.expect(path, int(nd.count))
		switch {
		case p.unseen(root, nd):
			p.leaveOut(n)
			continue
		case root.copied && root.created:
			out := &nd.out
			if nd.at == nil {
				out = &root.out // members of the copied group may stay
			}
			w.tx.Copy(entity.ID(p.real(root.source)), out, int(nd.count))
		case root.created:
			w.tx.Create(&nd.out, int(nd.count))
		case nd.out.Stays():
			continue
		default:
			w.tx.Move(door.IDs(p.entitiesOf(n)), &nd.out)
		}
		nd.group = w.groups
		w.groups++
	}
	return w.tx.Reserve()
}

// expect announces the entries that a program gives its n entities.
func (p *player) expect(path []int32, n int) {
	for _, m := range path {
		one := &p.ops[p.nodes[m].op]
		if one.sparse && (one.kind == add || one.kind == put || one.kind == apply) {
			p.work.tx.ExpectChange(door.Change(one.change), n)
		}
	}
}

// leaveOut marks the placeholders of a group as never made.
func (p *player) leaveOut(n int32) {
	for _, s := range p.subjectsOf(n) {
		number, _ := door.Number(p.subjects.e[s])
		p.work.gone[number] = true
	}
	p.nodes[n].count = 0
}

// applyRun plays the subjects of one run, for which reserve has made room. Copies come first, since
// they see the world as it was before the run. Then come created entities, then all other groups.
// Steps that need all entities come last.
func (p *player) applyRun() error {
	w := &p.work
	w.heirs, w.late = w.heirs[:0], w.late[:0]
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
	w.tx.Finish()
	_, err := door.Destruction(p.w).ApplyList(w.heirs) // may lack room for members that keep Cleanup types
	for _, n := range w.touched {
		p.spread(n)
	}
	if p.named {
		for _, n := range w.touched {
			p.patch(n)
		}
	}
	return err
}

// unseen reports whether a run both makes and destroys entities that nothing can observe. A copy
// with a group is excluded: its members may stay if it is destroyed as a member of another group.
func (p *player) unseen(root, nd *node) bool {
	return root.created && nd.at == nil && !(root.copied && root.at.Has(p.linkedType))
}

// make makes the entities of a group, as copies or new ones, and writes the values of new ones.
func (p *player) make(n int32, copied bool) {
	nd := &p.nodes[n]
	batch, group := door.Batch(p.work.tx.Run(nd.group)), p.subjectsOf(n)
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

// move moves or ends the entities of a group, and writes the values of those that remain.
func (p *player) move(n int32) {
	batch := door.Batch(p.work.tx.Run(p.nodes[n].group))
	p.work.changed = true
	if batch.Len() > 0 {
		p.sortAs(n, batch)
		p.fill(n, p.path(n), batch)
	}
}

// noteHeirs notes the current members of groups that the run destroys. Some are copies, which no
// command can be about. Members that the run adds have subjects of their own.
func (p *player) noteHeirs(n int32) {
	if root := p.rootOf(n, p.path(n)); root.created || !p.destroysGroup(n) {
		return
	}
	for _, s := range p.subjectsOf(n) {
		for _, m := range p.linkedType.Slice(p.subjects.e[s]) {
			if p.w.Alive(m.Entity) && m.Entity != p.subjects.e[s] {
				p.work.heirs = append(p.work.heirs, m.Entity)
			}
		}
	}
}

// destroysGroup reports whether a program destroys its entities themselves, not as members of
// another group, while they still have the members they began with.
func (p *player) destroysGroup(n int32) bool {
	for _, m := range p.path(n) {
		nd := &p.nodes[m]
		before, one := &p.nodes[nd.parent], &p.ops[nd.op]
		switch {
		case before.at == nil || !before.at.Has(p.linkedType) ||
			one.t == ecs.Type(p.linkedType) && one.kind != appendTo:
			return false
		case one.kind == destroy && !one.member:
			return true
		}
	}
	return false
}

// born assigns the first entities of a batch to the placeholders of a group's subjects. Later runs
// note the subjects that they have of them: see resolve.
func (p *player) born(group []int32, batch ecs.Batch) {
	for rows := range batch.Rows() {
		list := rows.Entities()
		list = list[:min(len(list), len(group))]
		for i, e := range list {
			s := group[i]
			number, _ := door.Number(p.subjects.e[s])
			p.subjects.e[s], p.work.made[number] = e, e
		}
		group = group[len(list):]
	}
	p.work.changed, p.work.born = true, true
}
