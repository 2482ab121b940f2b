package delta

import (
	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// The content of a delta, part by part. Decoding only checks that counts and lengths lie within the
// input; deltaPlan checks the rest.

func (c *deltaCoder) delta(d *Delta) {
	tag := d.tag.Number()
	c.Half(&tag)
	d.tag = entity.TagOf(tag)
	c.types(d)
	for _, count := range [...]*[2]uint64{&d.Created, &d.Destroyed} {
		c.Word(&count[0])
		c.Word(&count[1])
	}
	c.difference(d.IDs)
	c.Number(&d.untouched)
	codec.List(&c.Coder, &d.Tables, func(t *deltaTable) { c.table(t, d.tag) })
	codec.List(&c.Coder, &d.Sparse, func(s *deltaSparse) {
		c.Number(&s.of)
		c.Number(&s.older)
		c.Number(&s.newer)
		c.runs(&s.ids)
		c.runs(&s.values)
		c.Bytes(&s.flips.runs)
	})
	c.Number(&d.namedCount[0])
	c.Number(&d.namedCount[1])
	codec.List(&c.Coder, &d.Names, func(n *deltaName) {
		c.Text(&n.text)
		world.CodeIDs(&c.Coder, &n.older, d.tag)
		world.CodeIDs(&c.Coder, &n.newer, d.tag)
	})
}

// types codes the types. Bytes that are those of the delta before are not decoded again.
func (c *deltaCoder) types(d *Delta) {
	if c.memory != nil && c.memory.knows(c.In) {
		d.types, c.In = c.memory.types, c.In[len(c.memory.coded):]
		return
	}
	before := c.In
	codec.List(&c.Coder, &d.types, func(t *world.Description) { t.Code(&c.Coder) })
	if c.memory != nil && !c.Bad {
		c.memory.note(before[:len(before)-len(c.In)], d.types)
	}
}

func (c *deltaCoder) table(t *deltaTable, tag entity.Tag) {
	if c.memory != nil {
		c.memory.table(t)
	}
	codec.List(&c.Coder, &t.types, c.Number)
	codec.List(&c.Coder, &t.values, c.Bytes)
	c.Number(&t.older)
	c.Number(&t.newer)
	c.Half(&t.idSum)
	c.Number(&t.skip)
	codec.List(&c.Coder, &t.rows, func(r *rowsFrom) {
		from := r.from + 1 // 0: new rows
		c.Number(&from)
		c.Number(&r.row)
		c.Number(&r.n)
		r.from = from - 1
	})
	world.CodeIDs(&c.Coder, &t.ids, tag)
	codec.List(&c.Coder, &t.columns, func(p *deltaColumn) {
		c.Number(&p.of)
		c.runs(&p.deltaRuns)
	})
	codec.List(&c.Coder, &t.flips, func(p *deltaBits) {
		c.Number(&p.of)
		c.Bytes(&p.runs)
	})
	codec.List(&c.Coder, &t.buffers, func(p *deltaBuffers) {
		c.Number(&p.of)
		c.Half(&p.sum)
		c.Bytes(&p.edits)
	})
	codec.List(&c.Coder, &t.chunks, func(p *deltaChunks) {
		c.Number(&p.of)
		codec.List(&c.Coder, &p.rows, c.Number)
		c.Bytes(&p.values)
	})
}

func (c *deltaCoder) difference(d *entity.Difference) {
	for _, s := range [...]*entity.State{&d.From, &d.To} {
		c.Number(&s.Blocks)
		c.Number(&s.Own)
		c.Number(&s.Records)
		c.Word(&s.Word)
		c.Half(&s.WordBase)
		c.Number(&s.Hint)
	}
	last := uint32(0)
	codec.List(&c.Coder, &d.Steps, func(s *entity.Step) {
		gap := s.First - last
		c.Half(&gap)
		c.Half(&s.N)
		c.Half(&s.Old)
		change := s.New - s.Old
		c.Half(&change)
		s.First, s.New = last+gap, s.Old+change
		last = s.First + s.N
	})
	codec.List(&c.Coder, &d.Reserved, func(p *entity.ReservedBlock) {
		c.Number(&p.Number)
		c.Number(&p.Old)
		c.Number(&p.New)
		codec.List(&c.Coder, &p.Used, func(w *entity.UsedBit) {
			c.Number(&w.At)
			c.Word(&w.Old)
			c.Word(&w.New)
		})
	})
}
