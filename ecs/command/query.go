package command

import (
	"slices"

	"quarry/ecs"
)

// A command about a query ends a run. It is made when the run has been played, for the entities
// that match then.

// applyQuery applies the command about a query that ends a run, if there is one.
func (p *player) applyQuery(r *run) error {
	if r.query == nil {
		return nil
	}
	one, c := &p.ops[r.op], p.codecs[r.op]
	q := one.query
	switch one.kind {
	case destroy:
		return p.destroy(q)
	case enable:
		one.t.(toggled).EnableQuery(q)
		return nil
	case disable:
		one.t.(toggled).DisableQuery(q)
		return nil
	}
	if !one.valued || one.shared && one.kind != set {
		_, err := one.change.ApplyQuery(q)
		return err
	}
	if one.sparse {
		return p.applySparse(one, c, r.query)
	}
	filled := false
	if one.kind == add { // exactly the entities that lack it move
		batch, err := one.change.ApplyQuery(q)
		if err != nil {
			return err
		}
		p.work.list = batch.Entities(p.work.list[:0])
		if filled = c.fills() && !c.counted(); filled {
			for rows := range batch.Rows() {
				c.fill(one.kind, rows, p.repeated(r.query, rows.Len()), &p.work.unfit)
			}
		}
	} else if err := p.reach(one, q); err != nil || one.shared {
		return err
	}
	list := p.work.list
	p.peak.list = max(p.peak.list, len(list))
	if !filled {
		values := p.repeated(r.query, len(list))
		for at := 0; at < len(list); {
			done, err := c.spread(one.kind, list[at:], values.from(at))
			if at += done; err != nil {
				p.failLate(r.query, one, list[at], err)
				at++
			}
		}
	}
	if r.query.flags&hasPlaceholders != 0 {
		for _, e := range list {
			c.patch(e, p.work.made)
		}
	}
	return nil
}

// reach finds the entities that a Put, Set or Append by a query is about. It adds the type where a
// Put needs it, and sets a shared value.
func (p *player) reach(one *op, q *ecs.Query) error {
	p.work.list = q.Entities(p.work.list[:0])
	if one.kind != put {
		p.work.list = slices.DeleteFunc(p.work.list, func(e ecs.Entity) bool {
			place, _ := p.w.Locate(e)
			return !place.Archetype.Has(one.t)
		})
	}
	if one.change == nil {
		return nil
	}
	_, err := one.change.ApplyList(p.work.list)
	return err
}

// destroy destroys the entities that match a query, and the members of their groups. The error is a
// *ecs.LimitError.
func (p *player) destroy(q *ecs.Query) (err error) {
	defer func() {
		if r := recover(); r != nil {
			limit, ok := r.(*ecs.LimitError)
			if !ok {
				panic(r)
			}
			err = limit
		}
	}()
	p.w.DestroyQuery(q)
	return nil
}

// applySparse makes a command with a value about the entities that match a query.
func (p *player) applySparse(one *op, c codec, r *commandRecord) error {
	has := one.t.(interface{ Has(ecs.Entity) bool })
	list := slices.DeleteFunc(one.query.Entities(p.work.list[:0]), func(e ecs.Entity) bool {
		if one.kind != put && has.Has(e) == (one.kind == add) {
			return true
		}
		place, _ := p.w.Locate(e)
		return place.Archetype.Has(p.cleanupEntity) // it was destroyed, and gets nothing that ends with it
	})
	p.work.list, p.peak.list = list, max(p.peak.list, len(list))
	if one.change != nil { // makes room, and gives zero values to those that have none
		if _, err := one.change.ApplyList(list); err != nil {
			return err
		}
	}
	_, err := c.spread(put, list, p.repeated(r, len(list)))
	return err
}

// repeated returns the value of a record n times.
func (p *player) repeated(r *commandRecord, n int) source {
	values := p.work.values[:0]
	for range n {
		values = append(values, r.valueAt(p.base))
	}
	p.work.values = values
	return source{p.base, values, p.work.made}
}
