package fuzz

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"quarry/ecs"
)

// Queries: every loop is compared, row by row, with a walk over the model.

// cursor walks the model in the order that a query promises: groups in order of creation, chunks in
// order, only chunks with a matching row.
type cursor struct {
	d     *world
	q     *query
	since uint32            // of the query at the start, because a loop inside may move it; 0: every chunk passes
	of    func(*group) bool // nil: all groups
	at    *group            // of the last chunk, nil at the start
	group int               // next to look at
	chunk int               // of the group, next to look at
	row   int               // its first row
}

// chunk is what a loop should yield next.
type chunk struct {
	g       *group
	start   int // row of the group
	rows    []ecs.Entity
	matches []bool
	count   int
}

// next returns the next chunk as the model is now, and false at the end.
func (c *cursor) next() (chunk, bool) {
	if c.at == nil && c.group == 0 && c.d.unsorted {
		c.d.sort()
	}
	if c.at != nil { // the body may have made an archetype again, which moves its group to the end
		c.group = slices.Index(c.d.m.groups, c.at)
	}
	for ; c.group < len(c.d.m.groups); c.group, c.chunk, c.row = c.group+1, 0, 0 {
		g := c.d.m.groups[c.group]
		if c.of != nil && !c.of(g) {
			continue
		}
		for c.row < len(g.rows) {
			_, _, n := g.a.Chunk(c.chunk) // the model does not predict how rows are cut; Verify checks it
			c.chunk++
			want := chunk{g: g, start: c.row, rows: g.rows[c.row : c.row+n]}
			c.row += n
			for _, e := range want.rows {
				ok := c.q.matches(c.d.m.entities[e])
				want.matches = append(want.matches, ok)
				if ok {
					want.count++
				}
			}
			if want.count > 0 {
				c.at = g
				return want, true
			}
		}
	}
	return chunk{}, false
}

// count returns the number of matching rows in the model.
func (c cursor) count() int {
	n := 0
	for w, ok := c.next(); ok; w, ok = c.next() {
		n += w.count
	}
	return n
}

// visit is what a loop does in addition to comparing.
type visit struct {
	write   bool   // through slices and buffers of Write terms
	edit    bool   // look-ups that write, toggles, appends
	nest    *query // a second loop inside
	breakAt int    // leave after this many chunks; 0: never
	seed    uint64
}

func (d *world) runQuery(r record) error {
	if len(d.queries) == 0 {
		return d.newQuery(r)
	}
	q := d.pickQuery(r)
	v := visit{write: r.bits(0, 1) != 0, edit: r.bits(1, 2) == 0, seed: uint64(r.n)}
	if r.bits(3, 2) == 0 {
		v.nest = d.queries[int(r.who>>8)%len(d.queries)]
	}
	if r.bits(5, 3) == 0 {
		v.breakAt = 1 + int(r.bits(8, 2))
	}
	return d.walk(q, v)
}

// walk runs a loop and the model in step.
func (d *world) walk(q *query, v visit) error {
	if err := errors.Join(d.tend(), d.compareCount(q)); err != nil {
		return err
	}
	chunks := 0
	d.inLoop++
	defer func() { d.inLoop-- }()
	ended, err := d.follow(q, q.q.Rows(), func(rows ecs.Rows, w chunk) (bool, error) {
		if err := d.inChunk(q, rows, w, v); err != nil {
			return false, err
		}
		chunks++
		return chunks != v.breakAt, nil
	})
	d.ran(q, ended)
	if got := q.q.Since(); err == nil && got != q.since {
		return fmt.Errorf("%v: Since: got %d want %d", q.q, got, q.since)
	}
	return err
}

// follow compares what a loop yields with the model and calls body for each chunk, until it returns
// false. The model does not predict which chunks pass by their versions, only which must and which
// may.
func (d *world) follow(q *query, seq iter.Seq[ecs.Rows],
	body func(ecs.Rows, chunk) (bool, error)) (ended bool, err error) {
	return d.followOf(q, seq, nil, body)
}

// followOf is follow for a loop over some of the groups.
func (d *world) followOf(q *query, seq iter.Seq[ecs.Rows], of func(*group) bool,
	body func(ecs.Rows, chunk) (bool, error)) (ended bool, err error) {
	want := cursor{d: d, q: q, since: q.since, of: of}
	for rows := range seq {
		w, ok := want.next()
		for ok && (w.g.a != rows.Archetype() || w.rows[0] != rows.Entities()[0]) {
			if err := want.skip(w); err != nil {
				return false, err
			}
			w, ok = want.next()
		}
		if !ok {
			return false, fmt.Errorf("%v: got %d more rows of %v, want the end", q.q, rows.Len(), rows.Archetype())
		}
		if !want.mayPass(w) {
			return false, fmt.Errorf("%v: got rows of %v, where nothing has changed since %d", q.q, w.g.a, q.since)
		}
		on, err := body(rows, w)
		if err != nil {
			return false, fmt.Errorf("%v: %v: %w", q.q, w.g.a, err)
		}
		if !on {
			return false, nil
		}
	}
	for w, ok := want.next(); ok; w, ok = want.next() {
		if err := want.skip(w); err != nil {
			return false, err
		}
	}
	return true, nil
}

// inChunk is the body of a loop.
func (d *world) inChunk(q *query, rows ecs.Rows, want chunk, v visit) error {
	if err := compareRows(rows, want); err != nil {
		return err
	}
	if err := d.compareColumns(q, rows, want); err != nil {
		return err
	}
	if v.write {
		if err := d.writeRows(q, rows, want, v.seed); err != nil {
			return err
		}
	}
	if v.edit {
		if err := d.edit(want, v.seed); err != nil {
			return err
		}
	}
	if v.nest != nil && d.inLoop < 2 {
		if err := d.walk(v.nest, visit{write: v.write, seed: v.seed + 1}); err != nil {
			return fmt.Errorf("inner loop: %w", err)
		}
	}
	return compareRows(rows, want) // a snapshot: toggling changed nothing
}

// compareRows compares the rows and which of them match, in all forms.
func compareRows(rows ecs.Rows, want chunk) error {
	if rows.Archetype() != want.g.a || !slices.Equal(rows.Entities(), want.rows) || rows.Len() != len(want.rows) {
		return fmt.Errorf("got %d rows of %v: %v want %v", rows.Len(), rows.Archetype(), rows.Entities(), want.rows)
	}
	if rows.Count() != want.count || rows.Dense() != (want.count == rows.Len()) {
		return fmt.Errorf("got %d matching rows, dense %v, want %d of %d",
			rows.Count(), rows.Dense(), want.count, rows.Len())
	}
	got := make([]bool, rows.Len())
	for i := range rows.Each() {
		if got[i] {
			return fmt.Errorf("in Each: row %d came twice", i)
		}
		got[i] = true
	}
	if !slices.Equal(got, want.matches) {
		return fmt.Errorf("in Each: got %v want %v", got, want.matches)
	}
	for i := range len(rows.Mask()) * 64 {
		set := rows.Mask()[i/64]>>(i%64)&1 != 0
		if set != (i < rows.Len() && want.matches[i]) {
			return fmt.Errorf("in Mask: bit %d of %d: got %v", i, rows.Len(), set)
		}
	}
	clear(got)
	last := -1
	for lo, hi := range rows.Runs() {
		if lo >= hi || lo <= last {
			return fmt.Errorf("in Runs: got [%d, %d) behind %d", lo, hi, last)
		}
		last = hi
		for i := lo; i < hi; i++ {
			got[i] = true
		}
	}
	if !slices.Equal(got, want.matches) {
		return fmt.Errorf("in Runs: got %v want %v", got, want.matches)
	}
	for i := range rows.Each() { // a loop that is left early
		for lo := range rows.Runs() {
			if i != lo || !got[lo] {
				return fmt.Errorf("first row: Each gave %d, Runs %d", i, lo)
			}
			break
		}
		break
	}
	return nil
}

// compareColumns compares the columns that the query may read, and change versions.
func (d *world) compareColumns(q *query, rows ecs.Rows, want chunk) error {
	for _, since := range d.sinces {
		is := rows.Ordered(since)
		if must := want.arrived(d.m, since); must && !is || is && d.m.reordered <= since {
			return fmt.Errorf("rows.Ordered since %d: got %v; the last row anywhere came or went at %d",
				since, is, d.m.reordered)
		}
	}
	for k, may := range q.access {
		if may == 0 {
			continue
		}
		c := d.list[k]
		if !want.g.set.has(k) {
			if err := c.absent(rows); err != nil {
				return err
			}
			continue
		}
		if k == chunkMarksKind {
			if err := d.compareChunkMarks(rows, want, may); err != nil {
				return err
			}
			continue
		}
		for _, since := range d.sinces {
			is := c.changed(rows, since)
			if must := want.written(d.m, k, since); must && !is || is && d.m.touched[k] <= since {
				return fmt.Errorf("%v: Changed since %d: got %v; the last write anywhere was at %d",
					c.Type(), since, is, d.m.touched[k])
			}
		}
		err := c.compare(rows, func(i int) any { return d.m.entities[want.rows[i]].values[k] })
		if err != nil {
			return err
		}
		if may == mayWrite { // taking the slice counts as a write
			for _, e := range want.rows {
				d.m.touch(d.m.entities[e], k)
			}
		}
	}
	return d.compareSparseLinks(q, rows, want)
}

// writeRows writes matching rows through slices, and appends to buffers.
func (d *world) writeRows(q *query, rows ecs.Rows, want chunk, seed uint64) error {
	for k, may := range q.access {
		if may != mayWrite || !want.g.set.has(k) {
			continue
		}
		if b := d.list[k].buffer(); b != nil {
			if err := d.editRows(k, b, rows, want, seed); err != nil {
				return err
			}
			continue
		}
		if k == chunkMarksKind {
			d.markRows(rows, mix(seed+uint64(want.start)))
			continue
		}
		d.list[k].fill(rows, func(i int) any {
			if !want.matches[i] {
				return nil
			}
			v := d.list[k].value(mix(seed+uint64(want.start+i)), want.g.rows[0])
			d.m.entities[want.rows[i]].values[k] = v
			return v
		})
	}
	d.writeSparseLinks(q, rows, want, seed)
	return nil
}

// editRows appends to the buffers of every 16th matching row, or edits them, while they are short.
func (d *world) editRows(k int, b bufferKind, rows ecs.Rows, want chunk, seed uint64) error {
	for i := range rows.Each() {
		e := want.rows[i]
		x := d.m.entities[e]
		n := mix(seed + uint64(want.start+i))
		switch {
		case n%16 != 0 || b.length(x.values[k]) > 50:
			continue
		case n>>4&1 != 0:
			c := d.editOf(record{kind: uint8(n >> 8), n: uint32(n >> 32)}, b.length(x.values[k]), b)
			c.n %= 60
			if err := d.doEdit(e, x, k, b, c, func() (any, error) {
				return b.editAt(rows, i, x.values[k], c)
			}); err != nil {
				return err
			}
			continue
		}
		var now any
		run := min(1, b.grows(e, 1))
		done, err := d.attempt(need{run: run, chunks: run}, func() (err error) {
			now, err = b.appendAt(rows, i, x.values[k], seed, e)
			return err
		})
		if err != nil {
			return err
		}
		if done {
			d.m.setBuffer(x, k, b, now)
		}
	}
	return nil
}

// edit does what a loop is allowed to do by look-up, to entities of the chunk and to others.
func (d *world) edit(want chunk, seed uint64) error {
	for i := range uint64(4) {
		n := mix(seed + i)
		r := record{kind: uint8(n), who: uint16(n >> 8), n: uint32(n >> 32)}
		f := [...]func(record) error{d.set, d.toggle, d.append, d.look, d.archetype, d.toggleQuery, d.toggleList,
			d.editBuffer, d.setName, d.reserve, d.lookupMany, d.collect}[n>>24%12]
		if err := f(r); err != nil {
			return fmt.Errorf("in the loop: %w", err)
		}
	}
	if n := mix(seed + 5); d.m.set.known {
		r := record{kind: uint8(n), who: uint16(n >> 8), n: uint32(n >> 32)}
		if err := errors.Join(d.linkOne(r), d.linkMany(r)); err != nil {
			return fmt.Errorf("in the loop: %w", err)
		}
	}
	if e := want.rows[int(seed%uint64(len(want.rows)))]; d.m.entities[e] != nil {
		x := d.m.entities[e]
		for k, c := range d.list {
			if t := c.toggles(); t != nil && x.values[k] != nil {
				return d.toggleOne(e, x, k, t, x.off.has(k))
			}
		}
	}
	return nil
}
