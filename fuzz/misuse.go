package fuzz

import (
	"fmt"
	"iter"

	"quarry/ecs"
)

// Broken contracts: each must panic with a text that names the package, and change nothing.

func (d *world) misuse(r record) error {
	switch r.kind % 8 { // two that also change the world
	case 0:
		return d.misuseBatch(r)
	case 1:
		return d.misuseBuffer(r)
	}
	pure := []func(record) error{d.misuseLoop, d.misuseEntity, d.misuseQuery, d.misuseForeign, d.misusePull,
		d.misuseDying}
	before := d.w.Hash()
	if err := pure[r.kind%8-2](r); err != nil {
		return err
	}
	if got := d.w.Hash(); got != before {
		return fmt.Errorf("broken contracts changed the world's hash")
	}
	return nil
}

// misuseLoop tries structural changes inside a loop, and uses rows after it.
func (d *world) misuseLoop(r record) error {
	var kept ecs.Rows
	seen := false
	for rows := range d.all.q.Rows() {
		kept, seen = rows, true
		e := rows.Entities()[int(r.who)%rows.Len()]
		_, c := d.pickKind(uint8(r.n))
		if c.shared() != nil {
			c = d.list[0]
		}
		for _, f := range []func(){
			func() { rows.Archetype().Create() },
			func() { _, _ = rows.Archetype().CreateN(0) },
			func() { d.w.Destroy(e) },
			func() { d.w.Destroy(ecs.Null) },
			func() { _, _ = c.add(e, c.zero()) },
			func() { _, _ = c.remove(e) },
			func() { _ = d.w.Close() },
			func() { d.w.Snapshot() },
			d.tryRestore,
			func() { c.open(rows) }, // a query without terms declares nothing
		} {
			if err := panics("ecs: ", f); err != nil {
				return err
			}
		}
		if r.n&1 == 0 {
			break
		}
	}
	if !seen {
		return nil
	}
	for _, f := range []func(){
		func() { kept.Entities() },
		func() { kept.Dense() },
		func() { kept.Mask() },
		func() { d.list[0].open(kept) },
		func() { ecs.Rows{}.Entities() },
	} {
		if err := panics("ecs: ", f); err != nil {
			return err
		}
	}
	return nil
}

// misusePull leaves loops in the wrong order, and by a panic: the world must be locked exactly as
// long as one of them is open.
func (d *world) misusePull(record) error {
	locked := func() error { return panics("ecs: ", func() { d.w.Destroy(ecs.Null) }) }
	first, stopFirst := iter.Pull(d.all.q.Rows())
	second, stopSecond := iter.Pull(d.all.q.Rows())
	defer stopFirst()
	defer stopSecond()
	_, some := first()
	if rows, ok := second(); ok != some {
		return fmt.Errorf("two loops: got rows %v and %v", some, ok)
	} else if some {
		if err := locked(); err != nil {
			return err
		}
		stopFirst()
		if err := locked(); err != nil {
			return err
		}
		rows.Entities() // the second loop is not disturbed
	}
	stopSecond()
	d.w.Destroy(ecs.Null)
	if some {
		if err := panics("left", func() {
			for range d.all.q.Rows() {
				panic("left")
			}
		}); err != nil {
			return err
		}
		d.w.Destroy(ecs.Null)
	}
	return nil
}

// misuseEntity adds to dead entities and toggles kinds that cannot be toggled.
func (d *world) misuseEntity(r record) error {
	k, c := d.pickKind(uint8(r.n))
	for _, f := range []func(){
		func() { _, _ = c.add(ecs.Null, c.zero()) },
		func() { ecs.Register[point](d.w).Disable(ecs.Null) },
		func() { ecs.NewArchetype(d.w, c.Type(), c.Type()) },
		func() { ecs.NewArchetype(d.w, nil) },
		func() { ecs.NewArchetype(d.w, ecs.Component[int64]{}) },
		func() { ecs.NewQuery(d.w, ecs.Read(c.Type()), ecs.Without(c.Type())) },
		func() { ecs.Register[*int](d.w) },
		func() { ecs.Register[flag](d.w, ecs.Enableable) },
		func() { ecs.RegisterBuffer[wide](d.w, ecs.Inline(3)) },
	} {
		if err := panics("ecs: ", f); err != nil {
			return fmt.Errorf("kind %d: %w", k, err)
		}
	}
	return nil
}

// misuseQuery opens columns that a query does not declare.
func (d *world) misuseQuery(r record) error {
	if len(d.queries) == 0 {
		return nil
	}
	q := d.queries[int(r.who)%len(d.queries)]
	ended := true
	for rows := range q.q.Rows() {
		for k := range d.list {
			if q.access[k] != 0 || d.list[k].shared() != nil { // its value is there for all
				continue
			}
			if err := panics("ecs: ", func() { d.list[k].open(rows) }); err != nil {
				return fmt.Errorf("%v, %v: %w", q.q, d.list[k].Type(), err)
			}
		}
		ended = false
		break
	}
	d.ran(q, ended)
	return nil
}

// misuseBatch uses a batch after another change.
func (d *world) misuseBatch(r record) error {
	if len(d.m.alive)+3 > d.most {
		return nil
	}
	g := d.group(d.sets[r.who%8], 0)
	var batch ecs.Batch
	done, err := d.attempt(d.rowsNeed(g, 2, true), func() (err error) {
		batch, err = g.a.CreateN(2)
		return err
	})
	if !done {
		return err
	}
	if err := d.fillBatch(batch, g, 0, 0, 0); err != nil {
		return err
	}
	if done, err := d.destroyOne(g.rows[len(g.rows)-1]); !done {
		return err
	}
	for _, f := range []func(){
		func() {
			for range batch.Rows() {
				panic("a batch that is not current gives rows")
			}
		},
		func() { _, _ = g.a.CreateN(-1) },
		func() { _, _ = g.a.CreateN(1, ecs.Uninitialized(ecs.RegisterBuffer[hit](d.w))) },
		func() { _, _ = g.a.CreateN(1, ecs.Uninitialized(ecs.Register[int32](d.w))) },
	} {
		if err := panics("ecs: ", f); err != nil {
			return err
		}
	}
	return nil
}

// misuseBuffer keeps views of a buffer too long, and writes through a view that was opened for
// reading.
func (d *world) misuseBuffer(r record) error {
	e, x, k, b := d.pickBuffer(r)
	if b == nil || len(d.m.alive) < 2 {
		return nil
	}
	other := d.m.alive[0]
	if other == e {
		other = d.m.alive[1]
	}
	if d.m.entities[other].group.set&(cleanupKinds|1<<linkedKind) != 0 {
		return nil // other may stay, and the members of its group may go
	}
	d.m.touch(x, k)
	return b.misuse(e, func() error {
		_, err := d.destroyOne(other)
		return err
	})
}

// misuseForeign hands in an entity of another world.
func (d *world) misuseForeign(r record) error {
	foreign, err := elsewhere()
	if err != nil {
		return err
	}
	k, c := d.pickKind(uint8(r.n))
	for _, f := range []func(){
		func() { d.w.Destroy(foreign) },
		func() { c.has(foreign) },
		func() { _, _ = c.add(foreign, c.zero()) },
		func() { _, _ = c.remove(foreign) },
		func() { c.set(foreign, c.zero(), r.n&1 == 0) },
		func() { ecs.Register[stun](d.w, ecs.Enableable).Enabled(foreign) },
		func() { ecs.Register[stun](d.w, ecs.Enableable).Disable(foreign) },
	} {
		if err := panics("ecs: ", f); err != nil {
			return fmt.Errorf("kind %d: %w", k, err)
		}
	}
	return nil
}
