package fuzz

import (
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/ecs"
)

// Operations on many entities.

// batchSizes are the numbers of entities that CreateN makes: around words of
// bits, chunks and blocks of records.
var batchSizes = [...]int{0, 1, 2, 5, 8, 63, 64, 65, 100, 128, 200, 408, 409, 1000, 2049, 8200}

// createN makes a batch. It fills the columns that are not cleared, and some others.
func (d *world) createN(r record) error {
	n := batchSizes[r.who%16]
	if n > d.most {
		n = 1 + n%d.most
	}
	if d.tight && r.bits(30, 2) == 0 {
		if err := d.createTooMany(r); err != nil {
			return err
		}
	}
	if len(d.m.alive)+n > d.most {
		return d.endRows(r)
	}
	g := d.group(d.sets[r.kind%8], uint64(r.n))
	if d.most > 2000 && r.kind&8 != 0 {
		g = d.group(d.sets[2], uint64(r.n&4)) // one archetype with thousands of rows
	}
	unset := kinds(r.n) & g.set
	for k, c := range d.list {
		if !c.listed() {
			unset &^= 1 << k
		}
	}
	var options []ecs.CreateOption
	if unset != 0 {
		options = append(options, ecs.Uninitialized(d.types(unset, 0)...))
	}
	var batch ecs.Batch
	done, err := d.attempt(d.rowsNeed(g, n, true), func() (err error) {
		batch, err = g.a.CreateN(n, options...)
		return err
	})
	if !done {
		return err
	}
	if batch.Len() != n {
		return fmt.Errorf("CreateN(%d): got a batch of %d", n, batch.Len())
	}
	return d.fillBatch(batch, g, unset, kinds(r.n>>16)&g.set|unset, uint64(r.n))
}

// createTooMany requests more entities than there is room for: records for some or all of them may
// fit, and have to go back.
func (d *world) createTooMany(r record) error {
	g := d.group(d.sets[r.kind%8], 0)
	n := 1 + int(r.bits(4, 15))
	d.w.Trim() // what the heap keeps for reuse is not known
	if n <= d.smallRows(g) {
		return nil // there may be a small chunk
	}
	want := d.rowsNeed(g, n, true)
	least := d.rowsNeed(g, n, false).chunks - d.spareUnits(g) // records may lie outside of the universe
	if room := d.u.Stats(); least <= room.Reserved/alloc.ChunkSize-room.LiveChunks+d.w.Stats().Reserve {
		return nil // there may be room
	}
	done, err := d.attempt(want, func() error {
		_, err := g.a.CreateN(n)
		return err
	})
	if done {
		return fmt.Errorf("CreateN(%d) found room for %+v in %+v", n, want, d.u.Stats())
	}
	return err
}

// fillBatch adds a batch to the model and writes some of its columns.
func (d *world) fillBatch(batch ecs.Batch, g *group, unset, write kinds, seed uint64) error {
	start, seen := len(g.rows), 0
	for rows := range batch.Rows() {
		if !rows.Dense() || rows.Count() != rows.Len() || rows.Len() == 0 || rows.Archetype() != g.a {
			return fmt.Errorf("rows of a batch: got dense %v, %d of %d, %v",
				rows.Dense(), rows.Count(), rows.Len(), rows.Archetype())
		}
		before := seen
		seen += rows.Len()
		for _, e := range rows.Entities() {
			if _, err := d.m.create(e, g); err != nil {
				return err
			}
		}
		for k, c := range d.list {
			if !g.set.has(k) {
				continue
			}
			value := func(i int) any { return d.m.entities[rows.Entities()[i]].values[k] }
			if !unset.has(k) {
				if err := c.compare(rows, value); err != nil {
					return fmt.Errorf("new rows: %w", err)
				}
			}
			if !write.has(k) || c.buffer() != nil {
				continue
			}
			c.fill(rows, func(i int) any {
				e := rows.Entities()[i]
				v := c.value(mix(seed+uint64(before+i)), e)
				d.m.entities[e].values[k] = v
				return v
			})
		}
	}
	if seen != batch.Len() {
		return fmt.Errorf("batch of %d: got %d rows", batch.Len(), seen)
	}
	for i, e := range g.rows[start:] {
		if x := d.m.entities[e]; x.row != start+i {
			return fmt.Errorf("the model is wrong: %v in row %d, want %d", e, x.row, start+i)
		}
	}
	return d.markBatch(batch, seed, write)
}

// someRows returns entities of one group: all, a part, or every second one, from either end.
func (d *world) someRows(r record) []ecs.Entity {
	if len(d.m.groups) == 0 {
		return nil
	}
	i := int(r.who) % len(d.m.groups)
	for range d.m.groups { // the next group that has rows
		if len(d.m.groups[i].rows) > 0 {
			break
		}
		i = (i + 1) % len(d.m.groups)
	}
	rows := slices.Clone(d.m.groups[i].rows)
	if r.bits(0, 1) != 0 {
		slices.Reverse(rows)
	}
	switch r.bits(1, 2) {
	case 0:
	case 1:
		rows = rows[:len(rows)/2]
	case 2:
		rows = rows[:min(len(rows), 1+int(r.bits(8, 6)))]
	case 3:
		step, kept := 2+int(r.bits(8, 6)), rows[:0]
		for i := 0; i < len(rows); i += step {
			kept = append(kept, rows[i])
		}
		rows = kept
	}
	return rows
}

// destroyRows is destroy for many entities, but when it creates, it makes only one.
func (d *world) destroyRows(r record) error {
	if !d.ebb && r.bits(28, 2) != 0 && len(d.m.alive) < d.most {
		return d.createOne(r)
	}
	return d.endRows(r)
}

// endRows destroys some rows of one archetype: rarely all or most of them.
func (d *world) endRows(r record) error {
	rows := d.someRows(r)
	if r.bits(20, 3) != 0 {
		rows = rows[:min(len(rows), 1+int(r.bits(23, 5)))]
	}
	for _, e := range rows {
		x := d.m.entities[e]
		switch {
		case x == nil: // it was destroyed as a member of another's group
		case x.group.set.has(cleanupEntityKind):
			if err := d.bury(e, x); err != nil {
				return err
			}
		default:
			if _, err := d.destroyOne(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *world) toggleRows(r record) error {
	for i, e := range d.someRows(r) {
		x := d.m.entities[e]
		for k, c := range d.list {
			t := c.toggles()
			if t == nil || !x.group.set.has(k) {
				continue
			}
			on := r.bits(16, 2) == 0 || r.bits(16, 2) == 1 && mix(uint64(i)+uint64(r.n))&1 == 0
			if err := d.toggleOne(e, x, k, t, on); err != nil {
				return err
			}
		}
	}
	return nil
}
