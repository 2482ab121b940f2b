package ecs

import "quarry/ecs/internal/entity"

// The content of a delta, part by part. What is read is checked by deltaPlan, but that counts and
// lengths are within the input.

func (c *deltaCoder) delta(d *Delta) {
	tag := d.tag.Number()
	c.half(&tag)
	d.tag = entity.TagOf(tag)
	codeList(c, &d.types, func(t *deltaType) {
		kind := uint32(t.kind)
		c.text(&t.name)
		c.half(&kind)
		c.word(&t.layout)
		c.number(&t.nth)
		t.kind = Kind(min(kind, 255))
	})
	for _, count := range [...]*[2]uint64{&d.created, &d.destroyed} {
		c.word(&count[0])
		c.word(&count[1])
	}
	c.difference(d.ids)
	c.number(&d.untouched)
	codeList(c, &d.tables, func(t *deltaTable) { c.table(t, d.tag) })
	codeList(c, &d.sparse, func(s *deltaSparse) {
		c.number(&s.of)
		c.number(&s.was)
		c.number(&s.is)
		c.runs(&s.ids)
		c.runs(&s.values)
		c.bytes(&s.flips.runs)
	})
	c.number(&d.namedCount[0])
	c.number(&d.namedCount[1])
	codeList(c, &d.names, func(n *deltaName) {
		c.text(&n.text)
		c.ids(&n.was, d.tag)
		c.ids(&n.is, d.tag)
	})
}

func (c *deltaCoder) table(t *deltaTable, tag entity.Tag) {
	codeList(c, &t.types, c.number)
	codeList(c, &t.values, c.bytes)
	c.number(&t.was)
	c.number(&t.is)
	c.half(&t.idSum)
	c.number(&t.skip)
	codeList(c, &t.rows, func(r *deltaRun) {
		from := r.from + 1 // 0: new rows
		c.number(&from)
		c.number(&r.row)
		c.number(&r.n)
		r.from = from - 1
	})
	c.ids(&t.ids, tag)
	codeList(c, &t.columns, func(p *deltaColumn) {
		c.number(&p.of)
		c.runs(&p.deltaRuns)
	})
	codeList(c, &t.flips, func(p *deltaBits) {
		c.number(&p.of)
		c.bytes(&p.runs)
	})
	codeList(c, &t.buffers, func(p *deltaBuffers) {
		c.number(&p.of)
		c.half(&p.sum)
		c.bytes(&p.edits)
	})
	codeList(c, &t.chunks, func(p *deltaChunks) {
		c.number(&p.of)
		codeList(c, &p.rows, c.number)
		c.bytes(&p.values)
	})
}

func (c *deltaCoder) difference(d *entity.Difference) {
	for _, s := range [...]*entity.State{&d.From, &d.To} {
		c.number(&s.Blocks)
		c.number(&s.Own)
		c.number(&s.Records)
		c.word(&s.Lease)
		c.half(&s.LeaseBase)
		c.number(&s.Hint)
	}
	last := uint32(0)
	codeList(c, &d.Steps, func(s *entity.Step) {
		gap := s.First - last
		c.half(&gap)
		c.half(&s.N)
		c.half(&s.Old)
		change := s.New - s.Old
		c.half(&change)
		s.First, s.New = last+gap, s.Old+change
		last = s.First + s.N
	})
	codeList(c, &d.Promised, func(p *entity.PromisedBlock) {
		c.number(&p.Number)
		c.number(&p.Old)
		c.number(&p.New)
		codeList(c, &p.Used, func(w *entity.UsedBit) {
			c.number(&w.At)
			c.word(&w.Old)
			c.word(&w.New)
		})
	})
}
