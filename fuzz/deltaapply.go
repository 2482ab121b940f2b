package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"quarry/ecs"
)

// Deltas, written and applied: to a fork of the older moment, or to the world itself, which goes
// back to the older moment first. What a delta writes is marked changed now:
//
//	rows that came, or have another place or archetype     all their types, and the order
//	values, elements and bits that differ                  the type
//	entries of the sparse type that differ                 the entry
//
// A delta that is cut or has a flipped bit is refused, and so is one that was applied already.

// applyDelta compares two of the snapshots, and applies what differs.
func (d *world) applyDelta(r record) error {
	if len(d.snapshotModels) < 2 && r.bits(0, 3) != 0 || len(d.snapshotModels) == 0 {
		return d.snapshot(r)
	}
	if err := d.tend(); err != nil {
		return err
	}
	i, j := int(r.who)%len(d.snapshotModels), int(r.who>>8)%len(d.snapshotModels)
	if i > j {
		if err := d.misuseDiff(d.snapshotModels[i], d.snapshotModels[j]); err != nil {
			return err
		}
		i, j = j, i
	}
	p := d.between(d.snapshotModels[i], d.snapshotModels[j])
	delta, err := d.diff(p)
	if delta == nil || err != nil {
		return err
	}
	var out bytes.Buffer
	if err := ecs.EncodeDelta(&out, delta); err != nil {
		return err
	}
	if r.kind&3 == 0 && d.chunkModels == nil && d.inLoop == 0 {
		return d.applyHere(p, out.Bytes(), r)
	}
	w, err := d.forkOf(p.older)
	if w == nil || err != nil {
		return err
	}
	return d.applyTo(w, p, out.Bytes(), r)
}

// misuseDiff compares two snapshots in the wrong order, and one with itself.
func (d *world) misuseDiff(newer, older *snapshotModel) error {
	if lost := errors.Join(older.s.Err(), newer.s.Err()); lost != nil {
		return nil
	}
	if _, err := ecs.Diff(newer.s, older.s); !errors.Is(err, ecs.ErrDelta) {
		return fmt.Errorf("in Diff in the wrong order: got %w want ErrDelta", err)
	}
	return nil
}

// applyHere takes the world back to the older moment and applies the delta.
func (d *world) applyHere(p *gap, delta []byte, r record) error {
	at, restored := slices.Index(d.snapshotModels, p.older), d.result.Restored
	if err := d.restore(record{who: uint16(at), n: r.n}); err != nil || d.result.Restored == restored {
		return err
	}
	if err := d.damage(p, delta, r); err != nil {
		return err
	}
	if done, err := d.proceed(p, delta); !done || err != nil {
		return err
	}
	d.arranged, d.unsorted = true, true
	return errors.Join(d.compareMany(), d.readSnapshotModel(p.older), d.readSnapshotModel(p.newer))
}

// applyTo applies a delta to a fork of the older moment, lets the fork live, and closes it.
func (d *world) applyTo(w *ecs.World, p *gap, delta []byte, r record) error {
	f, err := d.drive(w, p.older, false)
	if err == nil {
		err = f.applied(p, delta, r)
	}
	d.result.Refused += f.result.Refused
	d.result.Applied += f.result.Applied
	if err == nil {
		err = f.end()
	}
	if err != nil {
		return fmt.Errorf("a fork of the older moment: %w", err)
	}
	return nil
}

// applied applies a delta to this world, which is a fork of the older moment.
func (d *world) applied(p *gap, delta []byte, r record) error {
	if p.newer.m.set.known && !d.m.set.known {
		if len(p.newer.m.set.order) > 0 {
			if err := d.refuses(delta); err != nil {
				return fmt.Errorf("a type of the delta is not registered: %w", err)
			}
		}
		d.sparseLinks()
	}
	if err := errors.Join(d.advance(r), d.damage(p, delta, r)); err != nil {
		return err
	}
	if done, err := d.proceed(p, delta); !done || err != nil {
		return err
	}
	if d.chunkModels != nil {
		if err := d.takeChunkModels(p.newer, false); err != nil {
			return err
		}
	}
	if err := errors.Join(d.check(), d.compareAll()); err != nil {
		return err
	}
	if p.strict {
		if err := d.refuses(delta); err != nil {
			return fmt.Errorf("a delta that was applied already: %w", err)
		}
	}
	for range r.bits(4, 2) { // the ids that come next
		if err := errors.Join(d.createOne(r), d.check()); err != nil {
			return err
		}
	}
	return nil
}

// damage applies parts of a delta, and copies with a flipped bit.
func (d *world) damage(p *gap, delta []byte, r record) error {
	for i := range 2 {
		n := mix(uint64(r.n)+uint64(i)) % uint64(len(delta))
		if err := d.refuses(delta[:n]); err != nil {
			return fmt.Errorf("%d bytes of a delta of %d: %w", n, len(delta), err)
		}
		bad := bytes.Clone(delta)
		bad[n] ^= 1 << (r.n >> i & 7)
		if err := d.refuses(bad); err != nil {
			return fmt.Errorf("a delta of which byte %d of %d is flipped: %w", n, len(delta), err)
		}
	}
	return nil
}

// refuses applies a delta that must be refused, and checks that nothing has changed.
func (d *world) refuses(delta []byte) error {
	before, stats := d.w.Hash(), d.w.Stats()
	err := d.w.ApplyDelta(bytes.NewReader(delta))
	if !errors.Is(err, ecs.ErrDelta) {
		return fmt.Errorf("in ApplyDelta: got %w want ErrDelta", err)
	}
	if got, now := d.w.Hash(), d.w.Stats(); got != before || now != stats {
		return fmt.Errorf("a delta that was refused changed the world: hash %x, was %x; %+v, was %+v; it said: %w",
			got, before, now, stats, err)
	}
	return nil
}

// proceed applies a delta to the world, which is in the state of the older moment. It returns false
// if that was refused; then nothing has changed.
func (d *world) proceed(p *gap, delta []byte) (bool, error) {
	before := d.w.Hash()
	err := d.w.ApplyDelta(bytes.NewReader(delta))
	bad := d.w.Verify()
	switch {
	case bad != nil:
		return false, fmt.Errorf("after ApplyDelta, which said %w: %w", err, bad)
	case err == nil:
		if got := d.w.Hash(); got != p.newer.hash {
			return false, fmt.Errorf("the hash after a delta: got %x want %x", got, p.newer.hash)
		}
		d.m.proceed(p.newer, d)
		d.result.Applied++
		return true, nil
	case !errors.Is(err, ecs.ErrLimit) || !d.isFull(err):
		return false, fmt.Errorf("in ApplyDelta: %w", err)
	case d.w.Hash() != before:
		return false, fmt.Errorf("a delta for which there was no memory changed the world's hash; it said: %w", err)
	}
	d.result.Refused++
	return false, nil
}

// proceed puts the model, which is in the older state, into the state of a newer moment, which may
// be another world's of the same tag.
func (m *model) proceed(t *snapshotModel, d *world) {
	next := t.m.clone()
	next.groups, next.byForm, next.list, next.strays = m.groups, m.byForm, m.list, m.strays
	next.version, next.touched, next.reordered = m.version, m.touched, m.reordered
	next.set.known, next.set.opened, next.set.touched = m.set.known, m.set.opened, m.set.touched
	groups := map[*group]*group{}
	for _, g := range t.m.groups {
		if h := m.groupOf(g.form); h.a != nil || len(t.rows[g]) > 0 {
			groups[g] = h
		}
	}
	rows := map[*group][]ecs.Entity{}
	for g, h := range groups {
		rows[h] = slices.Clone(t.rows[g])
	}
	was := m.entities
	next.spilled = 0
	next.set.touch(was, next)
	for e, x := range next.entities {
		x.group = groups[x.group]
		next.follows(x, was[e])
	}
	*m = *next
	for _, h := range slices.Collect(maps.Values(groups)) {
		if len(rows[h]) > 0 {
			at, _ := d.w.Locate(rows[h][0])
			d.bind(h, at.Archetype)
		}
	}
	if len(d.snapshotModels) == 0 { // a fork, to which archetypes without rows may have come
		for _, g := range t.m.groups {
			if h := m.groupOf(g.form); h.a == nil && !g.set.has(cleanupEntityKind) {
				d.pin(h)
			}
		}
		m.strays = d.w.Stats().Archetypes - len(m.groups)
	}
	for _, h := range m.groups {
		if !slices.Equal(h.rows, rows[h]) {
			h.stirred, m.reordered = m.version, m.version
		}
		h.rows = rows[h]
	}
	m.trace = m.traceOf(t)
}

// follows gives an entity the versions and blocks that it has after a delta; older is its state
// before, or nil.
func (m *model) follows(x, older *entity) {
	had := kinds(0)
	if older != nil {
		had = older.group.set & x.group.set
	}
	x.spilled = 0
	for k, c := range m.list {
		b := c.buffer()
		if b == nil || !x.group.set.has(k) {
			continue
		}
		if had.has(k) && older.spilled.has(k) || b.length(x.values[k]) > b.inlined() {
			x.spilled |= 1 << k
			m.spilled++
		}
	}
	if older == nil || older.group != x.group || older.row != x.row {
		m.arrive(x)
		return
	}
	x.arrived, x.wrote = older.arrived, older.wrote
	for k, c := range m.list {
		switch {
		case !x.group.set.has(k):
		case x.off.has(k) != older.off.has(k) || !sameValue(c, older.values[k], x.values[k]):
			m.touch(x, k)
		case c.buffer() != nil || vague.has(k): // the same value may have other bytes
			m.touched[k] = m.version
		}
	}
}

// sameValue reports whether two values of a kind are the same; buffers without elements are.
func sameValue(c kind, a, b any) bool {
	if l := c.buffer(); l != nil && l.length(a) == 0 && l.length(b) == 0 {
		return true
	}
	return reflect.DeepEqual(a, b)
}

// touch gives entries that differ from those before the version of now.
func (s *set) touch(older map[ecs.Entity]*entity, m *model) {
	n := 0
	for _, x := range older {
		if x.entry != nil {
			n++
		}
	}
	if n != len(s.order) {
		s.touched = m.version
	}
	for _, e := range s.order {
		x, y := m.entities[e], older[e]
		if y == nil || y.entry == nil || y.entry.v != x.entry.v || y.entry.off != x.entry.off {
			m.mark(x)
			continue
		}
		x.entry.wrote = y.entry.wrote
	}
}
