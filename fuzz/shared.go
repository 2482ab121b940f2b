package fuzz

import (
	"errors"
	"fmt"
	"slices"

	"quarry/ecs"
)

// sharedKind has the additional methods of kinds whose values entities share.
type sharedKind interface {
	of(v any) ecs.SharedValue
	norm(v any) any // comparable, and equal for values that are the same
	get(e ecs.Entity) any
	assign(e ecs.Entity, v any) (bool, error)
	// used compares the values in use with their expected counts, keyed by norm.
	used(want map[any]int) error
	where(list []any) ecs.Term
}

// shared is a kind with one T for all entities of a chunk.
type shared[T comparable] struct {
	h    ecs.Shared[T]
	from func(n uint64) T
}

// odd stands for values that are not == to themselves: they are the same if they print alike.
type odd string

func (s shared[T]) Type() ecs.Type                { return s.h }
func (s shared[T]) toggles() toggler              { return nil }
func (s shared[T]) buffer() bufferKind            { return nil }
func (s shared[T]) shared() sharedKind            { return s }
func (s shared[T]) listed() bool                  { return false }
func (s shared[T]) value(n uint64, _ target) any  { return s.from(n) }
func (s shared[T]) has(e ecs.Entity) bool         { return s.h.Has(e) }
func (s shared[T]) open(rows ecs.Rows)            { s.h.At(rows) }
func (s shared[T]) changed(ecs.Rows, uint32) bool { return false }
func (s shared[T]) of(v any) ecs.SharedValue      { return s.h.Of(v.(T)) }

func (s shared[T]) zero() any {
	var v T
	return v
}

func (s shared[T]) norm(v any) any {
	if x := v.(T); x != x {
		return odd(fmt.Sprint(v))
	}
	return v
}

func (s shared[T]) same(e ecs.Entity, want any) error {
	v, ok := s.h.Get(e)
	return s.equal(v, ok, want)
}

func (s shared[T]) get(e ecs.Entity) any {
	v, _ := s.h.Get(e)
	return v
}

func (s shared[T]) equal(v T, ok bool, want any) error {
	if ok != (want != nil) || ok && s.norm(v) != s.norm(want) {
		return fmt.Errorf("%v: got %v, %v want %v", s.h, v, ok, want)
	}
	return nil
}

func (s shared[T]) add(e ecs.Entity, v any) (bool, error) {
	return tried(func() bool { return s.h.Add(e, v.(T)) })
}

func (s shared[T]) remove(e ecs.Entity) (bool, error) {
	return tried(func() bool { return s.h.Remove(e) })
}

func (s shared[T]) assign(e ecs.Entity, v any) (bool, error) {
	return tried(func() bool { return s.h.Set(e, v.(T)) })
}

// set is only for entities of other worlds, see world.setShared.
func (s shared[T]) set(e ecs.Entity, v any, _ bool) bool { return s.h.Set(e, v.(T)) }

func (s shared[T]) compare(rows ecs.Rows, want func(i int) any) error {
	for i := range rows.Len() {
		v, ok := s.h.At(rows)
		if err := s.equal(v, ok, want(i)); err != nil {
			return fmt.Errorf("row %d, %v: %w", i, rows.Entities()[i], err)
		}
	}
	return nil
}

// fill writes nothing: values are not written in place.
func (s shared[T]) fill(ecs.Rows, func(i int) any) {}

func (s shared[T]) many(list []ecs.Entity, want, _ func(i int) any) error {
	return eachSame(s, list, want)
}

func (s shared[T]) values(*ecs.Query, func(i int) any, int) error    { return nil }
func (s shared[T]) setValues(*ecs.Query, func(i int) any, int) error { return nil }

func (s shared[T]) absent(rows ecs.Rows) error {
	v, ok := s.h.At(rows)
	return s.equal(v, ok, nil)
}

func (s shared[T]) used(want map[any]int) error {
	got := s.h.Values(nil)
	if len(got) != len(want) {
		return fmt.Errorf("%v: Values: got %v want those of %v", s.h, got, want)
	}
	for _, v := range got {
		if n := s.h.Len(v); n == 0 || n != want[s.norm(v)] {
			return fmt.Errorf("%v: Len(%v): got %d want %d", s.h, v, n, want[s.norm(v)])
		}
	}
	return nil
}

func (s shared[T]) where(list []any) ecs.Term {
	var of []ecs.SharedValue
	for _, v := range list {
		of = append(of, s.of(v))
	}
	return ecs.Where(of...)
}

// setShared gives an entity another value, which moves its row.
func (d *world) setShared(e ecs.Entity, x *entity, k int, v any) error {
	s := d.list[k].shared()
	if d.inLoop > 0 {
		return panics("ecs: ", func() { _, _ = s.assign(e, v) })
	}
	if x == nil || x.values[k] == nil {
		if set, err := s.assign(e, v); set || err != nil {
			return fmt.Errorf("set %v of %v, which has none: got %v, %w", d.list[k].Type(), e, set, err)
		}
		return d.compare(e, x)
	}
	f := x.group.form
	f.values[k-firstShared] = v
	if to := d.m.groupOf(f); to != x.group {
		return d.moveOne(e, x, to, func() (bool, error) { return s.assign(e, v) })
	}
	if set, err := s.assign(e, v); !set || err != nil {
		return fmt.Errorf("set %v of %v, which has the value: got %v, %w", d.list[k].Type(), e, set, err)
	}
	return d.compare(e, x)
}

// someValue returns a value of a shared kind, mostly one that a group has.
func (d *world) someValue(k int, n uint64) any {
	for range 3 * min(1, len(d.m.groups)) {
		n = mix(n)
		if v := d.m.groups[n>>8%uint64(len(d.m.groups))].form.values[k-firstShared]; v != nil && n&3 != 0 {
			return v
		}
	}
	return d.list[k].value(mix(n), ecs.Null)
}

// rowsOf runs a loop over the rows of a query that have a given value, and compares the set of
// values.
func (d *world) rowsOf(r record) error {
	k := firstShared + int(r.kind)%sharedKinds
	if k >= len(d.list) {
		return nil
	}
	s, v, q := d.list[k].shared(), d.someValue(k, uint64(r.n)), d.pickQuery(r)
	counts := map[any]int{}
	for _, g := range d.m.groups {
		if w := g.form.values[k-firstShared]; w != nil && len(g.rows) > 0 {
			counts[s.norm(w)] += len(g.rows)
		}
	}
	before := q.q.Since()
	d.inLoop++
	_, err := d.followOf(q, q.q.Where(s.of(v)), func(g *group) bool {
		w := g.form.values[k-firstShared]
		return w != nil && s.norm(w) == s.norm(v)
	}, func(rows ecs.Rows, w chunk) (bool, error) {
		return true, errors.Join(compareRows(rows, w), d.compareColumns(q, rows, w))
	})
	d.inLoop--
	if now := q.q.Since(); err == nil && now != before {
		return fmt.Errorf("%v: Since after RowsOf: got %d want %d", q.q, now, before)
	}
	return errors.Join(err, s.used(counts))
}

// hasValue reports whether a shared value is in a list.
func hasValue(s sharedKind, list []any, v any) bool {
	return slices.ContainsFunc(list, func(w any) bool { return s.norm(w) == s.norm(v) })
}
