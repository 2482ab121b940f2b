package fuzz

import (
	"errors"
	"fmt"
	"sync"

	"quarry/ecs"
)

// Lending: goroutines that read a world at the same time, and toggle components.

const readers = 3

// lend lends the world: first all goroutines read, then all toggle entities of their own.
func (d *world) lend(r record) error {
	if d.unsorted {
		d.sort() // so that goroutines find the groups in order
	}
	p := d.w.Lend()
	queries := []*query{d.all}
	for _, q := range d.queries {
		writes := q.sparseLinkAccess == mayWrite
		for _, may := range q.access {
			writes = writes || may == mayWrite
		}
		if !writes {
			queries = append(queries, q)
		} else if err := panics("ecs: ", func() {
			for range q.q.Rows() {
				panic("a query that writes gives rows")
			}
		}); err != nil {
			return err
		}
	}
	err := together(func(i int) error { return d.read(p, queries[(int(r.who)+i)%len(queries)], uint16(r.n)+uint16(i)) })
	if err != nil {
		return err
	}
	if err := d.misuseLent(p, r); err != nil {
		return err
	}
	k, t := d.pickToggle(r)
	on := func(i int) bool { return mix(uint64(r.n)+uint64(i))&1 == 0 }
	step := 1 + int(r.bits(20, 4))
	if t != nil {
		err = together(func(i int) error {
			for j := i * step; j < len(d.m.alive); j += readers * step {
				e := d.m.alive[j]
				call := t.Disable
				if on(j) {
					call = t.Enable
				}
				if has := d.m.entities[e].values[k] != nil; call(e) != has || t.Enabled(e) != (has && on(j)) {
					return fmt.Errorf("kind %d of %v, toggled (%v) while the world is lent: got %v, enabled %v",
						k, e, on(j), !has, t.Enabled(e))
				}
			}
			return nil
		})
	}
	p.End()
	for j := 0; t != nil && j < len(d.m.alive); j += step {
		x := d.m.entities[d.m.alive[j]]
		if x.values[k] == nil {
			continue
		}
		x.off &^= 1 << k
		if !on(j) {
			x.off |= 1 << k
		}
		d.m.touch(x, k)
	}
	return errors.Join(err, panics("ecs: ", p.End))
}

// together runs f in goroutines and waits for all of them.
func together(f func(i int) error) error {
	var wait sync.WaitGroup
	errs := make([]error, readers)
	for i := range errs {
		wait.Go(func() { errs[i] = guarded(func() error { return f(i) }) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// read compares a query and some look-ups; several goroutines do so at the same time.
func (d *world) read(p *ecs.Borrow, q *query, who uint16) error {
	_, err := d.follow(q, q.q.Rows(), func(rows ecs.Rows, w chunk) (bool, error) {
		return true, errors.Join(compareRows(rows, w), d.compareColumns(q, rows, w))
	})
	for i := range uint16(8) {
		e, x := d.pick(who + i<<4)
		err = errors.Join(err, d.compare(e, x))
	}
	return err
}

// misuseLent tries what a lent world refuses.
func (d *world) misuseLent(p *ecs.Borrow, r record) error {
	_, c := d.pickKind(r.kind)
	for _, f := range []func(){
		func() { d.w.Lend() },
		func() { d.w.Destroy(ecs.Null) },
		func() { d.w.DestroyQuery(d.all.q) },
		func() { d.w.Clear() },
		func() { d.w.Shrink(0) },
		func() { d.w.Snapshot() },
		d.tryRestore,
		func() { _, _ = c.add(ecs.Null, c.zero()) },
		func() { ecs.Register[stun](d.w, ecs.Enableable).EnableQuery(d.all.q) },
		func() {
			for range d.all.q.Rows() {
				p.End()
			}
			panic("ecs: there was no row")
		},
	} {
		if err := panics("ecs: ", f); err != nil {
			return fmt.Errorf("while the world is lent: %w", err)
		}
	}
	return nil
}
