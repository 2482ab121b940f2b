package command

import (
	"quarry/ecs"
	"quarry/internal/seam"
)

// Programs: what the commands about one entity do, worked out once for all entities with the
// same commands. They are a tree; see buffer.go.

// node is a program: that of its parent and one command more.
type node struct {
	parent  int32 // -1: a root
	op      int32 // of the player, that leads here
	depth   int32 // commands from the root
	lastOp  int32 // the op that was asked for last, and where it leads; -1: none yet
	last    int32
	run     int32          // that it was counted in last
	filled  bool           // the values of that run are written
	count   int32          // subjects of that run that end here
	group   int            // of the run's transaction; -1: none
	first   int32          // the first of them in work.order
	created bool           // roots: the entity is made by this run
	out     seam.Outcome   // what the commands make of the entities
	at      *ecs.Archetype // what the entities have then, of out; nil: they have ended
	source  ecs.Entity     // roots of copies: what is copied, with placeholders resolved when it is played
	copied  bool
	ended   bool // the entity was destroyed, though Cleanup types may be left of it
}

// edge is a node and an op.
type edge struct{ node, op int32 }

// rootKey is what makes roots different.
type rootKey struct {
	at      *ecs.Archetype
	source  ecs.Entity // that copies are made of; at is its archetype
	created bool
	ended   bool
}

// root returns the root of entities that have an archetype, or are copies of one that has it.
func (p *player) root(key rootKey) (int32, error) {
	if p.lastRoot >= 0 && p.lastKey == key {
		return p.lastRoot, nil
	}
	n, ok := p.roots[key]
	if !ok {
		out, copied := seam.OutcomeOf(key.at), key.source != ecs.Null
		if copied {
			var err error
			if out, err = seam.OutcomeOfCopies(key.at); err != nil {
				return 0, err
			}
		}
		n = int32(len(p.nodes))
		p.nodes = append(p.nodes, node{parent: -1, op: -1, lastOp: -1, run: -1, out: out, at: seam.At(&out),
			created: key.created, source: key.source, copied: copied, ended: key.ended})
		p.roots[key] = n
	}
	p.lastRoot, p.lastKey = n, key
	return n, nil
}

// step returns the node that an op leads to: the same one when it changes nothing. A negative
// one is the reason why the op cannot apply.
func (p *player) step(n, o int32) (int32, error) {
	nd := &p.nodes[n]
	if nd.lastOp == o {
		return nd.last, nil
	}
	to, ok := p.edges[edge{n, o}]
	if !ok {
		var err error
		if to, err = p.lead(n, o); err != nil {
			return 0, err
		}
		p.edges[edge{n, o}] = to
		nd = &p.nodes[n] // it may have moved
	}
	nd.lastOp, nd.last = o, to
	return to, nil
}

// lead works out where an op leads from a node.
func (p *player) lead(n, o int32) (int32, error) {
	nd, one := &p.nodes[n], &p.ops[o]
	if nd.at == nil {
		if one.kind == destroy || one.kind == remove {
			return n, nil
		}
		return -int32(isDestroyed), nil
	}
	needs := one.kind == set || one.kind == appendTo || one.kind == enable || one.kind == disable
	has := one.t != nil && nd.at.Has(one.t)
	switch {
	case needs && !has:
		return -int32(lacksType), nil
	case one.kind == add && has, one.kind == remove && !has, one.kind == destroy && nd.ended:
		return n, nil
	}
	child := node{parent: n, op: o, depth: nd.depth + 1, lastOp: -1, run: -1, out: nd.out, at: nd.at, ended: nd.ended}
	if c := one.change; c != nil && !(one.kind == put && has && !one.shared) {
		out, err := seam.After(nd.out, c)
		if err != nil {
			return 0, err
		}
		if seam.At(&out) == nd.at {
			return n, nil // nothing comes and nothing goes
		}
		child.out, child.at = out, seam.At(&out)
		child.ended = nd.ended || one.kind == destroy
	}
	p.nodes = append(p.nodes, child)
	return int32(len(p.nodes)) - 1, nil
}

// path returns the nodes from below the root to n.
func (p *player) path(n int32) []int32 {
	depth := int(p.nodes[n].depth)
	if cap(p.way) < depth {
		p.way = make([]int32, depth, 2*depth)
	}
	p.way = p.way[:depth]
	for i := depth - 1; i >= 0; i-- {
		p.way[i] = n
		n = p.nodes[n].parent
	}
	return p.way
}

// rootOf returns the root of a node's program; path must have been asked for it.
func (p *player) rootOf(n int32, path []int32) *node {
	if len(path) > 0 {
		n = p.nodes[path[0]].parent
	}
	return &p.nodes[n]
}

// counts reports whether what the i'th command of a path writes is there at the end: the type
// stays, and nothing later writes the same.
func (p *player) counts(path []int32, i int) bool {
	l := &p.lasts
	if last := path[len(path)-1]; l.node != last {
		l.find(p, path)
		l.node = last
	}
	return l.counts[i]
}

// lasts is what counts of the commands of a program, found from the last to the first.
type lasts struct {
	node   int32 // where the program ends; -1: none yet
	counts []bool
	types  []lastOf // by index of the type
	turn   int32    // of find
}

// lastOf is what is known of a type behind a command.
type lastOf struct {
	turn         int32 // of find that this is of
	gone         int32 // the last command after which the type is not there; -1: none
	values, bits bool  // written by a command behind
}

// find fills in counts. It goes through the path once more for each type.
func (l *lasts) find(p *player, path []int32) {
	l.counts = zeroed(l.counts, len(path))
	l.turn++
	for i := len(path) - 1; i >= 0; i-- {
		one := &p.ops[p.nodes[path[i]].op]
		if one.t == nil || one.shared || one.kind == remove || one.kind == add && !one.valued {
			continue
		}
		t := l.of(p, one.t, path)
		bits := one.kind == enable || one.kind == disable
		l.counts[i] = int32(i) > t.gone && !(bits && t.bits || !bits && t.values)
		t.bits = t.bits || bits
		t.values = t.values || one.kind == add || one.kind == put || one.kind == set
	}
}

// of returns what is known of a type.
func (l *lasts) of(p *player, t ecs.Type, path []int32) *lastOf {
	index := seam.TypeIndex(p.b.w, t)
	for len(l.types) <= index {
		l.types = append(l.types, lastOf{})
	}
	one := &l.types[index]
	if one.turn == l.turn {
		return one
	}
	*one = lastOf{turn: l.turn, gone: int32(len(path)) - 1}
	for ; one.gone >= 0; one.gone-- {
		if at := p.nodes[path[one.gone]].at; at == nil || !at.Has(t) {
			break
		}
	}
	return one
}
