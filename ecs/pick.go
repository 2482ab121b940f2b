package ecs

import (
	"fmt"
	"math/bits"
	"slices"

	"quarry/bitmask"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
)

// Picks: the rows that a change by query or by list is about. A query and a list both become
// whole archetypes, or bits per row of an archetype; so rows are handled in the order of
// memory, an entity that is listed twice is one bit, and both kinds of batch are one piece of
// code.

// pick is the rows that a call is about. The world keeps it for reuse.
type pick struct {
	picks  []picked
	bits   []uint64 // masks
	sparse []uint64 // rows of lists: index of the pick 32 bits | row of its archetype 32
	serial uint64   // of the call; see Archetype.pickedBy
}

// picked is the rows of one archetype, as a whole, by a mask or by a list.
type picked struct {
	a     *Archetype
	rows  int      // how many
	whole bool     // all of them
	mask  []uint64 // chunk pos has the words from wordsAt(pos) on; nil: there is a list
	list  []uint64 // rows, counted over the archetype, in rising order; of each the low 32 bits
	path  *path    // that they go; nil: they stay, or they end
	ends  bool     // by a change
	all   bool     // every chunk changes hands, a part-full one too
}

// wordsAt returns where the mask of a chunk begins: each chunk begins a new word.
func (s *picked) wordsAt(pos int) int { return s.a.table.Grid.Chunks()[pos].Start/64 + pos }

// maskOf returns the mask of a chunk.
func (s *picked) maskOf(pos int) []uint64 {
	at := s.wordsAt(pos)
	return s.mask[at : at+(s.a.table.Grid.RowsOf(pos)+63)/64]
}

// add begins the pick of an archetype's rows and returns it.
func (p *pick) add(a *Archetype) *picked {
	p.picks = append(p.picks, picked{a: a})
	return &p.picks[len(p.picks)-1]
}

// addMask gives a pick a mask, all clear.
func (p *pick) addMask(s *picked) {
	at := len(p.bits)
	words := (s.a.table.Grid.Len()+63)/64 + len(s.a.table.Grid.Chunks())
	p.bits = slices.Grow(p.bits, words)[:at+words]
	s.mask = p.bits[at:]
	clear(s.mask)
}

// newPick returns the world's pick, empty.
func (w *World) newPick() *pick {
	p := &w.call.picked
	p.picks, p.bits, p.sparse = p.picks[:0], p.bits[:0], p.sparse[:0]
	p.serial++
	return p
}

// checkQuery panics for a query that cannot be used in the world.
func (w *World) checkQuery(op string, q *Query) {
	switch {
	case q == nil:
		panic("ecs: " + op + ": the query is nil; queries come from NewQuery")
	case q.w == nil:
		panic("ecs: " + op + ": the query is the zero value; queries come from NewQuery")
	case q.w != w:
		panic(fmt.Sprintf("ecs: %s: %v belongs to another world", op, q))
	}
	q.checkOpen(op)
}

// pick picks the rows that match the query.
func (q *Query) pick() *pick {
	p := q.w.newPick()
	filters := q.filters() && q.since != 0
	for i := range q.m.Matches {
		m := &q.m.Matches[i]
		a := whole(m.Archetype)
		if a.table.Grid.Len() == 0 {
			continue
		}
		s := p.add(a)
		if !filters && len(m.Tests) == 0 {
			s.rows, s.whole = a.table.Grid.Len(), true
			continue
		}
		p.addMask(s)
		s.rows = q.pickRows(m.Tests, s, filters)
		if s.whole = s.rows == a.table.Grid.Len(); s.rows == 0 {
			p.picks = p.picks[:len(p.picks)-1]
		}
	}
	return p
}

// pickRows fills the masks of an archetype's chunks, of those that pass by their
// versions when filters is set.
func (q *Query) pickRows(tests []match.BitTest, s *picked, filters bool) (rows int) {
	a := s.a
	scan := q.w.openScan(q)
	defer scan.end()
	for pos := range a.table.Grid.Chunks() {
		if filters && !q.passes(a, pos, q.since) {
			continue
		}
		n := a.table.Grid.RowsOf(pos)
		switch matching := scan.filter(a, tests, pos, 0, n); matching {
		case 0:
		case n:
			bitmask.Bits(s.maskOf(pos)).SetRange(0, n)
			rows += n
		default:
			copy(s.maskOf(pos), scan.mask)
			rows += matching
		}
	}
	return rows
}

// rowsPerListed is from how many rows of an archetype for each entity of a list on the
// rows are listed and not masked: clearing and searching a mask takes about 1 ns for
// 64 rows, sorting a list 30 ns an entity.
const rowsPerListed = 1024

// pickList picks the rows of the entities of a list. Dead ones are passed by, or
// panic when they must be alive.
func (w *World) pickList(op string, list []Entity, alive bool) *pick {
	p := w.newPick()
	var chunk chunkMask // that entities before lay in
	var before owner    // of the one before, when it lay in another
	for i, e := range list {
		r := w.ids.Own(entity.ID(e)) // find, but for a call
		if r == nil {
			if r = w.find(e); r == nil {
				w.checkListed(op, i, e, alive)
				continue
			}
		}
		if chunk.holds(r.Location) {
			chunk.pick(r.Location)
			continue
		}
		o := w.tables.OwnerOf(r.Location)
		a, pos := w.archetypeAt(o), o.Pos()
		_, row := w.tables.Split(r.Location, o.Scale())
		if a.pickedBy != p.serial {
			a.pickedBy, a.pickedAt = p.serial, len(p.picks)
			if s := p.add(a); a.table.Grid.Len()/rowsPerListed <= len(list) {
				p.addMask(s)
			}
		}
		s := &p.picks[a.pickedAt]
		if s.mask == nil {
			p.sparse = append(p.sparse, uint64(a.pickedAt)<<32|uint64(a.table.Grid.Chunks()[pos].Start+row))
			continue
		}
		if o == before { // a second one of a chunk: others are likely
			chunk.end(p)
			chunk = chunkMask{first: r.Location - location(row), rows: location(a.table.Grid.RowsOf(pos)), mask: s.maskOf(pos), at: a.pickedAt}
			chunk.pick(r.Location)
			continue
		}
		before = o
		word, bit := &s.mask[s.wordsAt(pos)+row/64], uint64(1)<<(row%64)
		if *word&bit == 0 {
			*word |= bit
			s.rows++
		}
	}
	chunk.end(p)
	p.cutLists()
	for i := range p.picks {
		s := &p.picks[i]
		s.whole = s.rows == s.a.table.Grid.Len()
	}
	return p
}

// chunkMask is the mask of a chunk while entities of a list that lie in it come one after the
// other.
type chunkMask struct {
	first location // of its rows
	rows  location
	mask  []uint64
	n     int // bits that were set
	at    int // the pick
}

func (c *chunkMask) holds(l location) bool { return l-c.first < c.rows }

// pick sets a row's bit.
func (c *chunkMask) pick(l location) {
	row := l - c.first
	word, bit := &c.mask[row/64], uint64(1)<<(row%64)
	if *word&bit == 0 {
		*word |= bit
		c.n++
	}
}

// end counts the rows that were picked.
func (c *chunkMask) end(p *pick) {
	if c.n > 0 {
		p.picks[c.at].rows += c.n
	}
}

// checkListed panics for an entity of a list that is of another world, or dead where
// it must be alive.
//
//go:noinline
func (w *World) checkListed(op string, i int, e Entity, alive bool) {
	if e.IsPlaceholder() {
		panic(fmt.Sprintf("ecs: %s: entity %d of the list is %v, which names an entity in its command buffer only; nothing was changed", op, i, e))
	}
	if e != Null && entity.ID(e).Tag() != w.ids.Tag() {
		panic(fmt.Sprintf("ecs: %s: entity %d of the list, %v, belongs to another world; nothing was changed", op, i, e))
	}
	if alive {
		panic(fmt.Sprintf("ecs: %s: entity %d of the list, %v, is not alive; nothing was changed", op, i, e))
	}
}

// cutLists sorts the listed rows and gives each pick its own.
func (p *pick) cutLists() {
	slices.Sort(p.sparse)
	p.sparse = slices.Compact(p.sparse)
	for at := 0; at < len(p.sparse); {
		s, end := &p.picks[p.sparse[at]>>32], at+1
		for end < len(p.sparse) && p.sparse[end]>>32 == p.sparse[at]>>32 {
			end++
		}
		s.list, s.rows = p.sparse[at:end], end-at
		at = end
	}
}

// runs walks the picked rows of an archetype from the end, so that what is done to
// the rows found leaves those that come later where they are. Those of a whole archetype
// come chunk by chunk, in order: they go at once, see takeOut.
type runs struct {
	s    *picked
	pos  int      // the chunk that is walked; of a whole archetype the next one
	mask []uint64 // of that chunk; nil: the next one is to be opened
	hi   int      // rows of it that are not walked yet, or entries of the list
}

func (s *picked) backward() runs {
	if s.whole {
		return runs{s: s}
	}
	return runs{s: s, pos: len(s.a.table.Grid.Chunks()), hi: len(s.list)}
}

// next returns the next run of rows, of one chunk.
func (r *runs) next() (pos, row, n int, ok bool) {
	if r.s.whole {
		return r.nextChunk()
	}
	if r.s.mask == nil {
		return r.nextListed()
	}
	for {
		if r.hi = prevBit(r.mask, r.hi, 0); r.hi > 0 {
			end := r.hi
			r.hi = prevBit(r.mask, end, ^uint64(0))
			return r.pos, r.hi, end - r.hi, true
		}
		if r.pos == 0 {
			return 0, 0, 0, false
		}
		r.pos--
		r.mask, r.hi = r.s.maskOf(r.pos), r.s.a.table.Grid.RowsOf(r.pos)
	}
}

func (r *runs) nextChunk() (pos, row, n int, ok bool) {
	g := &r.s.a.table.Grid
	if r.pos >= len(g.Chunks()) {
		return 0, 0, 0, false
	}
	r.pos++
	return r.pos - 1, 0, g.RowsOf(r.pos - 1), true
}

func (r *runs) nextListed() (pos, row, n int, ok bool) {
	if r.hi == 0 {
		return 0, 0, 0, false
	}
	list := r.s.list
	pos, row = r.s.a.table.Grid.Find(int(uint32(list[r.hi-1])))
	n = 1
	for r.hi--; r.hi > 0 && row > 0 && list[r.hi-1]+1 == list[r.hi]; r.hi-- {
		row--
		n++
	}
	return pos, row, n, true
}

// prevBit returns one more than the highest i below hi whose bit differs from those
// of same, or 0.
func prevBit(mask []uint64, hi int, same uint64) int {
	for hi > 0 {
		i := (hi - 1) / 64
		word := (mask[i] ^ same) << (63 - (hi-1)%64)
		if word != 0 {
			return hi - bits.LeadingZeros64(word)
		}
		hi = i * 64
	}
	return 0
}

// send moves the picked rows along their path. Chunks that changed hands have gone
// before, see relabel.
func (s *picked) send() {
	runs := s.backward()
	for pos, row, n, ok := runs.next(); ok; pos, row, n, ok = runs.next() {
		s.note(s.path.To.Len(), n)
		s.path.Send(pos, row, n)
		s.takeOut(pos, row, n)
	}
}

// takeOut takes rows that a walk has shown out of their archetype: those of a whole one all
// together, after the last.
func (s *picked) takeOut(pos, row, n int) {
	t := &s.a.table
	switch {
	case !s.whole:
		t.CloseGap(pos, row, n)
	case pos == len(t.Grid.Chunks())-1:
		t.Cut(t.Len())
	}
}

// relabels reports whether full chunks change hands.
func (s *picked) relabels() bool { return s.whole && s.path.Relabels && s.a.table.FullChunks() > 0 }

// plan says how the picked rows go, when the paths of all are known, and counts those
// that will need room. All chunks change hands where no others come and the target has no
// rows, so that it can take over the layout; a small one never does.
func (s *picked) plan() {
	if s.path == nil {
		return
	}
	to := s.a.w.archetypeOn(s.path.To)
	s.all = s.whole && !s.a.table.Grid.HasSmall() && to.sources == 1 && to.table.Len() == 0 && (s.path.Relabels || s.path.Adopts())
	switch {
	case s.all:
	case s.relabels():
		to.coming += s.a.table.PartFull()
		to.regular = true
	default:
		to.coming += s.rows
	}
}

// relabel hands the chunks of a whole archetype over where that suffices.
func (s *picked) relabel() {
	if s.all && !s.path.Relabels {
		s.path.Adopt()
	}
	n := s.a.table.FullChunks()
	if s.all {
		n = len(s.a.table.Grid.Chunks())
	}
	if s.whole && s.path.Relabels && n > 0 {
		s.note(s.path.Give(n, nil))
	}
}

// note writes down where rows arrive.
func (s *picked) note(start, n int) {
	s.a.w.note(span{s.a.w.archetypeOn(s.path.To), start, n})
}

// note adds rows to those that the call has made or moved, behind them.
func (w *World) note(rows span) {
	if last := len(w.call.moved) - 1; last >= 0 {
		if r := &w.call.moved[last]; r.a == rows.a && r.start+r.n == rows.start {
			r.n += rows.n
			return
		}
	}
	w.call.moved = append(w.call.moved, rows)
}

// end destroys the picked rows' entities.
func (s *picked) end() {
	runs := s.backward()
	for pos, row, n, ok := runs.next(); ok; pos, row, n, ok = runs.next() {
		s.a.endRows(pos, row, n)
		s.takeOut(pos, row, n)
	}
}

// endRows ends the entities of some rows and what they hold; the rows stay.
func (a *Archetype) endRows(pos, row, n int) {
	at := a.table.Grid.Row(pos, row)
	a.table.Release(at, n)
	ids := entities(at.Base, row+n)[row:]
	if a.w.names != nil {
		for _, e := range ids {
			a.w.forgetName(e.index())
		}
	}
	a.w.ids.GiveRows(idsOf(ids))
}
