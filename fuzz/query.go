package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Queries: every loop is compared, row by row, with a walk over the model.

type termKind uint8

const (
	noTerm termKind = iota
	readTerm
	writeTerm
	withTerm
	withoutTerm
)

// query is a query and what the model knows of it.
type query struct {
	q     *ecs.Query
	terms [maxKinds]termKind
}

// matches reports whether an entity matches: by reading the terms.
func (q *query) matches(x *entity) bool {
	for k, t := range q.terms {
		on := x.values[k] != nil && !x.off.has(k)
		if t == withoutTerm && on || t != noTerm && t != withoutTerm && !on {
			return false
		}
	}
	return true
}

// newQuery makes a query with random terms over the kinds in use.
func (d *world) newQuery(r record) error {
	if len(d.queries) == maxQueries {
		return nil
	}
	q := &query{}
	var terms []ecs.Term
	seed := mix(uint64(r.n))
	for i := range d.list {
		k := (int(r.kind) + i) % len(d.list)
		if !d.active.has(k) {
			continue
		}
		t := d.list[k].Type()
		switch seed >> (4 * k) & 15 {
		case 0, 1:
			q.terms[k], terms = readTerm, append(terms, ecs.Read(t))
		case 2, 3:
			q.terms[k], terms = writeTerm, append(terms, ecs.Write(t))
		case 4:
			q.terms[k], terms = withTerm, append(terms, ecs.With(t))
		case 5:
			q.terms[k], terms = withoutTerm, append(terms, ecs.Without(t))
		}
	}
	q.q = ecs.NewQuery(d.w, terms...)
	d.queries = append(d.queries, q)
	return nil
}

// cursor walks the model in the order that a query promises: groups in order of
// creation, chunks in order, those with a matching row.
type cursor struct {
	d     *world
	q     *query
	group int // next to look at
	chunk int // of the group, next to look at
	row   int // its first row
}

// chunk is what a loop should yield next.
type chunk struct {
	g       *group
	rows    []ecs.Entity
	matches []bool
	count   int
}

// next returns the next chunk as the model is now, and false at the end.
func (c *cursor) next() (chunk, bool) {
	for ; c.group < len(c.d.m.groups); c.group, c.chunk, c.row = c.group+1, 0, 0 {
		g := c.d.m.groups[c.group]
		for c.row < len(g.rows) {
			_, _, n := g.a.Chunk(c.chunk) // how rows are cut is not foretold; Verify checks it
			c.chunk++
			want := chunk{g: g, rows: g.rows[c.row : c.row+n]}
			c.row += n
			for _, e := range want.rows {
				ok := c.q.matches(c.d.m.entities[e])
				want.matches = append(want.matches, ok)
				if ok {
					want.count++
				}
			}
			if want.count > 0 {
				return want, true
			}
		}
	}
	return chunk{}, false
}

// count walks all of the model.
func (c cursor) count() int {
	n := 0
	for w, ok := c.next(); ok; w, ok = c.next() {
		n += w.count
	}
	return n
}

// visit says what a loop does besides comparing.
type visit struct {
	write   bool   // through slices and buffers of Write terms
	edit    bool   // look-ups that write, toggles, appends
	nest    *query // a second loop inside
	breakAt int    // leave after as many chunks; 0: never
	seed    uint64
}

func (d *world) runQuery(r record) error {
	if len(d.queries) == 0 {
		return d.newQuery(r)
	}
	q := d.queries[int(r.who)%len(d.queries)]
	v := visit{write: r.bits(0, 1) != 0, edit: r.bits(1, 2) == 0, seed: uint64(r.n)}
	if r.bits(3, 2) == 0 {
		v.nest = d.queries[int(r.who>>8)%len(d.queries)]
	}
	if r.bits(5, 3) == 0 {
		v.breakAt = 1 + int(r.bits(8, 2))
	}
	return d.walk(q, v)
}

// walk runs a loop beside the model.
func (d *world) walk(q *query, v visit) error {
	want := cursor{d: d, q: q}
	if got, n := q.q.Count(), want.count(); got != n {
		return fmt.Errorf("%v: Count: got %d want %d", q.q, got, n)
	}
	chunks := 0
	d.inLoop++
	defer func() { d.inLoop-- }()
	for rows := range q.q.Rows() {
		w, ok := want.next()
		if !ok {
			return fmt.Errorf("%v: got %d more rows of %v, want the end", q.q, rows.Len(), rows.Archetype())
		}
		if err := d.inChunk(q, rows, w, v); err != nil {
			return fmt.Errorf("%v: %v: %w", q.q, w.g.a, err)
		}
		if chunks++; chunks == v.breakAt {
			return nil
		}
	}
	if w, ok := want.next(); ok {
		return fmt.Errorf("%v: got the end, want %d rows of %v", q.q, len(w.rows), w.g.a)
	}
	return nil
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

// compareRows compares which rows there are and which match, in all forms.
func compareRows(rows ecs.Rows, want chunk) error {
	if rows.Archetype() != want.g.a || !slices.Equal(rows.Entities(), want.rows) || rows.Len() != len(want.rows) {
		return fmt.Errorf("got %d rows of %v: %v want %v", rows.Len(), rows.Archetype(), rows.Entities(), want.rows)
	}
	if rows.Count() != want.count || rows.Dense() != (want.count == rows.Len()) {
		return fmt.Errorf("got %d matching rows, dense %v, want %d of %d", rows.Count(), rows.Dense(), want.count, rows.Len())
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

// compareColumns compares what the query may read, and change versions.
func (d *world) compareColumns(q *query, rows ecs.Rows, want chunk) error {
	for k, t := range q.terms {
		if t != readTerm && t != writeTerm {
			continue
		}
		c := d.list[k]
		for _, since := range d.sinces {
			is, known := c.changed(rows, since)
			if !known {
				break
			}
			must := slices.ContainsFunc(want.rows, func(e ecs.Entity) bool { return d.m.entities[e].wrote[k] > since })
			if must && !is || is && d.m.touched[k] <= since {
				return fmt.Errorf("%v: Changed since %d: got %v; the last write anywhere was at %d",
					c.Type(), since, is, d.m.touched[k])
			}
		}
		err := c.compare(rows, func(i int) any { return d.m.entities[want.rows[i]].values[k] })
		if err != nil {
			return err
		}
		if t == writeTerm { // taking the slice is a write
			for _, e := range want.rows {
				d.m.touch(d.m.entities[e], k)
			}
		}
	}
	return nil
}

// writeRows writes matching rows through slices, and appends to buffers.
func (d *world) writeRows(q *query, rows ecs.Rows, want chunk, seed uint64) error {
	for k, t := range q.terms {
		if t != writeTerm {
			continue
		}
		if b := d.list[k].buffer(); b != nil {
			if err := d.appendRows(k, b, rows, want, seed); err != nil {
				return err
			}
			continue
		}
		d.list[k].fill(rows, func(i int) any {
			if !want.matches[i] {
				return nil
			}
			e := want.rows[i]
			v := d.list[k].value(mix(seed+uint64(i)), want.rows[0])
			d.m.entities[e].values[k] = v
			return v
		})
	}
	return nil
}

// appendRows appends to the buffers of every 16th matching row, while they are
// short.
func (d *world) appendRows(k int, b bufferKind, rows ecs.Rows, want chunk, seed uint64) error {
	for i := range rows.Each() {
		x := d.m.entities[want.rows[i]]
		if i%16 != int(seed%16) || b.length(x.values[k]) > 50 {
			continue
		}
		var now any
		run := min(1, b.grows(want.rows[i], 1))
		done, err := d.attempt(need{run: run, chunks: run}, func() (err error) {
			now, err = b.appendAt(rows, i, x.values[k], seed, want.rows[0])
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

// edit does what a loop is allowed to do by look-up, to entities of the chunk
// and to others.
func (d *world) edit(want chunk, seed uint64) error {
	for i := range uint64(4) {
		n := mix(seed + i)
		r := record{kind: uint8(n), who: uint16(n >> 8), n: uint32(n >> 32)}
		f := [...]func(record) error{d.set, d.toggle, d.append, d.look, d.archetype}[n>>24%5]
		if err := f(r); err != nil {
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
