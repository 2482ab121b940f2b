package hierarchy

import "quarry/ecs"

// Place is where a row lies: in the chunk of the n-th rows that a loop over the query yields.
type Place struct{ Chunk, Row int32 }

// Run is siblings, or entities of level 0, in the order of positions, whose rows are adjacent:
// rows At.Row to At.Row+Len of chunk At.Chunk, at positions Position to Position+Len. Up is where
// the row of their parent lies; its chunk is -1 in level 0.
type Run struct {
	At, Up        Place
	Len, Position int32
}

// Levels lists the rows of a query's entities, parents before children, so that a loop goes from a
// row to the parent's without an id:
//
//	position   0      1      2      3      4          level 0: position 0; 1: 1, 2; 2: 3, 4
//	nodes    0:17   0:18    1:3   0:20   0:21         chunk and row
//	parents   -1      0      0      1      1          position
//	firsts     1      3      5      5      5      5   children of i lie from firsts[i] to firsts[i+1]
//	runs     0:17   0:18    1:3   0:20             first row; the last run has positions 3 and 4
//
// An entity whose parent the query does not match counts as one without a parent. Entities in a
// cycle, which only writes around the Hierarchy make, are left out.
//
// A Levels belongs to the world's owner. Its slices are read-only, and are valid until a Refresh
// that makes them anew.
type Levels struct {
	h        *Hierarchy
	query    *ecs.Query
	moved    *ecs.Query // chunks of the query whose rows or links have changed since they were looked at
	count    int        // of the query's entities then; -1: nobody has looked
	where    []Place    // by entity index: while they are made, chunk plus 1 and row, then 1 and the position; 0: none
	entities []ecs.Entity
	nodes    []Place
	parents  []int32
	firsts   []int32 // one more than there are nodes
	runs     []Run
	starts   []int // of the levels, and the end
}

// NewLevels returns the levels of the entities that match the terms of a query, which Levels.Query
// returns. Terms about enable bits are not for it, for what they match changes without a change of
// rows. It panics like ecs.NewQuery.
func (h *Hierarchy) NewLevels(terms ...ecs.Term) *Levels {
	query := ecs.NewQuery(h.world, terms...)
	links := []ecs.Term{ecs.Changed(h.parent, h.children), ecs.Ordered()}
	return &Levels{
		h: h, query: query, moved: ecs.NewQuery(h.world, append(terms[:len(terms):len(terms)], links...)...), count: -1,
	}
}

// Query returns the query of the levels. The n-th rows of a loop over it are chunk n.
func (l *Levels) Query() *ecs.Query { return l.query }

// Close removes the queries from the world.
func (l *Levels) Close() {
	l.query.Close()
	l.moved.Close()
}

// Columns appends to dst a component of each chunk, as slices that are valid until the next
// structural change. It marks them changed if the query declares Write, and appends nil for chunks
// without the type.
func Columns[T any](l *Levels, c ecs.Component[T], dst [][]T) [][]T {
	if l == nil {
		panic("hierarchy: Columns: the levels are nil")
	}
	for rows := range l.query.Rows() {
		dst = append(dst, c.Slice(rows))
	}
	return dst
}

// Nodes returns where the rows lie, level by level; children of one parent are adjacent, in order.
func (l *Levels) Nodes() []Place { return l.nodes }

// Entities returns the entities of the nodes.
func (l *Levels) Entities() []ecs.Entity { return l.entities }

// Parents returns the position of each node's parent, and -1 for those of level 0.
func (l *Levels) Parents() []int32 { return l.parents }

// Runs returns the nodes as runs, level by level. If rows lie in the order of levels, a run is all
// children of a parent; if they lie at random, it is one node. 24 bytes a run.
func (l *Levels) Runs() []Run { return l.runs }

// Children returns the positions of the children of the node at a position: from lo on, up to hi.
func (l *Levels) Children(position int) (lo, hi int) {
	return int(l.firsts[position]), int(l.firsts[position+1])
}

// Len returns the number of levels.
func (l *Levels) Len() int { return max(len(l.starts)-1, 0) }

// Level returns the positions of a level: from lo on, up to hi.
func (l *Levels) Level(n int) (lo, hi int) { return l.starts[n], l.starts[n+1] }

// Position returns the position of an entity, or -1 if the query had no such entity at the last
// Refresh.
func (l *Levels) Position(e ecs.Entity) int {
	if i := e.Index(); i < len(l.where) && l.where[i].Chunk > 0 {
		if p := int(l.where[i].Row); l.entities[p] == e {
			return p
		}
	}
	return -1
}

// Refresh makes the levels anew if links or rows of the query's entities have changed since, and
// reports whether it did. It panics while the world is lent, like ByDepth. Cost: a comparison a
// chunk, or some look-ups an entity.
func (l *Levels) Refresh() bool {
	if l.h.world.Lent() {
		panic("hierarchy: Levels.Refresh: the world is lent; refresh before World.Lend")
	}
	if l.count == l.query.Count() && l.moved.Empty() {
		return false
	}
	l.make()
	for range l.moved.Rows() {
		continue // the end of the loop sets the query's Since to now
	}
	return true
}

// make finds the rows, and then the levels.
func (l *Levels) make() {
	l.entities, l.nodes, l.parents, l.firsts, l.starts = l.entities[:0], l.nodes[:0], l.parents[:0], l.firsts[:0],
		append(l.starts[:0], 0)
	clear(l.where)
	l.count = l.query.Count()
	l.find()
	for pos := 0; pos < len(l.entities); pos++ {
		if pos == l.starts[len(l.starts)-1] {
			l.starts = append(l.starts, len(l.entities))
		}
		e := l.entities[pos]
		l.firsts = append(l.firsts, int32(len(l.entities)))
		for _, c := range l.h.children.Slice(e) {
			if at := l.placeOf(c.Entity); at.Chunk >= 0 && l.h.linked(c.Entity, e) {
				l.add(c.Entity, at, pos)
				l.where[c.Entity.Index()] = Place{} // a broken list may have it twice
			}
		}
	}
	l.firsts = append(l.firsts, int32(len(l.entities)))
	clear(l.where)
	for pos, e := range l.entities {
		l.where[e.Index()] = Place{1, int32(pos)}
	}
	l.join()
}

// join makes the runs.
func (l *Levels) join() {
	l.runs = l.runs[:0]
	var last Run
	for pos, at := range l.nodes {
		up := Place{-1, 0}
		if p := l.parents[pos]; p >= 0 {
			up = l.nodes[p]
		}
		if pos > 0 && last.Up == up && at == (Place{last.At.Chunk, last.At.Row + last.Len}) {
			last.Len++
			l.runs[len(l.runs)-1].Len++
			continue
		}
		last = Run{at, up, 1, int32(pos)}
		l.runs = append(l.runs, last)
	}
}

// find notes where the rows of the query lie, and adds the entities of level 0.
func (l *Levels) find() {
	var all []ecs.Entity
	chunk := int32(0)
	for rows := range l.query.Rows() {
		chunk++
		list := rows.Entities()
		for i := range rows.Each() {
			e := list[i]
			if n := e.Index() + 1; n > len(l.where) {
				l.where = append(l.where, make([]Place, max(n-len(l.where), len(l.where)))...)
			}
			l.where[e.Index()] = Place{chunk, int32(i)}
			all = append(all, e)
		}
	}
	for _, e := range all {
		if p := l.h.Parent(e); p == ecs.Null || l.placeOf(p).Chunk < 0 {
			l.add(e, l.placeOf(e), -1)
		}
	}
}

// placeOf returns where find has found an entity; chunk -1: nowhere.
func (l *Levels) placeOf(e ecs.Entity) Place {
	if i := e.Index(); i < len(l.where) {
		return Place{l.where[i].Chunk - 1, l.where[i].Row}
	}
	return Place{-1, 0}
}

// add adds a node.
func (l *Levels) add(e ecs.Entity, at Place, parent int) {
	l.entities, l.nodes, l.parents = append(l.entities, e), append(l.nodes, at), append(l.parents, int32(parent))
}
