package command

import (
	"slices"

	"quarry/ecs"
)

// Room for what a run brings to archetypes, made before its first change.

// move brings entities to an archetype: they adopt it, or come there by a change.
type move struct {
	to *ecs.Archetype // nil: they end
	by *ecs.Change    // nil: adopted
}

// movesOf returns how entities go along their path as far as one move does not do: through
// destruction, and to where a type is gone that comes anew.
func (p *player) movesOf(path []int32, now *ecs.Archetype) ([]move, error) {
	moves := p.work.moves[:0]
	for _, m := range path {
		nd := &p.nodes[m]
		before, one := &p.nodes[nd.parent], &p.ops[nd.op]
		dies := nd.ended && !before.ended
		first := nd.stop && !nd.ended
		if dies {
			left, err := one.change.Target(now)
			if err != nil {
				return nil, err
			}
			first = left != nd.at // Cleanup types came or went before
		}
		if first && before.at != now {
			moves, now = append(moves, move{to: before.at}), before.at
		}
		if dies || nd.ended && nd.at != before.at { // members of a group have stints of their own
			moves = append(moves, move{nd.at, one.change})
		}
		if nd.ended {
			now = nd.at
		}
		if now == nil {
			break
		}
	}
	p.work.moves = moves
	return moves, nil
}

// bornAs returns the archetype that entities are created with: what they have at the end of
// their path, or before they are destroyed on it.
func (p *player) bornAs(path []int32, now *ecs.Archetype) *ecs.Archetype {
	for _, m := range path {
		if p.nodes[m].ended {
			break
		}
		now = p.nodes[m].at
	}
	return now
}

// makeRoom makes sure that there is room for the rows of all groups, wherever they pass, when
// there are several moves: one alone is all or nothing by itself.
func (p *player) makeRoom() error {
	w, steps, entities := &p.work, 0, 0
	if w.rooms == nil {
		w.rooms = map[*ecs.Archetype]int{}
	}
	w.room = w.room[:0]
	for _, n := range w.touched {
		path := p.path(n)
		nd, root := &p.nodes[n], p.rootOf(n, path)
		now := root.at
		switch {
		case p.unseen(root, nd):
			continue
		case root.copied && root.created:
			steps++
			entities += p.copiesRoom(root, int(nd.count))
		case root.created:
			now = p.bornAs(path, now)
			p.coming(now, int(nd.count))
			steps++
			entities += int(nd.count)
		}
		moves, err := p.movesOf(path, now)
		if err != nil {
			return err
		}
		for _, m := range moves {
			p.coming(m.to, int(nd.count))
			now = m.to
		}
		steps += len(moves)
		if nd.at != now {
			p.coming(nd.at, int(nd.count))
			steps++
		}
	}
	clear(w.rooms)
	if steps < 2 {
		return nil
	}
	return p.b.w.HasRoom(w.room, entities)
}

// copiesRoom notes what n copies bring, those of the members of a group too, and returns how many
// entities that is.
func (p *player) copiesRoom(root *node, n int) (entities int) {
	source := p.real(root.source)
	p.copying(source, root.at, n)
	if !root.at.Has(p.group) {
		return n
	}
	list := p.work.list[:0]
	for _, m := range p.group.Slice(source) {
		list = append(list, m.Entity)
	}
	slices.SortFunc(list, ecs.Entity.Compare)
	p.work.list = slices.Compact(list) // each is copied once
	for _, m := range p.work.list {
		if place, ok := p.b.w.Locate(m); ok && m != source && !place.Archetype.Has(p.dying) {
			if to, err := place.Archetype.Copies(); err == nil {
				p.copying(m, to, n)
				entities += n
			}
		}
	}
	return n + entities
}

// copying notes that n copies of an entity come to an archetype.
func (p *player) copying(source ecs.Entity, to *ecs.Archetype, n int) {
	if n > 0 {
		p.work.room = append(p.work.room, ecs.Room{Archetype: to, Rows: n, Of: source})
	}
}

// coming notes that rows come to an archetype, nil: to none.
func (p *player) coming(to *ecs.Archetype, n int) {
	if to == nil || n == 0 {
		return
	}
	w := &p.work
	i, ok := w.rooms[to]
	if !ok {
		i = len(w.room)
		w.rooms[to] = i
		w.room = append(w.room, ecs.Room{Archetype: to})
	}
	w.room[i].Rows += n
}
