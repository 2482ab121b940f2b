package delta

import (
	"hash/crc32"
	"math"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Values of rows in a plan. The values to be replaced are compared with those that the rows hold
// now, wherever these are.

// plannedValues is values of one type in a table of a plan.
type plannedValues struct {
	t    *plannedTable
	kind valuesKind
	at   int // in the table's list of this kind
	err  error
}

type valuesKind uint8

const (
	inColumn valuesKind = iota
	inBits
	inBuffers
	inChunks
)

// checkValues checks the columns, enable bits, buffers and chunk values of all tables. Those of a
// large delta go to two goroutines, which only read the world.
func (p *deltaPlan) checkValues() error {
	p.values = p.values[:0]
	p.size = 0
	for i := range p.tables {
		t := &p.tables[i]
		for k := range t.columns {
			p.values = append(p.values, plannedValues{t: t, kind: inColumn, at: k})
			p.size += len(t.columns[k].runs)
		}
		for k := range t.flips {
			p.values = append(p.values, plannedValues{t: t, kind: inBits, at: k})
		}
		for k := range t.buffers {
			p.values = append(p.values, plannedValues{t: t, kind: inBuffers, at: k})
			p.size += len(t.buffers[k].edits)
		}
		for k := range t.chunks {
			p.values = append(p.values, plannedValues{t: t, kind: inChunks, at: k})
		}
	}
	if err := p.refuseRepeated(); err != nil {
		return err
	}
	eachOf(len(p.values), p.size, func(i int) { p.values[i].err = p.checkOne(&p.values[i]) })
	for i := range p.values {
		if err := p.values[i].err; err != nil {
			return err
		}
	}
	return nil
}

// refuseRepeated refuses values of one kind that a table has twice for a type: two goroutines would
// write one column.
func (p *deltaPlan) refuseRepeated() error {
	var of *plannedTable
	var seen [inChunks + 1]world.Signature
	for i := range p.values {
		v := &p.values[i]
		if v.t != of {
			of, seen = v.t, [inChunks + 1]world.Signature{}
		}
		n := v.numberOfType()
		if n >= len(p.types) {
			continue // checkOne refuses it
		}
		if seen[v.kind].Has(p.types[n].ID) {
			return p.refuse("values of %s come twice", p.types[n].Name)
		}
		seen[v.kind].Add(p.types[n].ID)
	}
	return nil
}

// numberOfType returns the number of the type in the delta.
func (v *plannedValues) numberOfType() int {
	switch v.kind {
	case inColumn:
		return v.t.columns[v.at].of
	case inBits:
		return v.t.flips[v.at].of
	case inBuffers:
		return v.t.buffers[v.at].of
	default:
		return v.t.chunks[v.at].of
	}
}

// checkOne checks values of one type.
func (p *deltaPlan) checkOne(v *plannedValues) error {
	t := v.t
	switch v.kind {
	case inColumn:
		c := &t.columns[v.at]
		if of := p.typeIn(t, c.of); of == nil || of.Size == 0 || of.Kind != world.KindComponent {
			return p.refuse("bytes of type %d, which is no component of the archetype", c.of)
		} else if !t.replaces(of, &c.deltaRuns) {
			return p.refuse("values of %s are not those of its base", of.Name)
		}
	case inBits:
		f := &t.flips[v.at]
		if of := p.typeIn(t, f.of); of == nil || !of.Enableable {
			return p.refuse("enable bits of type %d, which has none", f.of)
		} else if !t.flipsFit(of, &f.deltaFlips) {
			return p.refuse("enable bits of %s are not those of its base", of.Name)
		}
	case inBuffers:
		b := &t.buffers[v.at]
		if of := p.typeIn(t, b.of); of == nil || of.Kind != world.KindBuffer {
			return p.refuse("elements of type %d, which is no buffer", b.of)
		} else if !p.editsFit(t, of, b) {
			return p.refuse("buffers of %s are not those of its base", of.Name)
		}
	case inChunks:
		c := &t.chunks[v.at]
		of, rows := p.typeIn(t, c.of), 0
		for _, n := range c.rows {
			if rows += n; n == 0 || rows > entity.MaxIDs {
				return p.refuse("a chunk has %d rows", n)
			}
		}
		if of == nil || of.Kind != world.KindChunk || rows != t.newer ||
			len(c.values) != len(c.rows)*of.Chunk.Bytes {
			return p.refuse("%d bytes are values of type %d in %d chunks", len(c.values), c.of, len(c.rows))
		}
	}
	return nil
}

// typeIn returns the type with a number in the delta if the archetype has it, else nil.
func (p *deltaPlan) typeIn(t *plannedTable, of int) *world.Type {
	if of >= len(p.types) || !t.sig.Has(p.types[of].ID) {
		return nil
	}
	return p.types[of]
}

// runCursor finds the runs of rows in ascending order.
type runCursor struct {
	runs  []change.RowRun
	at    int
	still *world.Archetype // whose rows are where they were; nil: runs has those of the table
	run   change.RowRun    // of it
}

// cursor returns a cursor of the table's rows.
func (t *plannedTable) cursor() runCursor {
	if t.still {
		return runCursor{still: t.a}
	}
	return runCursor{runs: t.runs}
}

// next returns the run that holds a row; the index is that of the newer table.
func (c *runCursor) next(row int) *change.RowRun {
	if c.still != nil {
		if row < c.run.At || row >= c.run.At+c.run.N {
			of := &c.still.Table
			pos, _ := of.Store.Find(row)
			c.run = change.RowRun{At: of.Store.Chunks()[pos].Start, N: of.Store.RowsOf(pos), From: &of.Table, Pos: pos}
		}
		return &c.run
	}
	for row >= c.runs[c.at].At+c.runs[c.at].N {
		c.at++
	}
	return &c.runs[c.at]
}

// replaces reports whether the runs of a column lie within its rows and their checksum matches the
// bytes that they replace.
func (t *plannedTable) replaces(of *world.Type, r *deltaRuns) bool {
	size, cursor := of.Size, t.cursor()
	var sum checksum
	return r.each(t.newer*size, func(at int, newer []byte) {
		for end := at + len(newer); at < end; {
			run := cursor.next(at / size)
			stop := min(end, (run.At+run.N)*size)
			if run.From != nil && run.From.Sig.Has(of.ID) {
				old := columnOf(run.From.Store.Row(run.Pos, run.Row), run.From.Column(of.ID), run.N)
				sum.add(old[at-run.At*size : stop-run.At*size])
			} else {
				for k := at; k < stop; k += deltaBlock {
					sum.add(deltaZeros[:min(deltaBlock, stop-k)])
				}
			}
			at = stop
		}
	}) && sum.end() == r.sum
}

// flipsFit reports whether each flipped bit has the opposite value now.
func (t *plannedTable) flipsFit(of *world.Type, f *deltaFlips) bool {
	fit, cursor := true, t.cursor()
	return f.each(t.newer, func(at, n int, on bool) {
		for row := at; row < at+n && fit; row++ {
			run := cursor.next(row)
			older := rowBits(run.From, of.ID, run.Pos, run.Row)
			fit = older.has(row-run.At) != on
		}
	}) && fit
}

// headerOf returns the header of a row's buffer at its present place, or nil if the row had no
// buffer.
func headerOf(run *change.RowRun, of *world.Type, row int) *value.Header {
	if run.From == nil || !run.From.Sig.Has(of.ID) {
		return nil
	}
	return value.HeaderOf(run.From.Store.Row(run.Pos, run.Row+row-run.At), run.From.Column(of.ID))
}

// editsFit reports whether the edited buffers still have the elements of the older state.
func (p *deltaPlan) editsFit(t *plannedTable, of *world.Type, b *deltaBuffers) bool {
	sum, fit, cursor, k := uint32(0), true, t.cursor(), &of.Shape
	return b.each(t.newer, k.Element, func(e bufferEdit) {
		var empty value.Header
		h := headerOf(cursor.next(e.row), of, e.row)
		if h == nil {
			h = &empty
		}
		if e.before+e.tail > h.Len() || k.Element > 0 && e.length() > math.MaxInt/k.Element {
			fit = false
			return
		}
		sum = crc32.Update(sum, world.Castagnoli, p.w.Buffers.OwnerSpill().Bytes(h, k, 0, h.Len()))
	}) && fit && sum == b.sum
}

// checkSparse checks the sets of all sparse types: also in an unchanged set every entity must stay
// alive.
func (p *deltaPlan) checkSparse() error {
	var planned map[*world.Type]bool
	if len(p.Sparse) > 0 {
		planned = map[*world.Type]bool{}
	}
	for i := range p.Sparse {
		s := &p.Sparse[i]
		if s.of >= len(p.types) || planned[p.types[s.of]] {
			return p.refuse("type %d has a set, twice", s.of)
		}
		planned[p.types[s.of]] = true
		if err := p.planSparse(s); err != nil {
			return err
		}
	}
	for _, t := range p.w.Types.Sparse {
		if planned[t] || t.Sparse.Len() == 0 {
			continue
		}
		if p.cleanupOnly != nil {
			if err := p.checkEntries(t, t.Sparse.IDs()); err != nil {
				return err
			}
		}
		if e := p.endsIn(&t.Sparse.Set); e != (entity.ID{}) {
			return p.refuse("%v ends and keeps its entry of %s", e, t.Name)
		}
	}
	return nil
}

// endsIn returns an entity that ends but has an entry in a set, or the zero ID.
func (p *deltaPlan) endsIn(s *sparse.Set) entity.ID {
	for _, step := range p.Delta.IDs.Steps {
		for index := step.First; step.Old&1 != 0 && index < step.First+step.N; index++ {
			if e := entity.Make(index, p.tag, step.Old); s.Find(e) != 0 {
				return e
			}
		}
	}
	return entity.ID{}
}

// writeColumns writes the columns of all tables, whose rows are in place. Those of a large delta go
// to two goroutines: each column has bytes and versions of its own.
func (p *deltaPlan) writeColumns() {
	eachOf(len(p.values), p.size, func(i int) {
		if v := &p.values[i]; v.kind == inColumn {
			c := &v.t.columns[v.at]
			v.t.writeColumn(p.types[c.of], &c.deltaRuns)
		}
	})
}

// writeValues writes the values of a table's rows, which are in place, but for columns.
func (p *deltaPlan) writeValues(t *plannedTable, tx *change.Tx) {
	metadata := &t.a.Table.Metadata
	for k := range t.flips {
		id := p.types[t.flips[k].of].ID
		slot := t.a.Table.Places[id].Slot()
		t.flips[k].each(t.newer, func(at, n int, on bool) {
			t.eachRun(at, n, func(pos, row, n int) {
				for i := row; i < row+n; i++ {
					metadata.Bits(slot, pos).Set(i, on)
				}
				t.a.Touch(nil, slot, pos, row, n)
			})
		})
	}
	for k := range t.buffers {
		b := &t.buffers[k]
		of := p.types[b.of]
		slot, c := t.a.Table.Places[of.ID].Slot(), t.a.Table.Column(of.ID)
		b.each(t.newer, of.Shape.Element, func(e bufferEdit) {
			pos, row := t.a.Table.Store.Find(e.row)
			h := value.HeaderOf(t.a.Table.Store.Row(pos, row), c)
			var next *value.Header
			if e.length() > of.Shape.Cap(h) {
				block := tx.Block()
				next = &block
			}
			p.w.Buffers.OwnerSpill().Edit(h, &of.Shape, next, e.before, e.n, e.tail, e.bytes)
			t.a.Touch(nil, slot, pos, row, 1)
		})
	}
	for k := range t.chunks {
		t.writeChunks(p.types[t.chunks[k].of], &t.chunks[k])
	}
}

// eachRun calls visit with the rows of an archetype from an index on, chunk by chunk.
func (t *plannedTable) eachRun(at, n int, visit func(pos, row, n int)) {
	for n > 0 {
		pos, row := t.a.Table.Store.Find(at)
		k := min(n, t.a.Table.Store.RowsOf(pos)-row)
		visit(pos, row, k)
		at, n = at+k, n-k
	}
}

// writeColumn writes the runs of a column.
func (t *plannedTable) writeColumn(of *world.Type, r *deltaRuns) {
	c, size := t.a.Table.Column(of.ID), of.Size
	slot, store := t.a.Table.Places[of.ID].Slot(), &t.a.Table.Store
	var all []byte // the column in the chunk of the last run
	pos, start := -1, 0
	r.each(t.newer*size, func(at int, newer []byte) {
		for len(newer) > 0 {
			for at-start >= len(all) {
				if pos++; all == nil {
					pos, _ = store.Find(at / size)
				}
				all, start = columnOf(store.Row(pos, 0), c, store.RowsOf(pos)), store.Chunks()[pos].Start*size
			}
			k := copy(all[at-start:], newer)
			row := (at - start) / size
			t.a.Touch(nil, slot, pos, row, (at-start+k-1)/size+1-row)
			newer, at = newer[k:], at+k
		}
	})
}

// writeChunks writes the values of a chunk type. If the world divides its rows into other chunks
// than the newer state did, the values of the chunks that a chunk overlaps are merged, as when rows
// are copied as chunks.
func (t *plannedTable) writeChunks(of *world.Type, c *deltaChunks) {
	if len(c.rows) == 0 {
		return
	}
	size, i, start := of.Chunk.Bytes, 0, 0
	metadata, slot := &t.a.Table.Metadata, t.a.Table.Places[of.ID].Slot()
	for pos, chunk := range t.a.Table.Store.Chunks() {
		for first, end := true, chunk.Start+t.a.Table.Store.RowsOf(pos); ; first = false {
			metadata.SetValue(slot, pos, c.values[i*size:(i+1)*size], first)
			if start+c.rows[i] > end || i+1 == len(c.rows) {
				break
			}
			start += c.rows[i]
			if i++; start == end {
				break
			}
		}
		*metadata.Version(slot, pos) = t.a.World.Tables.Version
	}
}
