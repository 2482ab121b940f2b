package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Ids that are reserved before their entities exist.

const mostReserved = 600

// reserve reserves ids, creates reserved entities, or takes ids back.
func (d *world) reserve(r record) error {
	list := d.m.reserved
	switch what := r.kind % 8; {
	case d.inLoop > 0 || what < 4 && len(list) < mostReserved || len(list) == 0:
		return d.reserveNew(r)
	case what == 7:
		return d.misuseReserve(r)
	}
	n := 1 + int(r.who)%len(list)
	from := int(r.n) % (len(list) - n + 1)
	ids := slices.Clone(list[from : from+n])
	if r.bits(20, 1) != 0 {
		slices.Reverse(ids)
	}
	if r.kind%8 == 6 || len(d.m.alive)+n > d.most {
		d.w.Unreserve(ids)
		d.m.reserved = slices.Delete(list, from, from+n)
		return d.compare(ids[0], nil)
	}
	g := d.group(d.sets[r.bits(21, 3)], uint64(r.n))
	var batch ecs.Batch
	done, err := d.attempt(d.rowsNeed(g, n, false), func() (err error) {
		batch, err = g.a.CreateReserved(ids)
		return err
	})
	if !done {
		return err
	}
	d.m.reserved = slices.Delete(list, from, from+n)
	for _, e := range ids {
		d.m.begin(e, g).lent = true
		d.m.lent++
	}
	if got := batch.Entities(nil); !slices.Equal(got, ids) {
		return fmt.Errorf("CreateReserved: got a batch of %v want %v", got, ids)
	}
	return d.compareBatch(batch, n, uint64(r.n), kinds(r.n>>16))
}

// reserveNew reserves ids: none of them may be alive, reserved already, or used before.
func (d *world) reserveNew(r record) error {
	m := d.m
	n := 1 + int(r.who)%70
	if r.bits(24, 8) == 0 {
		n = 9000
	}
	room := m.lendable - m.lent - len(m.reserved)
	blocks := max(0, (n-room+recordBlock-1)/recordBlock)
	want := need{run: min(blocks, 1) * versionChunks, chunks: blocks * versionChunks, spares: true}
	ids := make([]ecs.Entity, n)
	done, err := d.attempt(want, func() error { return d.w.Reserve(ids) })
	if !done {
		return err
	}
	if m.lendable += blocks * recordBlock; len(m.lends) == 0 {
		m.lendable-- // index 0 belongs to no entity
	}
	for _, e := range ids {
		last, used := m.versions[e.Index()]
		if e.Index() == 0 || used && e.Version() != last+2 || !used && e.Version() != 1 {
			return fmt.Errorf("in Reserve: got %v; the last version of that index was %d (used: %v)", e, last, used)
		}
		if err := m.place(e, true); err != nil {
			return fmt.Errorf("in Reserve: %w", err)
		}
		m.versions[e.Index()] = e.Version()
		if d.w.Alive(e) {
			return fmt.Errorf("in Reserve: %v is alive", e)
		}
	}
	if n > mostReserved {
		d.w.Unreserve(ids)
		return nil
	}
	m.reserved = append(m.reserved, ids...)
	return nil
}

// misuseReserve passes ids that are not reserved, after some that are.
func (d *world) misuseReserve(r record) error {
	foreign, err := elsewhere()
	if err != nil {
		return err
	}
	some := d.m.reserved[:1+int(r.who)%len(d.m.reserved)]
	g := d.group(d.sets[r.bits(21, 3)], 0)
	bad := []ecs.Entity{ecs.Null, foreign, some[0]}
	if len(d.m.alive) > 0 {
		bad = append(bad, d.m.alive[0])
	}
	for _, e := range bad {
		ids := append(slices.Clone(some), e)
		for _, f := range []func(){
			func() { d.w.Unreserve(ids) },
			func() { _, _ = g.a.CreateReserved(ids) },
		} {
			if err := panics("ecs: ", f); err != nil {
				return err
			}
		}
	}
	return nil
}
