package fuzz

import (
	"errors"
	"fmt"
	"slices"

	"quarry/ecs"
)

// Results of queries as numbers, entities and slices.

// matched returns the entities that a query matches, in order, from the model. If versions decide,
// it checks the query's own answer and returns that.
func (d *world) matched(q *query) ([]ecs.Entity, error) {
	var want []ecs.Entity
	got := q.q.Entities(nil)
	rest := got
	c := cursor{d: d, q: q, since: q.since}
	for w, ok := c.next(); ok; w, ok = c.next() {
		from := len(want)
		for i, e := range w.rows {
			if w.matches[i] {
				want = append(want, e)
			}
		}
		some := want[from:]
		if len(rest) >= len(some) && slices.Equal(rest[:len(some)], some) {
			if !c.mayPass(w) {
				return nil, fmt.Errorf("%v: Entities has those of %v, where nothing has changed since %d",
					q.q, w.g.a, q.since)
			}
			rest = rest[len(some):]
			continue
		}
		if err := c.skip(w); err != nil {
			return nil, fmt.Errorf("in Entities: %w", err)
		}
		want = want[:from]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%v: Entities has %d more, from %v on", q.q, len(rest), rest[0])
	}
	return got, nil
}

// compareCount compares the number of matching entities, if the model can predict it.
func (d *world) compareCount(q *query) error {
	if q.filters() {
		return nil
	}
	want := cursor{d: d, q: q}
	if got, n := q.q.Count(), want.count(); got != n {
		return fmt.Errorf("%v: Count: got %d want %d", q.q, got, n)
	}
	return nil
}

// collect compares every result of a query except loops over rows.
func (d *world) collect(r record) error {
	q := d.pickQuery(r)
	list, err := d.matched(q)
	if err != nil {
		return err
	}
	n := len(list)
	if got := q.q.Count(); got != n {
		return fmt.Errorf("%v: Count: got %d want %d", q.q, got, n)
	}
	if got := q.q.Empty(); got != (n == 0) {
		return fmt.Errorf("%v: Empty: got %v, %d match", q.q, got, n)
	}
	switch e, err := q.q.Single(); {
	case n == 1 && (err != nil || e != list[0]), n != 1 && (!errors.Is(err, ecs.ErrNotSingle) || e != ecs.Null):
		return fmt.Errorf("%v: Single: got %v, %w; %d match", q.q, e, err, n)
	}
	if got := q.q.Since(); got != q.since {
		return fmt.Errorf("%v: Since: got %d want %d", q.q, got, q.since)
	}
	return d.collectValues(q, list, r)
}

// collectValues compares Values, and writes them by SetValues.
func (d *world) collectValues(q *query, list []ecs.Entity, r record) error {
	for k, may := range q.access {
		c := d.list[k]
		lacks := slices.ContainsFunc(list, func(e ecs.Entity) bool { return d.m.entities[e].values[k] == nil })
		if may == 0 || !c.listed() {
			continue
		}
		want := func(i int) any { return d.m.entities[list[i]].values[k] }
		if lacks { // no term requires the kind
			if err := panics("ecs: ", func() { _ = c.values(q.q, want, len(list)) }); err != nil {
				return err
			}
			continue
		}
		if err := c.values(q.q, want, len(list)); err != nil {
			return err
		}
		if may != mayWrite || r.bits(1, 1) == 0 {
			continue
		}
		if err := c.setValues(q.q, want, len(list)+1); err == nil {
			return fmt.Errorf("%v: SetValues of %d values: got no error", q.q, len(list)+1)
		}
		fresh := func(i int) any { return c.value(mix(uint64(r.n)+uint64(i)), list[i]) }
		if err := c.setValues(q.q, fresh, len(list)); err != nil {
			return err
		}
		for i, e := range list {
			x := d.m.entities[e]
			x.values[k] = fresh(i)
			d.m.touch(x, k)
		}
		// With filters the result is open: the writes may make more chunks pass, or none pass,
		// because all matching chunks have passed once.
		if err := c.values(q.q, want, len(list)); err != nil && !q.filters() {
			return err
		}
	}
	return nil
}

func (c component[T]) values(q *ecs.Query, want func(i int) any, n int) error {
	got := c.h.Values(q, make([]T, 1))[1:]
	if len(got) != n {
		return fmt.Errorf("%v: Values of %v: got %d want %d", q, c.h, len(got), n)
	}
	for i, v := range got {
		if v != want(i).(T) {
			return fmt.Errorf("%v: Values of %v: %d is %v, want %v", q, c.h, i, v, want(i))
		}
	}
	return nil
}

func (c component[T]) setValues(q *ecs.Query, v func(i int) any, n int) error {
	src := make([]T, n)
	for i := range min(n, q.Count()) {
		src[i] = v(i).(T)
	}
	return c.h.SetValues(q, src)
}

func (c component[T]) absent(rows ecs.Rows) error {
	if c.h.In(rows) || c.h.Slice(rows) != nil || c.h.ReadOnly(rows) != nil || c.h.Changed(rows, 0) {
		return fmt.Errorf("%v: In, Slice, ReadOnly or Changed find what the chunk lacks", c.h)
	}
	return nil
}

func (b buffer[T]) values(*ecs.Query, func(i int) any, int) error    { return nil }
func (b buffer[T]) setValues(*ecs.Query, func(i int) any, int) error { return nil }

func (b buffer[T]) absent(rows ecs.Rows) error {
	if b.h.In(rows) || b.h.Changed(rows, 0) {
		return fmt.Errorf("%v: In or Changed find what the chunk lacks", b.h)
	}
	return panics("ecs: ", func() { b.h.At(rows, 0) })
}
