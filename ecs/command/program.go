package command

import (
	"slices"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/edit"
)

// What the commands about an entity do is worked out once for all entities with the same commands.
//
// Terminology
//
//	op        what a command does, without its entity and value (op.go); equal ops have one number
//	node      the end of a program: the archetype of its entities then, nil if they are destroyed
//	root      a node where programs begin: the archetype of entities before a run. Entities that the
//	          run creates begin at another root, and so do the copies of each entity (rootKey)
//	edge      a node and an op. It leads to another node; to the same, if the op changes nothing; or
//	          to a number below 0, the negated reason, if the op cannot apply
//	program   the ops along the path from a root to a node
//	subject   an entity in a run: the node where its program ends, and its commands (subject.go)
//	link      a command of a subject: the position of its record, and the next link
//	group     the subjects of a run that end at one node, moved and written together (subjectgroup.go)
//
// Let 1v1 and 3v1 be [Body], and 2v1 [Body Slow]. The commands Add(1v1, Hit{3}), Add(2v1, Hit{5}),
// Remove(2v1, Slow) and Add(3v1, Hit{9}) give
//
//	roots       [Body]                               [Body Slow]
//	               |                                      |
//	nodes       0 [Body]                             2 [Body Slow]
//	               | Add Hit                              | Add Hit
//	            1 [Body Hit] <------+                3 [Body Slow Hit]
//	               ^                |                     | Remove Slow
//	               |                |                4 [Body Hit]
//	               |                |                     ^
//	               | node           | node                | node
//	subjects    1: 1v1           3: 3v1              2: 2v1
//	               | first, last    | first, last         | first         | last
//	links          0                3                     1 --- next ---> 2
//	               | at             | at                  | at            | at
//	records     Add Hit{3}       Add Hit{9}          Add Hit{5}       Remove Slow
//
// Subjects 1 and 3 are a group. Node 4 is not node 1, though its archetype is the same: its
// entities get there by another path, and their values lie in other records. A player finds the
// subject of 2v1 by its index (latest), that of a placeholder by its number (placed).

// programs is the tree, with the ops that lead through it. It holds no entities, except the sources
// of copies.
type programs struct {
	w       *ecs.World
	ops     []op
	codecs  []codec
	byOp    map[op]int32
	handles []ecs.Type // by index of the type: the handle that came first, see handleOf

	nodes    []node
	edges    map[edge]int32
	roots    map[rootKey]int32
	lastPath []int32 // the result of the last call of path

	lastRoots [32]foundRoot // the last results of root, by Index of the archetype's table
	liveness  liveness
}

// node is the end of a program: the program of its parent, and one more command.
type node struct {
	parent  int32 // -1 for a root
	op      int32 // number of the player's op that leads here
	depth   int32 // number of commands from the root
	lastOp  int32 // op of the last step from here, which led to last; -1 if none yet
	last    int32
	run     int32 // last run in which it was counted
	filled  bool  // fill has written the values of that run, but for those in late
	late    lateRange
	live    int32          // where liveness has the commands of its program, + 1; 0: not found yet
	count   int32          // subjects of that run that end here
	group   int            // number of its group in the run's transaction; -1 if none
	first   int32          // index in work.order of the first subject
	created bool           // roots: the run creates the entity
	out     edit.Outcome   // of the entities, after the commands
	at      *ecs.Archetype // of out; nil if the entities are destroyed
	source  ecs.Entity     // roots of copies: the entity to copy; a placeholder is resolved when it is played
	copied  bool
	ended   bool // the entity was destroyed, though Cleanup types may be left of it
}

// edge is a node and an op.
type edge struct{ node, op int32 }

// rootKey identifies a root.
type rootKey struct {
	at      *ecs.Archetype
	source  ecs.Entity // entity to copy; at is its archetype
	created bool
	ended   bool
}

// foundRoot is a result of root, or zero: no key is.
type foundRoot struct {
	key rootKey
	n   int32
}

// numberOf returns the number of an op, and adds the op if it is new. A type may have come by
// handles of several Go types (Component[T], ComponentInfo.Type), which stand for one.
func (p *programs) numberOf(one op, c codec) int32 {
	one.t = p.handleOf(one.t)
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

// handleOf returns the handle that came first for a type, or the shared value t. So which commands
// make one op does not depend on who recorded them.
func (p *programs) handleOf(t ecs.Type) ecs.Type {
	if _, ok := t.(ecs.SharedValue); ok || t == nil {
		return t
	}
	i := door.TypeIndex(p.w, t)
	if i < 0 {
		return t
	}
	for len(p.handles) <= i {
		p.handles = append(p.handles, nil)
	}
	if p.handles[i] == nil {
		p.handles[i] = t
	}
	return p.handles[i]
}

// changeOf returns the change that an op makes, or nil.
func (p *programs) changeOf(o *op, c codec) *ecs.Change {
	w := p.w
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

// root returns the root of entities with an archetype, or of copies of an entity with it.
func (p *programs) root(key rootKey) (int32, error) {
	found := &p.lastRoots[door.Archetype(key.at).Table.Index%uint32(len(p.lastRoots))]
	if found.key == key {
		return found.n, nil
	}
	n, ok := p.roots[key]
	if !ok {
		out, copied := edit.OutcomeOf(door.Archetype(key.at)), key.source != ecs.Null
		if copied {
			var err error
			if out, err = edit.OutcomeOfCopies(door.Archetype(key.at)); err != nil {
				return 0, err
			}
		}
		n = int32(len(p.nodes))
		p.nodes = append(p.nodes, node{parent: -1, op: -1, lastOp: -1, run: -1, out: out, at: door.At(&out),
			created: key.created, source: key.source, copied: copied, ended: key.ended})
		p.roots[key] = n
	}
	*found = foundRoot{key, n}
	return n, nil
}

// step returns the node that op o leads to from node n, which is n itself if the op changes
// nothing. A negative result is the negated reason why the op cannot apply.
func (p *programs) step(n, o int32) (int32, error) {
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
		nd = &p.nodes[n] // p.nodes may have moved
	}
	nd.lastOp, nd.last = o, to
	return to, nil
}

// lead works out the result of step.
func (p *programs) lead(n, o int32) (int32, error) {
	nd, one := &p.nodes[n], &p.ops[o]
	if nd.at == nil {
		if one.kind == destroy || one.kind == remove {
			return n, nil
		}
		return -int32(hasEnded), nil
	}
	if one.sparse && nd.ended && one.kind != remove {
		return -int32(isDying), nil
	}
	needs := !one.sparse && (one.kind == set || one.kind == appendTo || one.kind == enable || one.kind == disable)
	has := one.t != nil && nd.at.Has(one.t)
	switch {
	case needs && !has:
		return -int32(lacksType), nil
	case one.kind == add && has, one.kind == remove && !has && !one.sparse, one.kind == destroy && nd.ended:
		return n, nil
	}
	child := node{parent: n, op: o, depth: nd.depth + 1, lastOp: -1, run: -1, out: nd.out, at: nd.at, ended: nd.ended}
	if c := one.change; c != nil && !(one.kind == put && has && !one.shared) {
		out, err := nd.out.After(door.Change(c))
		if err != nil {
			return 0, err
		}
		if door.At(&out) == nd.at && !one.sparse {
			return n, nil // no type is added or removed
		}
		child.out, child.at = out, door.At(&out)
		child.ended = nd.ended || one.kind == destroy
	}
	p.nodes = append(p.nodes, child)
	return int32(len(p.nodes)) - 1, nil
}

// path returns the nodes of the program that ends at n, from the child of the root to n, until the
// next call.
func (p *programs) path(n int32) []int32 {
	depth := int(p.nodes[n].depth)
	if cap(p.lastPath) < depth {
		p.lastPath = make([]int32, depth, 2*depth)
	}
	p.lastPath = p.lastPath[:depth]
	for i := depth - 1; i >= 0; i-- {
		p.lastPath[i] = n
		n = p.nodes[n].parent
	}
	return p.lastPath
}

// rootOf returns the root of node n, whose path is given.
func (p *programs) rootOf(n int32, path []int32) *node {
	if len(path) > 0 {
		n = p.nodes[path[0]].parent
	}
	return &p.nodes[n]
}

// live reports whether what the i'th command of a path writes still exists at the end: the type
// stays, and no later command overwrites it.
func (p *programs) live(path []int32, i int) bool {
	last := &p.nodes[path[len(path)-1]]
	if last.live == 0 {
		last.live = p.liveness.find(p, path) + 1
	}
	return p.liveness.live[int(last.live)-1+i]
}

// liveness holds the results of live, found from the last command of each program to the first.
type liveness struct {
	live  []bool         // of the commands of programs; node.live is where those of one begin, + 1
	types []typeLiveness // by index of the type
	turn  int32          // of find
}

// typeLiveness is find's state of a type, looking back from the end of the program.
type typeLiveness struct {
	turn         int32 // call of find that set the other fields
	gone         int32 // last command after which the type is missing; -1 if none
	values, bits bool  // written by a later command
}

// find computes the liveness of a path, and returns where it begins. It walks the path once more
// for each type.
func (l *liveness) find(p *programs, path []int32) (from int32) {
	from = int32(len(l.live))
	l.live = append(l.live, make([]bool, len(path))...)
	live := l.live[from:]
	l.turn++
	for i := len(path) - 1; i >= 0; i-- {
		one := &p.ops[p.nodes[path[i]].op]
		if one.sparse { // whether there is an entry shows only when the command is applied
			live[i] = true
			continue
		}
		if one.t == nil || one.shared || one.kind == remove || one.kind == add && !one.valued {
			continue
		}
		t := l.of(p, one.t, path)
		bits := one.kind == enable || one.kind == disable
		live[i] = int32(i) > t.gone && !(bits && t.bits || !bits && t.values)
		t.bits = t.bits || bits
		t.values = t.values || one.kind == add || one.kind == put || one.kind == set
	}
	return from
}

// of returns the entry of a type, reset if this call of find has not used it yet.
func (l *liveness) of(p *programs, t ecs.Type, path []int32) *typeLiveness {
	index := door.TypeIndex(p.w, t)
	for len(l.types) <= index {
		l.types = append(l.types, typeLiveness{})
	}
	one := &l.types[index]
	if one.turn == l.turn {
		return one
	}
	*one = typeLiveness{turn: l.turn, gone: int32(len(path)) - 1}
	var has *ecs.Archetype // the last that has the type
	for ; one.gone >= 0; one.gone-- {
		at := p.nodes[path[one.gone]].at
		if at == nil || at != has && !at.Has(t) {
			break
		}
		has = at
	}
	return one
}

// zeroed returns a slice of n zeros.
func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
